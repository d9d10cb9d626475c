// Waiting for locks of a store to change hands.

import type { TermHold, TermLock } from '@strata/db';
import { until } from '../until.ts';

const options = { limitMs: 120_000, intervalMs: 20 };

/** Retries until it has the lock. A term begins in a writing transaction, which a stopped process may block for 30 s. */
export async function taken(lock: TermLock): Promise<TermHold> {
  let hold: TermHold | undefined;
  await until(async () => {
    hold = await lock.tryTake().catch(() => undefined);
    return hold !== undefined;
  }, options);
  return hold as TermHold;
}

export const untilLost = ({ lost }: TermHold): Promise<void> => until(() => lost.aborted, options);
