// Looks again and again where the store's logs end, and takes in what is new: what other processes write is in the answers of this one
// within a second.
import type { Store, StoreHeads } from '@strata/store';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.ts';
import { sleep } from '../sleep.ts';

export interface FollowDeps {
  readonly store: Pick<Store, 'heads'>;
  readonly logger: Logger;
  /** Hears of what differs from the last look, and before the first of everything; then comes a beat. */
  readonly onNews?: (differing: ReadonlySet<keyof StoreHeads>, heads: StoreHeads) => void;
  /**
   * Takes in everything that was committed before. Never rejects. It is called again while it runs: calls that come while one runs
   * share the next one.
   */
  readonly beat: () => Promise<void>;
  /** In place of real waits. */
  readonly sleep?: typeof sleep;
}

/** One statement each time. With a beat and the time that an aggregate may be stale it makes less than a second. */
const LOOK_MS = 250;
/** There is a beat at least this often: days end on which nothing is scanned, and what failed is tried again. */
const BEAT_MS = 1_000;

/** Until `signal` aborts. News do not wait for a beat that takes long. */
export async function followStore(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { store, logger, onNews, beat, sleep: pause = sleep } = deps;
  const trouble = new FailureLog(logger, { what: 'looking for what other processes wrote' });
  let before: StoreHeads | undefined;
  let beatAt = Number.NEGATIVE_INFINITY;
  let beating = Promise.resolve();
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      const heads = await store.heads();
      trouble.recovered();
      const differing = differenceOf(heads, before);
      before = heads;
      if (differing.size > 0) onNews?.(differing, heads);
      if (differing.size > 0 || startedAt - beatAt >= BEAT_MS) {
        beatAt = startedAt;
        beating = beat();
      }
    } catch (error) {
      trouble.failed(error);
      await pause(BEAT_MS, signal);
    }
    await pause(Math.max(0, startedAt + LOOK_MS - performance.now()), signal);
  }
  await beating;
}

function differenceOf(heads: StoreHeads, before: StoreHeads | undefined): ReadonlySet<keyof StoreHeads> {
  const names = Object.keys(heads) as (keyof StoreHeads)[];
  return new Set(names.filter((name) => heads[name] !== before?.[name]));
}
