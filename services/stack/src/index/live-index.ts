// The index over all domains in a running service: loaded from its snapshot or built from the store, then updated from the logs.
import { DAY_MS, type DomainIndex, dayOf, FLOW_DAYS, IndexBuilder } from '@strata/analytics';
import type { RoleOf, Rulebook } from '@strata/detect';
import type { Logger } from 'pino';
import type { EventBus, EventEffects } from '../events.ts';
import { SharedRun } from '../shared-run.ts';
import type { FeedReader, Store, StoredEvent } from '../store/index.ts';
import { loadIndex, saveIndex } from './index-file.ts';

export interface LiveIndexDeps {
  readonly store: Store;
  readonly file: string;
  readonly logger: Logger;
  readonly events: EventBus;
  readonly rulebook: Pick<Rulebook, 'roleOf'>;
}

/** Events and scans per read. */
const EVENTS_AT_ONCE = 1_000;
const SCANS_AT_ONCE = 5_000;
/** A snapshot is saved after this many events and at the end: limits the events that a start reads. */
const SAVE_AFTER_EVENTS = 50_000;

export class LiveIndex implements AsyncDisposable {
  readonly #deps: LiveIndexDeps;
  readonly #storeId: string;
  readonly index: DomainIndex;
  readonly #runs = new SharedRun(() => this.#run());
  #unsaved = 0;
  #saving: Promise<void> | undefined;

  private constructor(deps: LiveIndexDeps, storeId: string, index: DomainIndex) {
    this.#deps = deps;
    this.#storeId = storeId;
    this.index = index;
  }

  /** Opens the index and brings it up to date with the store. */
  static async open(deps: LiveIndexDeps): Promise<LiveIndex> {
    const { store, file, logger, rulebook } = deps;
    const storeId = await store.feed.storeId();
    const startedAt = performance.now();
    const loaded = await loadIndex(file, storeId, rulebook.roleOf).catch((error: unknown) => ({
      why: String(error),
      index: undefined,
    }));
    const isUsable = loaded.index !== undefined && (await store.feed.reaches(loaded.index.position));
    const index = isUsable && loaded.index ? loaded.index : await build(store, rulebook.roleOf);
    const live = new LiveIndex(deps, storeId, index);
    if (!isUsable) live.#unsaved = SAVE_AFTER_EVENTS;
    await live.catchUp();
    logger.info(
      {
        domains: index.size,
        ms: Math.round(performance.now() - startedAt),
        from: isUsable ? 'snapshot' : 'store',
        ...(isUsable ? {} : { snapshot: 'why' in loaded ? loaded.why : 'the event log no longer reaches back to it' }),
      },
      'index ready',
    );
    return live;
  }

  /**
   * Applies new events and scans. Resolves when everything committed before the call is in the index; calls during a run share one
   * more run.
   */
  catchUp(): Promise<void> {
    return this.#runs.start();
  }

