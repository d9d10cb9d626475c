// Write transactions. They are serialized (postgres-dialect.ts), and retried when the server rolled them back.
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { LOCK_WRITERS } from '../dialects/postgres-dialect.ts';
import { executePipelined, type Results } from '../statements/pipeline.ts';
import { isRetryable } from '../store-error.ts';
import type { CommonTables } from '../tables.ts';
import { type Guard, unguarded } from './term.ts';

/** A lock time-out takes 15 s: more attempts would exceed the time-outs of clients. */
const MAX_TRIES = 3;
const SHORTEST_WAIT_MS = 20;

/**
 * Runs `work` in a write transaction. If the server rolls it back (serialization failure, deadlock, lock time-out), `work` runs
 * again, at most three times: it must start from scratch and keep no state outside. Rejects with the last error.
 */
export function writeTransaction<Tables, T>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return withRetries(() => db.transaction().execute(work));
}

/**
 * The same for independent queries: one round trip on PostgreSQL, which minimizes the time that the writer lock is held. A guard
 * adds one round trip before.
 */
export function writePipelined<const Queries extends readonly CompiledQuery[]>(
  db: Kysely<CommonTables>,
  queries: Queries,
  guard: Guard = unguarded,
): Promise<Results<Queries>> {
  return writeTransaction(db, async (tx) => {
    await guard(tx);
    return executePipelined(tx, queries, { isLast: true });
  });
}

/** PostgreSQL only: sends `first`, of any size, before the writer lock is acquired. */
export async function sendThenWrite<const Queries extends readonly CompiledQuery[]>(
  db: Kysely<CommonTables>,
  first: readonly CompiledQuery[],
  queries: Queries,
): Promise<Results<Queries>> {
  const own = db.transaction().setIsolationLevel('read committed');
  const before = [...first, CompiledQuery.raw(LOCK_WRITERS)];
  const results = await withRetries(() =>
    own.execute((tx) => executePipelined(tx, [...before, ...queries], { isLast: true })),
  );
  return results.slice(before.length) as Results<Queries>;
}

/** Retries a single statement that does not take the writer lock. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === MAX_TRIES || !isRetryable(error)) throw error;
      // Random, so that two transactions that collided do not collide again.
      await delay(SHORTEST_WAIT_MS * 2 ** tries * Math.random());
    }
  }
}
