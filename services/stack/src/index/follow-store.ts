// Polls the positions of the store's logs and schedules updates: changes by other processes are visible in this one within a
// second.

import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';
import { sleep } from '../sleep.ts';
import type { Store, StoreHeads } from '../store/index.ts';

export interface FollowDeps {
  readonly store: Pick<Store, 'heads'>;
  readonly logger: Logger;
  /** Called with the logs that changed since the last poll, at first with all of them; an update follows. */
  readonly onChange?: (differing: ReadonlySet<keyof StoreHeads>, heads: StoreHeads) => void;
  /**
   * Processes everything that was committed before the call. Never rejects. May be called while it runs: such calls share the next
   * run.
   */
  readonly update: () => Promise<void>;
  /** Replaces the delay in tests. */
  readonly sleep?: typeof sleep;
}

/** One statement per poll. Together with an update and the permitted age of aggregates the delay is below a second. */
const POLL_INTERVAL_MS = 250;
/** Maximum interval between updates: days end without scans, and failures are retried. */
const MAX_UPDATE_INTERVAL_MS = 1_000;

/** Runs until `signal` aborts. Notifications do not wait for a slow update. */
export async function followStore(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { store, logger, onChange, update, sleep: pause = sleep } = deps;
  const failures = new FailureLog(logger, { what: 'reading the positions of the logs' });
  let before: StoreHeads | undefined;
  let updatedAt = Number.NEGATIVE_INFINITY;
  let updating = Promise.resolve();
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      const heads = await store.heads();
      failures.recovered();
      const differing = differenceOf(heads, before);
      before = heads;
      if (differing.size > 0) onChange?.(differing, heads);
      if (differing.size > 0 || startedAt - updatedAt >= MAX_UPDATE_INTERVAL_MS) {
        updatedAt = startedAt;
        updating = update();
      }
    } catch (error) {
      failures.failed(error);
      await pause(MAX_UPDATE_INTERVAL_MS, signal);
    }
    await pause(Math.max(0, startedAt + POLL_INTERVAL_MS - performance.now()), signal);
  }
  await updating;
}

function differenceOf(heads: StoreHeads, before: StoreHeads | undefined): ReadonlySet<keyof StoreHeads> {
  const names = Object.keys(heads) as (keyof StoreHeads)[];
  return new Set(names.filter((name) => heads[name] !== before?.[name]));
}
