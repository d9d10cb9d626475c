// What the database of any service needs. It contains no service's tables.
export type { StoreCopy } from './copies/copy-manifest.ts';
export { copyStore } from './copies/copy-store.ts';
export * from './copies/postgres-backup.ts';
export { refuseUsedDatabase } from './copies/postgres-end.ts';
export * from './copies/sqlite-backup.ts';
export { counterIncrement, counterOf, incrementCounter } from './counters.ts';
export { STARTED_AT } from './dialects/postgres-connection.ts';
export {
  BEGIN_WRITING,
  IS_OUTDATED,
  isPostgres,
  LOCK_WRITERS,
  openPool,
  type PoolFigures,
  type PostgresOptions,
  poolFigures,
  postgresDialect,
  SHARE_WRITERS,
} from './dialects/postgres-dialect.ts';
export { openFile, sqliteDialect } from './dialects/sqlite-dialect.ts';
export { tracedDialect } from './dialects/traced-dialect.ts';
export { holderOf, lockFile, waitForLock } from './file-lock.ts';
export { lockedDirectories, networkFileSystemOf, sqliteFileOf, warnOfFileSystem } from './file-system.ts';
export { checkStore, type StoreReport } from './inspection/check-store.ts';
export { type InspectedSchema, inspectStore, type StoreState } from './inspection/inspect-store.ts';
export { readSizes, recordSizes, type TableGrowth, type TableSize } from './inspection/table-sizes.ts';
export * from './keys/keys.ts';
export { type Quota, QuotaTable } from './keys/quota.ts';
export type { QuotaUse } from './keys/quota-batches.ts';
export { QuotaBlocks } from './keys/quota-blocks.ts';
export { QUOTA_INVARIANT } from './keys/quota-invariant.ts';
export { checkpointName, ledgerCheckpoint } from './ledger-checkpoint.ts';
export { addKeyPriority, createCounters, createKeyTables, createSettings } from './migrations/common-tables.ts';
export { createTable, type TableOptions } from './migrations/create-table.ts';
export { dropForeignTables, nothing, withOldNames } from './migrations/drop-foreign-tables.ts';
export { type Migrations, migrate, migrateTo } from './migrations/migrator.ts';
export { openDatabase, pooledDialect } from './open-database.ts';
export { orderedText, randomPart, randomText } from './random-ids.ts';
export { readSetting, TextTable, writeSetting } from './settings.ts';
export * from './statements/json-rows.ts';
export { executePipelined } from './statements/pipeline.ts';
export { type Plan, plan } from './statements/plan.ts';
export { readTogether } from './statements/read-together.ts';
export { isDuplicate, isSuperseded, StoreError, type StoreErrorCode, storeErrorOf } from './store-error.ts';
export * from './store-schema.ts';
export type { CommonTables, SizeTables } from './tables.ts';
export { SharedClock } from './transactions/shared-clock.ts';
export { type Guard, guardOf, unguarded } from './transactions/term.ts';
export * from './transactions/term-lock.ts';
export { withRetries, writeInParallel, writePipelined, writeTransaction } from './transactions/write-transaction.ts';
