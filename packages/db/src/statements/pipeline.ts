// Independent queries, pipelined: on PostgreSQL they take one round trip, and in a SQLite thread one message.
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely';
import { PoolConnection } from '../dialects/postgres-connection.ts';
import { ThreadConnection } from '../dialects/thread-connection.ts';

/** The result of each query, in order. */
export type Results<Queries extends readonly CompiledQuery[]> = {
  readonly [N in keyof Queries]: Queries[N] extends CompiledQuery<infer Row> ? QueryResult<Row> : never;
};

/**
 * Runs the queries one after another. Rejects with the error of the first that fails; in a transaction the later ones then
 * have no effect. `isLast` commits the transaction in the same round trip, which releases its locks with the last
 * statement: no statement may follow.
 */
export async function executePipelined<const Queries extends readonly CompiledQuery[]>(
  db: Pick<Kysely<unknown>, 'getExecutor'>,
  queries: Queries,
  { isLast = false }: { readonly isLast?: boolean } = {},
): Promise<Results<Queries>> {
  const results = await db.getExecutor().provideConnection<readonly unknown[]>(async (connection) => {
    if (connection instanceof ThreadConnection && connection.isInTransaction)
      return connection.executeAll(queries, { isLast });
    if (!(connection instanceof PoolConnection) || !connection.isPipelined)
      return executeSequentially(connection, queries);
    const answers: Promise<unknown>[] = queries.map((query) => connection.executeQuery(query));
    if (isLast) answers.push(connection.commit());
    // All responses must arrive before the connection is reused.
    await Promise.allSettled(answers);
    return await Promise.all(answers);
  });
  return results.slice(0, queries.length) as Results<Queries>;
}

async function executeSequentially(
  connection: DatabaseConnection,
  queries: readonly CompiledQuery[],
): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const query of queries) results.push(await connection.executeQuery(query));
  return results;
}
