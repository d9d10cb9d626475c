// Terms of the scheduler and of the gateway: one process at a time. Writes of a process whose term has ended are refused.
import type { Transaction } from 'kysely';
import type { Database } from '../../schema.ts';
import { type CounterName, counterOf } from '../counters.ts';
import { StoreError } from '../store-error.ts';

/** Runs first in a write transaction, and rejects if the process must not write. */
export type Guard = (tx: Transaction<Database>) => Promise<void>;

export const unguarded: Guard = async () => {};

/**
 * Accepts writes until another process has begun a later term; then rejects with StoreError `superseded`. A term begins
 * under the writer lock, so every write is either before it or refused.
 */
export function guardOf(counter: CounterName, term: () => number): Guard {
  return async (tx) => {
    if ((await counterOf(tx, counter)) !== term()) throw new StoreError('superseded');
  };
}
