// Terms of the process that holds a lock of a store. Writes of a process whose term has ended are refused.
import type { Transaction } from 'kysely';
import { counterOf } from '../counters.ts';
import { StoreError } from '../store-error.ts';
import type { CommonTables } from '../tables.ts';

/** Runs first in a write transaction, and rejects if the process must not write. */
export type Guard = (tx: Transaction<CommonTables>) => Promise<void>;

export const unguarded: Guard = async () => {};

/**
 * Accepts writes until another process has begun a later term; then rejects with StoreError `superseded`. A term begins
 * under the writer lock, so every write is either before it or refused.
 */
export function guardOf(counter: string, term: () => number): Guard {
  return async (tx) => {
    if ((await counterOf(tx, counter)) !== term()) throw new StoreError('superseded');
  };
}
