// Transactions that write. They take turns (postgres-dialect.ts), and one that lost against others is run again.
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../../schema.ts';
import { LOCK_WRITERS } from '../dialects/postgres-dialect.ts';
import { type Results, together } from '../statements/together.ts';
import { isLostToOthers } from '../store-error.ts';
import { type Guard, unguarded } from './term.ts';

/** A turn that does not come takes 15 s to be given up: more tries would keep a request waiting longer than clients wait. */
const MAX_TRIES = 3;
const SHORTEST_WAIT_MS = 20;

/**
 * Runs `work` in a transaction when it is its turn. Where the server took it back in favour of others (serialisation failure,
 * deadlock, a lock that did not come), all of it is run again, three times at most: `work` must begin anew each time, and gather
 * nothing outside of itself. Rejects with what the last try failed with.
 */
export function writeTransaction<T>(db: Kysely<Database>, work: (tx: Transaction<Database>) => Promise<T>): Promise<T> {
  return withRetries(() => db.transaction().execute(work));
}

/**
 * The same of queries that need no answer of one another: on PostgreSQL one round trip, in which only the server holds the lock of the
 * writers; with a guard there is one more before it.
 */
export function writeTogether<const Queries extends readonly CompiledQuery[]>(
  db: Kysely<Database>,
  queries: Queries,
  guard: Guard = unguarded,
): Promise<Results<Queries>> {
  return writeTransaction(db, async (tx) => {
    await guard(tx);
    return together(tx, queries, { isLast: true });
  });
}

/** PostgreSQL: the same, where the server takes the lock when `first`, however large it is, has arrived. */
export async function sendThenWrite<const Queries extends readonly CompiledQuery[]>(
  db: Kysely<Database>,
  first: readonly CompiledQuery[],
  queries: Queries,
): Promise<Results<Queries>> {
  const own = db.transaction().setIsolationLevel('read committed');
  const before = [...first, CompiledQuery.raw(LOCK_WRITERS)];
  const results = await withRetries(() => own.execute((tx) => together(tx, [...before, ...queries], { isLast: true })));
  return results.slice(before.length) as Results<Queries>;
}

/** The same for a statement that stands alone and takes no turn. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === MAX_TRIES || !isLostToOthers(error)) throw error;
      // At random, so that two that met do not meet again.
      await delay(SHORTEST_WAIT_MS * 2 ** tries * Math.random());
    }
  }
}
