// Drops what is older than the settings say: every hour, in batches between which others have their turn.
import type { HistoryTable, Store } from '@strata/store';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import { PlausibleClock } from './plausible-clock.ts';

/** How long each table keeps its rows, in milliseconds; undefined: for ever. */
export type Retention = Readonly<Record<HistoryTable | 'stream', number | undefined>> & {
  /** Domains that requests have added, from when one was last asked for. */
  readonly onDemand: number | undefined;
  /** Items of feeds. */
  readonly feedItems: number | undefined;
};

export interface RetentionDeps {
  readonly store: Pick<Store, 'retention' | 'stream' | 'feeds'>;
  readonly retention: Retention;
  readonly logger: Logger;
  /** Of publication. */
  readonly now: () => Date;
  /** That history goes by. */
  readonly clock: () => Date;
}

const EVERY_MS = 3_600_000;
/** Rows, and domains with their services and evidence, in one batch at most. */
const MAX_ROWS = 500;
const MAX_DOMAINS = 50;
const MAX_ITEMS = 200;
/** On SQLite no request is served during a batch, and on PostgreSQL no other process writes. What a row costs depends on its table. */
const MAX_BATCH_MS = 20;
/** The smallest batch, as a share of the largest: far from the server a batch takes as long whatever its size. */
const MIN_SHARE = 0.2;
/** Between two batches. Deleting takes a fifth of the time at most. */
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
const PAUSE_PER_BATCH = 4;
/** Changes before scans: a scan stays as long as a change names it. */
const ORDER = ['events', 'changes', 'scans', 'alerts', 'anomalies'] as const satisfies readonly HistoryTable[];

/** Until `signal` aborts. */
export async function dropOldHistory(deps: RetentionDeps, signal: AbortSignal): Promise<void> {
  const { store, logger, clock } = deps;
  const plausible = new PlausibleClock(store.retention);
  while (!signal.aborted) {
    try {
      await store.feeds.finishLeaving();
      const times = { at: clock(), publishedAt: deps.now() };
      const accepted = await plausible.refusedBy(times.at);
      if (accepted)
        logger.warn(
          { clock: times.at, accepted },
          'no history is deleted: the clock is more than a day past the last time',
        );
      else await dropOnce(deps, times, signal);
      await store.retention.recordSizes(times.at);
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'old history could not be dropped');
    }
    await sleep(EVERY_MS, signal);
  }
}

/** The size of the next batch and the pause before it, by how long the last batch took, waiting included. */
export function paceAfter(tookMs: number, { limit, maxLimit }: { readonly limit: number; readonly maxLimit: number }) {
  const fitting = Math.round(tookMs > MAX_BATCH_MS ? limit / 2 : limit * 1.25);
  return {
    limit: Math.min(Math.max(fitting, Math.ceil(maxLimit * MIN_SHARE)), maxLimit),
    pauseMs: Math.min(Math.max(tookMs * PAUSE_PER_BATCH, MIN_PAUSE_MS), MAX_PAUSE_MS),
  };
}

/** The times are read once: a clock that is set during a pass does not change what the pass deletes. */
async function dropOnce(
  { store, retention }: RetentionDeps,
  { at, publishedAt }: { readonly at: Date; readonly publishedAt: Date },
  signal: AbortSignal,
): Promise<void> {
  const drop = async (
    keepMs: number | undefined,
    maxLimit: number,
    batch: (keptMs: number, limit: number) => Promise<boolean>,
  ) => {
    if (keepMs === undefined) return;
    for (let limit = maxLimit; !signal.aborted; ) {
      const startedAt = performance.now();
      if (!(await batch(keepMs, limit))) return;
      const pace = paceAfter(performance.now() - startedAt, { limit, maxLimit });
      limit = pace.limit;
      await sleep(pace.pauseMs, signal);
    }
  };
  for (const table of ORDER) {
    await drop(retention[table], MAX_ROWS, (keptMs, limit) =>
      store.retention.prune(table, { before: new Date(at.getTime() - keptMs), limit }),
    );
  }
  await drop(retention.onDemand, MAX_DOMAINS, (keptMs, limit) => {
    const before = new Date(at.getTime() - keptMs);
    return store.retention.forgetDomains({ before, limit, now: at });
  });
  await drop(retention.feedItems, MAX_ITEMS, async (keptMs, limit) => {
    return (await store.feeds.forget(new Date(at.getTime() - keptMs), limit)) > 0;
  });
  await drop(
    retention.stream,
    MAX_ROWS,
    async (keptMs, limit) => (await store.stream.prune((publishedAt.getTime() - keptMs) * 1_000, limit)) > 0,
  );
}
