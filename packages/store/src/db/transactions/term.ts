// Who is the scheduler, or the gateway: one process at a time, for a term. What a process still writes when its term is over is refused.
import type { Transaction } from 'kysely';
import type { Database } from '../../schema.ts';
import { type CounterName, counterOf } from '../counters.ts';
import { StoreError } from '../store-error.ts';

/** Runs first in a writing transaction, and rejects where nothing may be written. */
export type Guard = (tx: Transaction<Database>) => Promise<void>;

export const unguarded: Guard = async () => {};

/**
 * Lets this term write, until another process has a later one: then it rejects with StoreError `superseded`. Writers take turns, and
 * a term begins in a turn of its own: so a write is before that, or is refused.
 */
export function guardOf(counter: CounterName, term: () => number): Guard {
  return async (tx) => {
    if ((await counterOf(tx, counter)) !== term()) throw new StoreError('superseded');
  };
}
