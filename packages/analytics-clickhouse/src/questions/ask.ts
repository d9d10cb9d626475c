// One question to ClickHouse, within bounds.
import type { ClickHouse, Params, QueryOptions } from '../connection/clickhouse.ts';
import { bound, type Sql } from './sql.ts';

/** A question that takes longer is not answered. */
const TIMEOUT_MS = 30_000;

/** With a limit of time for each statement, if there is one. */
export function limited(clickhouse: ClickHouse, timeoutMs = TIMEOUT_MS): ClickHouse {
  const query = <Row>(text: string, params?: Params, options?: QueryOptions) =>
    clickhouse.query<Row>(text, params, { ...options, timeoutMs });
  return { ...clickhouse, query };
}

/** The rows of a statement. Rejects with ClickHouseError. */
export function asked<Row>(clickhouse: Pick<ClickHouse, 'query'>, statement: Sql): Promise<Row[]> {
  const { text, params } = bound(statement);
  return clickhouse.query<Row>(text, params, { timeoutMs: TIMEOUT_MS });
}
