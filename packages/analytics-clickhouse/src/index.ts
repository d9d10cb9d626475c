// The public API of @strata/analytics-clickhouse.

export {
  type ClickHouse,
  openClickHouse,
  type Params,
  type QueryOptions,
  type StatementOptions,
} from './connection/clickhouse.ts';
export { ClickHouseError, type ClickHouseFailure } from './connection/clickhouse-error.ts';
export { type BlockRows, BlockWriter, TakenOver } from './export/apply-block.ts';
export { Exporter, type ExporterDeps } from './export/exporter.ts';
export { appliedPosition, type BlockPosition, type Position, type Stage } from './export/position.ts';
export type { ExportEvent, ExportScan, ExportSource, HistoryReader } from './export/source.ts';
export { isUnavailable } from './questions/checked-tables.ts';
export { clickHouseAnalytics } from './questions/clickhouse-analytics.ts';
export { createTables, removePositions, removeTables } from './tables/create-tables.ts';
