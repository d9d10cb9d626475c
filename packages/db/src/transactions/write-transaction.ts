// Write transactions: one at a time, or in parallel if they write different rows; retried when the server rolled them back.
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { LOCK_NUMBERS, LOCK_WRITERS, SHARE_WRITERS } from '../dialects/postgres-dialect.ts';
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

export interface ParallelWrite<Own, Numbered> {
  /** Of any size: arrives before a lock is acquired. */
  readonly first: readonly CompiledQuery[];
  /** They lock the rows that they depend on, in one order, and assign no number that a reader waits for. */
  readonly own: Own;
  /**
   * They assign the numbers of logs, which become visible in order: one transaction at a time. If `own` has set `IS_OUTDATED`,
   * they must write nothing, and do not wait.
   */
  readonly numbered: Numbered;
  /** Excludes all other writers, as `writeTransaction` does. */
  readonly isAlone: boolean;
}

/** PostgreSQL only: one round trip. Transactions that write different rows wait for each other only where they assign numbers. */
export async function writeInParallel<
  const Own extends readonly CompiledQuery[],
  const Numbered extends readonly CompiledQuery[],
>(
  db: Kysely<CommonTables>,
  { first, own, numbered, isAlone }: ParallelWrite<Own, Numbered>,
): Promise<{ own: Results<Own>; numbered: Results<Numbered> }> {
  const before = [...first, CompiledQuery.raw(isAlone ? LOCK_WRITERS : SHARE_WRITERS), ...own];
  const queries = [...before, CompiledQuery.raw(LOCK_NUMBERS), ...numbered];
  const parallel = db.transaction().setIsolationLevel('read committed');
  const results = await withRetries(() => parallel.execute((tx) => executePipelined(tx, queries, { isLast: true })));
  return {
    own: results.slice(first.length + 1, before.length) as Results<Own>,
    numbered: results.slice(before.length + 1) as Results<Numbered>,
  };
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
