// The public API of @strata/analytics-clickhouse.

export { type ClickHouse, openClickHouse, type Params, type StatementOptions } from './connection/clickhouse.ts';
export { ClickHouseError, type ClickHouseFailure } from './connection/clickhouse-error.ts';
