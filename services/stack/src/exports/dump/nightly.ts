// Dumps at the beginning of each UTC day, by one process of a store; after a failure, or for a new folder, as soon as possible.
import type { Logger } from 'pino';
import { sleep } from '../../sleep.ts';
import type { Store } from '../../store/index.ts';
import { type DumpDeps, dump, type Manifest, manifestName } from './dump.ts';
import type { DumpAddress } from './dump-url.ts';
import { openTarget } from './open-target.ts';

export interface DumpingDeps extends Pick<DumpDeps, 'tables' | 'scratch' | 'now'> {
  readonly address: DumpAddress;
  readonly store: Pick<Store, 'dumpLock'>;
}

const CHECK_MS = 600_000;

/** The new dump of today; `kept` if it exists and is not replaced, `locked` while another process dumps. */
export async function dumpToday(
  { address, store, ...deps }: DumpingDeps,
  { isReplaced, signal }: { readonly isReplaced: boolean; readonly signal: AbortSignal },
): Promise<Manifest | 'kept' | 'locked'> {
  const date = deps.now().toISOString().slice(0, 10);
  await using hold = await store.dumpLock.tryTake();
  if (!hold) return 'locked';
  using target = await openTarget(address);
  if (!isReplaced && (await target.read(manifestName(date))) !== undefined) return 'kept';
  return await dump(date, { ...deps, target, signal: AbortSignal.any([signal, hold.lost]) });
}

/** Runs until the signal aborts. Failures are logged, and the dump is tried again. */
export async function dumpNightly(deps: DumpingDeps & { readonly logger: Logger }, signal: AbortSignal): Promise<void> {
  let last = '';
  while (!signal.aborted) {
    const date = deps.now().toISOString().slice(0, 10);
    try {
      const outcome = date === last ? 'kept' : await dumpToday(deps, { isReplaced: false, signal });
      if (outcome !== 'locked') last = date;
      if (typeof outcome === 'object') deps.logger.info({ date, tables: rowsOf(outcome) }, 'dump written');
    } catch (error) {
      if (!signal.aborted) deps.logger.error({ err: error }, 'the dump failed: it is tried again');
    }
    await sleep(CHECK_MS, signal);
  }
}

export const rowsOf = ({ tables }: Manifest): Record<string, number> =>
  Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]));
