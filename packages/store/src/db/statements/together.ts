// Queries that need no answer of one another, sent together: on PostgreSQL that is one round trip, however many there are.
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely';
import type { Database } from '../../schema.ts';
import { PoolConnection } from '../dialects/postgres-connection.ts';

/** What each of the queries gives, in their order. */
export type Results<Queries extends readonly CompiledQuery[]> = {
  readonly [N in keyof Queries]: Queries[N] extends CompiledQuery<infer Row> ? QueryResult<Row> : never;
};

/**
 * Runs the queries one after another. Rejects with the error of the first that fails; within a transaction those behind it do nothing then.
 * `isLast` commits the transaction with them, so that its locks end with its last statement: nothing may be asked in it afterwards.
 */
export async function together<const Queries extends readonly CompiledQuery[]>(
  db: Kysely<Database>,
  queries: Queries,
  { isLast = false }: { readonly isLast?: boolean } = {},
): Promise<Results<Queries>> {
  const results = await db.getExecutor().provideConnection(async (connection) => {
    if (!(connection instanceof PoolConnection) || !connection.isPipelined) return oneByOne(connection, queries);
    const answers: Promise<unknown>[] = queries.map((query) => connection.executeQuery(query));
    if (isLast) answers.push(connection.commit());
    // All have come before the connection serves others.
    await Promise.allSettled(answers);
    return await Promise.all(answers);
  });
  return results.slice(0, queries.length) as Results<Queries>;
}

async function oneByOne(connection: DatabaseConnection, queries: readonly CompiledQuery[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const query of queries) results.push(await connection.executeQuery(query));
  return results;
}
