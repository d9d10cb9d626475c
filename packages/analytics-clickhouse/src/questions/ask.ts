// One question to ClickHouse, within bounds.
import type { ClickHouse } from '../connection/clickhouse.ts';
import { bound, type Sql } from './sql.ts';

/** A question that takes longer is not answered. */
const TIMEOUT_MS = 30_000;

/** The rows of a statement. Rejects with ClickHouseError. */
export function asked<Row>(clickhouse: Pick<ClickHouse, 'query'>, statement: Sql): Promise<Row[]> {
  const { text, params } = bound(statement);
  return clickhouse.query<Row>(text, params, { timeoutMs: TIMEOUT_MS });
}
