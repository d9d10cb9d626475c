// Dumps at the beginning of each UTC day, by one process of a store, or for a new folder as soon as possible; after a failure once more.
import type { Logger } from 'pino';
import { sleep } from '../../sleep.ts';
import type { Store } from '../../store/index.ts';
import { type DumpDeps, dump, type Manifest, manifestName } from './dump.ts';
import { noteDump } from './dump-times.ts';
import type { DumpAddress } from './dump-url.ts';
import { openTarget } from './open-target.ts';

export interface DumpingDeps extends Pick<DumpDeps, 'tables' | 'scratch' | 'now'> {
  readonly address: DumpAddress;
  readonly store: Pick<Store, 'dumpLock' | 'texts'>;
}

const CHECK_MS = 600_000;
/** A dump reads the complete store: what fails twice waits for the next day. */
const RETRY_MS = 3_600_000;

/** The new dump of today; `kept` if it exists and is not replaced, `locked` while another process dumps. */
export async function dumpToday(
  { address, store, ...deps }: DumpingDeps,
  { isReplaced, signal }: { readonly isReplaced: boolean; readonly signal: AbortSignal },
): Promise<Manifest | 'kept' | 'locked'> {
  const date = deps.now().toISOString().slice(0, 10);
  await using hold = await store.dumpLock.tryTake();
  if (!hold) return 'locked';
  const ending = AbortSignal.any([signal, hold.lost]);
  using target = await openTarget(address, ending);
  if (!isReplaced && (await target.read(manifestName(date))) !== undefined) return 'kept';
  const written = await dump(date, { ...deps, target, signal: ending });
  await noteDump(store.texts, 'written', deps.now());
  return written;
}

export interface NightlyDeps extends DumpingDeps {
  readonly logger: Logger;
  /** Replaces the delay in tests. */
  readonly wait?: typeof sleep;
}

/** Runs until the signal aborts. A failure is logged and noted in the store, and the dump is tried once more that day. */
export async function dumpNightly(deps: NightlyDeps, signal: AbortSignal): Promise<void> {
  const { logger, store, wait = sleep } = deps;
  /** The dates of the last dump, and of the last failure. */
  let [last, failed] = ['', ''];
  while (!signal.aborted) {
    const date = deps.now().toISOString().slice(0, 10);
    try {
      const outcome = date === last ? 'kept' : await dumpToday(deps, { isReplaced: false, signal });
      if (outcome !== 'locked') last = date;
      if (typeof outcome === 'object') logger.info({ date, tables: rowsOf(outcome) }, 'dump written');
    } catch (error) {
      if (signal.aborted) return;
      const isFirst = failed !== date;
      logger.error({ err: error }, `the dump failed: the next attempt is ${isFirst ? 'in an hour' : 'tomorrow'}`);
      // The store itself may have failed.
      await noteDump(store.texts, 'failed', deps.now()).catch(() => {});
      failed = date;
      if (!isFirst) last = date;
      await wait(RETRY_MS, signal);
      continue;
    }
    await wait(CHECK_MS, signal);
  }
}

export const rowsOf = ({ tables }: Manifest): Record<string, number> =>
  Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]));
