// The public API of @strata/analytics-clickhouse.

export { type ClickHouse, openClickHouse } from './open-clickhouse.ts';
