// The index over all domains in a running service: opened from its snapshot or built from the store, then following the logs.
import { DAY_MS, type DomainIndex, dayOf, FLOW_DAYS, IndexBuilder, type Touched } from '@strata/analytics';
import type { FeedReader, Store, StoredEvent } from '@strata/store';
import type { Logger } from 'pino';
import { type SeenService, servicesShown } from '../enrichment/exposure/product-uses.ts';
import { loadIndex, saveIndex } from './index-file.ts';

export interface LiveIndexDeps {
  readonly store: Store;
  readonly file: string;
  readonly logger: Logger;
  /** Hears of each event after it is in the index, in order; what it touched, and builds that no domain showed before. */
  readonly onEvent: (event: StoredEvent, taken: TakenEvent) => void;
  /** Hears of scans after they are counted, in order. */
  readonly onScans: (scans: readonly CountedScan[]) => void;
  /** Hears that the index was built anew, since events or scans that it had not read are deleted: anything may differ. */
  readonly onRebuilt: () => void;
}

/** Milliseconds since the epoch. */
export interface CountedScan {
  readonly domain: string;
  readonly at: number;
}

/** What taking in an event came to. */
export interface TakenEvent {
  /** Tags of the answers that it makes stale. */
  readonly tags: readonly string[];
  readonly providers: readonly string[];
  readonly newBuilds: Touched['newBuilds'];
  /** What the domain showed until then; empty for the first scan of it. */
  readonly shownBefore: readonly SeenService[];
}

/** Events and scans read at once. */
const EVENTS_AT_ONCE = 1_000;
const SCANS_AT_ONCE = 5_000;
/** A snapshot is saved after so many events, besides at the end: a start then reads no more than these. */
const SAVE_AFTER_EVENTS = 50_000;

export class LiveIndex implements AsyncDisposable {
  readonly #deps: LiveIndexDeps;
  readonly #storeId: string;
  readonly index: DomainIndex;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #unsaved = 0;
  #saving: Promise<void> | undefined;

  private constructor(deps: LiveIndexDeps, storeId: string, index: DomainIndex) {
    this.#deps = deps;
    this.#storeId = storeId;
    this.index = index;
  }

