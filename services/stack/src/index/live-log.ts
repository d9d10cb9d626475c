// Follows the logs of the store without an index: what an event changes is taken from the event.
import type { IndexPosition } from '@strata/analytics';
import type { EventBus } from '../events.ts';
import { SharedRun } from '../shared-run.ts';
import type { Store, StoredEvent } from '../store/index.ts';
import { effectsOf, type TouchedNames } from './live-index.ts';

export interface LiveLogDeps {
  readonly store: Pick<Store, 'events' | 'feed' | 'inspection' | 'lists'>;
  readonly events: EventBus;
}

const EVENTS_AT_ONCE = 1_000;
const SCANS_AT_ONCE = 2_000;

export class LiveLog {
  readonly #deps: LiveLogDeps;
  readonly #runs = new SharedRun(() => this.#run());
  #position: IndexPosition;

  private constructor(deps: LiveLogDeps, position: IndexPosition) {
    this.#deps = deps;
    this.#position = position;
  }

  /** Begins with the present. */
  static async open(deps: LiveLogDeps): Promise<LiveLog> {
    return new LiveLog(deps, await endOf(deps));
  }

  get position(): IndexPosition {
    return this.#position;
  }

  /** Applies everything that was committed before the call; calls during a run share one more run. */
  catchUp(): Promise<void> {
    return this.#runs.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runs.ended();
  }

  async #run(): Promise<void> {
    if (!(await this.#deps.store.feed.reaches(this.#position))) {
      this.#position = await endOf(this.#deps);
      this.#deps.events.publish('index-rebuilt');
    }
    while (await this.#applyEvents());
    while (await this.#applyScans());
  }

  /** Returns whether there may be more. */
  async #applyEvents(): Promise<boolean> {
    const { store, events: bus } = this.#deps;
    const events = await store.events.since(this.#position.seq, EVENTS_AT_ONCE);
    for (const event of events) {
      this.#position = { ...this.#position, seq: event.seq };
      bus.publish('event-indexed', { event, effects: effectsOf(event, touchedBy(event)) });
    }
    // The event does not have the services of the domain.
    if (events.some(({ kind }) => kind === 'domain-removed')) bus.publish('index-rebuilt');
    return events.length === EVENTS_AT_ONCE;
  }

  async #applyScans(): Promise<boolean> {
    const { store, events: bus } = this.#deps;
    const scans = await store.feed.scansSince(this.#position.scanId, SCANS_AT_ONCE);
    const last = scans.at(-1);
    if (!last) return false;
    const names = await store.lists.namesOf(scans.map(({ domainId }) => domainId));
    this.#position = { ...this.#position, scanId: last.id };
    bus.publish(
      'scans-indexed',
      scans.map(({ domainId, at }) => ({ domain: names.get(domainId) ?? '', at })),
    );
    return scans.length === SCANS_AT_ONCE;
  }
}

async function endOf({ store }: LiveLogDeps): Promise<IndexPosition> {
  const { events, scans } = await store.inspection.heads();
  return { seq: events, scanId: scans };
}

/** A service that a domain no longer has is that of a confirmed change. */
function touchedBy({ kind, payload }: StoredEvent): TouchedNames {
  if (kind === 'change-confirmed') {
    const providers = [payload.from, payload.to].filter((provider) => provider !== null);
    return { providers, categories: [payload.category] };
  }
  if (kind !== 'domain-changed') return { providers: [], categories: [] };
  return {
    providers: [...new Set(payload.services.map(([, provider]) => provider))],
    categories: [...new Set(payload.services.map(([category]) => category))],
  };
}