  async #run(): Promise<void> {
    while (await this.#applyEvents());
    while (await this.#applyScans());
    if (this.#unsaved >= SAVE_AFTER_EVENTS) this.#saving ??= this.save().finally(() => (this.#saving = undefined));
  }

  /** Returns whether there may be more. */
  async #applyEvents(): Promise<boolean> {
    const { index } = this;
    const events = await this.#deps.store.events.since(index.position.seq, EVENTS_AT_ONCE);
    if (events.length > 0 && (await this.#isRebuilt())) return true;
    for (const event of events) {
      const effects = effectsOf(event, apply(index, event));
      index.position = { ...index.position, seq: event.seq };
      this.#deps.events.publish('event-indexed', { event, effects });
    }
    this.#unsaved += events.length;
    return events.length === EVENTS_AT_ONCE;
  }

  async #applyScans(): Promise<boolean> {
    const { index } = this;
    const scans = await this.#deps.store.feed.scansSince(index.position.scanId, SCANS_AT_ONCE);
    if (scans.length > 0 && (await this.#isRebuilt())) return true;
    for (const { id, domainId, at, state, rulebook } of scans) {
      // An unmeasured scan did not observe the domain.
      const measured = state === 'unmeasured' ? 0 : 1;
      if (measured) index.touch(domainId, { scannedAt: at });
      index.history.scans.add(dayOf(at), { scans: 1, measured, rulebook });
      index.position = { ...index.position, scanId: id };
    }
    const { names } = index;
    const counted = scans.map(({ domainId, at }) => ({ domain: names.name(domainId), at }));
    if (counted.length > 0) this.#deps.events.publish('scans-indexed', counted);
    return scans.length === SCANS_AT_ONCE;
  }

  /** Rebuilds the index if rows after its position were deleted, for example if this process was stopped for longer than the retention. */
  async #isRebuilt(): Promise<boolean> {
    const { store, logger, events, rulebook } = this.#deps;
    if (await store.feed.reaches(this.index.position)) return false;
    logger.warn(
      { position: this.index.position },
      'events after the position of the index were deleted: rebuilding it',
    );
    this.index.replaceWith(await build(store, rulebook.roleOf));
    this.#unsaved = SAVE_AFTER_EVENTS;
    events.publish('index-rebuilt');
    return true;
  }

  /** Failures are only logged: the index can be rebuilt. */
  async save(): Promise<void> {
    const { file, logger } = this.#deps;
    try {
      this.#unsaved = 0;
      await saveIndex(file, this.index, this.#storeId);
    } catch (error) {
      logger.error({ err: error }, 'the index could not be saved');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runs.ended();
    await this.#saving;
    if (this.#unsaved > 0) await this.save();
  }
}

async function build(store: Store, roleOf: RoleOf): Promise<DomainIndex> {
  const builder = new IndexBuilder(roleOf);
  const { history } = builder;
  const reader: FeedReader = {
    domains: (batch) => {
      for (const domain of batch) builder.put(domain);
    },
    changeDays: (batch) => {
      for (const day of batch) history.addDay(day);
    },
    migrations: (batch) => {
      for (const migration of batch) history.migrationLog.add(migration);
    },
    scanDays: (days) => {
      for (const { day, ...scans } of days) history.scans.add(day, scans);
    },
  };
  const position = await store.feed.readAll(reader, { migrationDays: FLOW_DAYS });
  return builder.build(position);
}

/** The providers and categories of the domain before and after an event that sets or removes it. */
function apply(index: DomainIndex, { kind, domain, payload }: StoredEvent) {
  switch (kind) {
    case 'domain-changed':
      return index.put({ ...payload, id: payload.domainId, name: domain });
    case 'domain-removed':
      return index.remove(payload.domainId) ?? NOTHING;
    case 'change-confirmed':
      index.history.add(payload);
      // A change of the rulebook is not one of the domain.
      if (payload.type !== 'reclassified') index.touch(payload.domainId, { changedAt: payload.confirmedAt });
      return NOTHING;
    default:
      return NOTHING;
  }
}

const NOTHING = { providers: [], categories: [] };

export interface TouchedNames {
  readonly providers: readonly string[];
  readonly categories: readonly string[];
}

/** `touched`: of the services of the domain, before and after an event that sets or removes it. */
export function effectsOf(event: StoredEvent, { providers, categories }: TouchedNames): EventEffects {
  const ofServices = [...providers.map(tags.provider), ...categories.map(tags.category)];
  switch (event.kind) {
    case 'domain-changed':
    case 'domain-removed':
      return { tags: [...tags.domains, ...ofServices], providers };
    case 'change-confirmed': {
      const { from, to } = event.payload;
      const ends = [from, to].filter((provider) => provider !== null);
      return { tags: [...tags.changes, ...ends.map(tags.provider), ...ofServices], providers };
    }
    case 'posture-regressed':
    case 'advisory-touched':
    case 'domain-exposed':
      return { tags: [...tags.alerts], providers };
    case 'anomaly-found':
      return { tags: [...tags.anomalies, ...tags.alerts], providers };
    default:
      return event satisfies never;
  }
}

/**
 * Minimum age before an aggregate is recomputed. Together with the poll interval of a quarter of a second and the time for an answer,
 * every commit of any process is visible within a second.
 */
export const MAX_STALE_MS = 600;

/** Cache tags: the data that an answer depends on. */
export const tags = {
  /** Any domain: its services, its posture, or its existence. */
  domains: ['domains'],
  /** The scans of one domain. */
  domain: (domain: string) => `domain:${domain}`,
  /** Confirmed changes. */
  changes: ['changes'],
  scans: ['scans'],
  alerts: ['alerts'],
  anomalies: ['anomalies'],
  /** Whether the status of advisories is known. */
  enrichment: ['enrichment'],
  /** Any advisory of a known product. */
  advisories: ['advisories'],
  /** Advisories of one product. */
  advisoriesOf: (product: string) => `advisories:${product}`,
  /** Events of the public stream. */
  stream: ['stream'],
  /** Mentions: of any domain; of any domain after a recount; of one domain. */
  mentions: ['mentions'],
  mentionsOfAny: ['mentions-of-any'],
  mentionsOf: (domain: string) => `mentions:${domain}`,
  /** Polls of feeds. */
  polls: ['polls'],
  /** A domain that uses the provider, or used it until the change. */
  provider: (provider: string) => `provider:${provider}`,
  category: (category: string) => `category:${category}`,
} as const;

/** The ISO date of a day number. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
