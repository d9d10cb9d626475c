// Drops what is older than the settings say: every hour, in batches between which others have their turn.
import type { HistoryTable, Store } from '@strata/store';
import type { Logger } from 'pino';
import { sleep } from './sleep.ts';

/** How long each table keeps its rows, in milliseconds; undefined: for ever. */
export type Retention = Readonly<Record<HistoryTable | 'stream', number | undefined>> & {
  /** Domains that requests have added, from when one was last asked for. */
  readonly onDemand: number | undefined;
};

export interface RetentionParts {
  readonly store: Pick<Store, 'retention' | 'stream'>;
  readonly retention: Retention;
  readonly logger: Logger;
  /** Of publication. */
  readonly now: () => Date;
  /** That history goes by. */
  readonly clock: () => Date;
}

const EVERY_MS = 3_600_000;
/** A few milliseconds each; writers wait for no more than one. */
const BATCH = 500;
const PAUSE_MS = 20;
/** Each with its services and its evidence. */
const DOMAINS_AT_ONCE = 50;
/** Changes before scans: a scan stays as long as a change names it. */
const ORDER = ['events', 'changes', 'scans', 'alerts', 'anomalies'] as const satisfies readonly HistoryTable[];

/** Until `signal` aborts. */
export async function dropOldHistory(parts: RetentionParts, signal: AbortSignal): Promise<void> {
  const { store, logger, clock } = parts;
  while (!signal.aborted) {
    try {
      await dropOnce(parts, signal);
      await store.retention.recordSizes(clock());
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'old history could not be dropped');
    }
    await sleep(EVERY_MS, signal);
  }
}

async function dropOnce({ store, retention, now, clock }: RetentionParts, signal: AbortSignal): Promise<void> {
  const drop = async (keepMs: number | undefined, batch: (keptMs: number) => Promise<boolean>) => {
    while (keepMs !== undefined && !signal.aborted && (await batch(keepMs))) await sleep(PAUSE_MS, signal);
  };
  for (const table of ORDER) {
    await drop(retention[table], (keptMs) =>
      store.retention.prune(table, { before: new Date(clock().getTime() - keptMs), limit: BATCH }),
    );
  }
  await drop(retention.onDemand, (keptMs) => {
    const before = new Date(clock().getTime() - keptMs);
    return store.retention.forgetDomains({ before, limit: DOMAINS_AT_ONCE, now: clock() });
  });
  await drop(
    retention.stream,
    async (keptMs) => (await store.stream.prune((now().getTime() - keptMs) * 1_000, BATCH)) > 0,
  );
}
