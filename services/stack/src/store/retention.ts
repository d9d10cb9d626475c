// Deletes history older than the configured retention: every hour, in batches with pauses for other work.

import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { HistoryTable, Store } from './index.ts';
import { PlausibleClock } from './plausible-clock.ts';

/** Retention of each table in milliseconds; undefined: unlimited. */
export type Retention = Readonly<Record<HistoryTable | 'stream', number | undefined>> & {
  /** Domains added by requests, since their last request. */
  readonly onDemand: number | undefined;
  readonly feedItems: number | undefined;
};

export interface RetentionDeps {
  readonly store: Pick<Store, 'retention' | 'stream' | 'feeds'>;
  readonly retention: Retention;
  readonly logger: Logger;
  /** The clock of publication. */
  readonly now: () => Date;
  /** The clock of the history. */
  readonly clock: () => Date;
}

const EVERY_MS = 3_600_000;
/** Maximum rows, and domains with their services and evidence, per batch. */
const MAX_ROWS = 500;
const MAX_DOMAINS = 50;
const MAX_ITEMS = 200;
/** Target duration: a batch blocks requests on SQLite, and other writers on PostgreSQL. The cost of a row depends on its table. */
const MAX_BATCH_MS = 20;
/** Minimum batch as a fraction of the maximum: with a remote server the duration hardly depends on the size. */
const MIN_SHARE = 0.2;
/** Pause between batches, so that deletion takes at most a fifth of the time. */
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
const PAUSE_PER_BATCH = 4;
/** Changes before scans: a scan is kept while a change refers to it. */
const ORDER = ['events', 'changes', 'scans', 'alerts', 'anomalies'] as const satisfies readonly HistoryTable[];

/** Runs until `signal` aborts. */
export async function dropOldHistory(deps: RetentionDeps, signal: AbortSignal): Promise<void> {
  const { store, logger, clock } = deps;
  const plausible = new PlausibleClock(store.retention);
  while (!signal.aborted) {
    const failures: unknown[] = [];
    const attempt: Attempt = (step) => step().catch((error: unknown) => void failures.push(error));
    const times = { at: clock(), publishedAt: deps.now() };
    await attempt(() => store.feeds.finishLeaving());
    await attempt(async () => {
      const accepted = await plausible.refusedBy(times.at);
      if (accepted)
        logger.warn(
          { clock: times.at, accepted },
          'no history is deleted: the clock is more than a day past the last time',
        );
      else await dropOnce(deps, times, { attempt, signal });
    });
    await attempt(() => store.retention.recordSizes(times.at));
    if (failures.length > 0 && !signal.aborted)
      logger.error({ err: failures[0], failures: failures.length }, 'old history could not be dropped');
    await sleep(EVERY_MS, signal);
  }
}

/** Runs a step of a pass. A table that cannot be pruned does not keep the other tables from it. */
type Attempt = (step: () => Promise<void>) => Promise<void>;

/** The size of the next batch and the pause before it, from the duration of the last batch including waits. */
export function nextBatch(tookMs: number, { limit, maxLimit }: { readonly limit: number; readonly maxLimit: number }) {
  const fitting = Math.round(tookMs > MAX_BATCH_MS ? limit / 2 : limit * 1.25);
  return {
    limit: Math.min(Math.max(fitting, Math.ceil(maxLimit * MIN_SHARE)), maxLimit),
    pauseMs: Math.min(Math.max(tookMs * PAUSE_PER_BATCH, MIN_PAUSE_MS), MAX_PAUSE_MS),
  };
}

/** The times are fixed for a pass: a clock change does not affect it. */
async function dropOnce(
  { store, retention }: RetentionDeps,
  { at, publishedAt }: { readonly at: Date; readonly publishedAt: Date },
  { attempt, signal }: { readonly attempt: Attempt; readonly signal: AbortSignal },
): Promise<void> {
  const drop = (
    keepMs: number | undefined,
    maxLimit: number,
    batch: (keptMs: number, limit: number) => Promise<boolean>,
  ) =>
    attempt(async () => {
      if (keepMs === undefined) return;
      for (let limit = maxLimit; !signal.aborted; ) {
        const startedAt = performance.now();
        if (!(await batch(keepMs, limit))) return;
        const next = nextBatch(performance.now() - startedAt, { limit, maxLimit });
        limit = next.limit;
        await sleep(next.pauseMs, signal);
      }
    });
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