  /** Opens the index and brings it up to date with the store. */
  static async open(deps: LiveIndexDeps): Promise<LiveIndex> {
    const { store, file, logger } = deps;
    const storeId = await store.feed.storeId();
    const startedAt = performance.now();
    const loaded = await loadIndex(file, storeId).catch((error: unknown) => ({ why: String(error), index: undefined }));
    const isUsable = loaded.index !== undefined && (await store.feed.reaches(loaded.index.position));
    const index = isUsable && loaded.index ? loaded.index : await build(store);
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
   * Takes in what the store has told since. Resolves when everything committed before the call is in the index; calls
   * meanwhile share one more round.
   */
  async catchUp(): Promise<void> {
    if (this.#running) {
      this.#isWanted = true;
      return this.#running;
    }
    this.#running = this.#follow().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #follow(): Promise<void> {
    do {
      this.#isWanted = false;
      while (await this.#takeEvents());
      while (await this.#takeScans());
    } while (this.#isWanted);
    if (this.#unsaved >= SAVE_AFTER_EVENTS) this.#saving ??= this.save().finally(() => (this.#saving = undefined));
  }

  /** Returns whether there may be more. */
  async #takeEvents(): Promise<boolean> {
    const { index } = this;
    const events = await this.#deps.store.eventsSince(index.position.seq, EVENTS_AT_ONCE);
    if (events.length > 0 && (await this.#isRebuilt())) return true;
    for (const event of events) {
      const taken = apply(index, event);
      index.position = { ...index.position, seq: event.seq };
      this.#deps.onEvent(event, taken);
    }
    this.#unsaved += events.length;
    return events.length === EVENTS_AT_ONCE;
  }

  async #takeScans(): Promise<boolean> {
    const { index } = this;
    const scans = await this.#deps.store.feed.scansSince(index.position.scanId, SCANS_AT_ONCE);
    if (scans.length > 0 && (await this.#isRebuilt())) return true;
    for (const { id, domainId, at, state, rulebook } of scans) {
      // A scan that resolved nothing did not look at the domain.
      const measured = state === 'unmeasured' ? 0 : 1;
      if (measured) index.touch(domainId, at);
      index.history.addScans(dayOf(at), { scans: 1, measured, rulebook });
      index.position = { ...index.position, scanId: id };
    }
    const { names } = index;
    if (scans.length > 0) this.#deps.onScans(scans.map(({ domainId, at }) => ({ domain: names.name(domainId), at })));
    return scans.length === SCANS_AT_ONCE;
  }

  /** Builds the index anew where rows that follow its position are deleted, as when this process was stopped for longer than they are kept. */
  async #isRebuilt(): Promise<boolean> {
    const { store, logger, onRebuilt } = this.#deps;
    if (await store.feed.reaches(this.index.position)) return false;
    logger.warn({ position: this.index.position }, 'events that follow the index are deleted: it is built anew');
    this.index.replaceWith(await build(store));
    this.#unsaved = SAVE_AFTER_EVENTS;
    onRebuilt();
    return true;
  }

  /** A failure is logged, no more: the index can always be built again. */
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
    await this.#running?.catch(() => {});
    await this.#saving;
    if (this.#unsaved > 0) await this.save();
  }
}

async function build(store: Store): Promise<DomainIndex> {
  const builder = new IndexBuilder();
  const reader: FeedReader = {
    domains: (batch) => {
      for (const domain of batch) builder.put(domain);
    },
    changeDays: (batch) => {
      for (const day of batch) builder.addChanges(day);
    },
    migrations: (batch) => {
      for (const migration of batch) builder.addMigration(migration);
    },
    scanDays: (days) => {
      for (const { day, ...scans } of days) builder.addScans(day, scans);
    },
  };
  const position = await store.feed.readAll(reader, { migrationDays: FLOW_DAYS });
  return builder.build(position);
}

function apply(index: DomainIndex, event: StoredEvent): TakenEvent {
  switch (event.kind) {
    case 'domain-changed': {
      const { payload } = event;
      const shownBefore = payload.isFirst ? [] : servicesShown(index, payload.domainId);
      const touched = index.put({ ...payload, id: payload.domainId, name: event.domain });
      const { providers, categories, newBuilds } = touched;
      const stale = [...tags.domains, ...providers.map(tags.provider), ...categories.map(tags.category)];
      return { tags: stale, providers, newBuilds, shownBefore };
    }
    case 'domain-removed': {
      const shownBefore = servicesShown(index, event.payload.domainId);
      const { providers = [], categories = [] } = index.remove(event.payload.domainId) ?? {};
      const stale = [...tags.domains, ...providers.map(tags.provider), ...categories.map(tags.category)];
      return { tags: stale, providers, newBuilds: [], shownBefore };
    }
    case 'change-confirmed': {
      const { from, to } = event.payload;
      index.history.add(event.payload);
      return touching([...tags.changes, ...[from, to].filter((provider) => provider !== null).map(tags.provider)]);
    }
    case 'posture-regressed':
    case 'advisory-touched':
    case 'domain-exposed':
      return touching(tags.alerts);
    case 'anomaly-found':
      return touching([...tags.anomalies, ...tags.alerts]);
    default:
      return event satisfies never;
  }
}

const touching = (stale: readonly string[]): TakenEvent => ({
  tags: stale,
  providers: [],
  newBuilds: [],
  shownBefore: [],
});

/**
 * An aggregate is computed anew no sooner than this. With the quarter of a second after which a follower looks, and the time that it
 * takes to answer, what any process has committed is in every answer within a second.
 */
export const MAX_STALE_MS = 600;

/** What an answer rests on, told to the answers in memory. */
export const tags = {
  /** Any domain: its services, its posture, or that it is there. */
  domains: ['domains'],
  /** Confirmed changes. */
  changes: ['changes'],
  scans: ['scans'],
  alerts: ['alerts'],
  anomalies: ['anomalies'],
  /** Whether anything is known of advisories at all. */
  enrichment: ['enrichment'],
  /** Any advisory of a known product. */
  advisories: ['advisories'],
  /** Those of one product. */
  advisoriesOf: (product: string) => `advisories:${product}`,
  /** Events of the public stream. */
  stream: ['stream'],
  /** What feeds name: of any domain; of any, where every one may differ; and of one. */
  mentions: ['mentions'],
  mentionsOfAny: ['mentions-of-any'],
  mentionsOf: (domain: string) => `mentions:${domain}`,
  /** Polls of feeds. */
  polls: ['polls'],
  /** A domain that uses the provider, or did until now. */
  provider: (provider: string) => `provider:${provider}`,
  category: (category: string) => `category:${category}`,
} as const;

/** A day number as a date. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
