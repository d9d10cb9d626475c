// What the database of any service needs. It contains no service's tables.
export type { CopiedPart, StoreCopy } from './copies/copy-manifest.ts';
export { type CopiedTable, type CopyOptions, copyToPostgres } from './copies/copy-to-postgres.ts';
export {
  digestOfRows,
  dumpPostgres,
  type LoadOptions,
  loadPostgres,
  type PostgresBackupOptions,
  type RowsText,
} from './copies/postgres-backup.ts';
export {
  backupSqlite,
  checkSqliteCopy,
  openImmutable,
  prepareRestoredSqlite,
  type SqliteBackupOptions,
} from './copies/sqlite-backup.ts';
export { counterIncrement, counterOf, incrementCounter } from './counters.ts';
export {
  BEGIN_WRITING,
  isPostgres,
  LOCK_WRITERS,
  openPool,
  type PoolFigures,
  type PostgresOptions,
  poolFigures,
  postgresDialect,
} from './dialects/postgres-dialect.ts';
export { openFile, sqliteDialect } from './dialects/sqlite-dialect.ts';
export { tracedDialect } from './dialects/traced-dialect.ts';
export { FileLockError, holderOf, lockFile, type WaitOptions, waitForLock } from './file-lock.ts';
export { lockedDirectories, networkFileSystemOf, sqliteFileOf, warnOfFileSystem } from './file-system.ts';
export { checkStore, type StoreReport } from './inspection/check-store.ts';
export { inspectStore, type StoreState } from './inspection/inspect-store.ts';
export { readSizes, recordSizes, type TableGrowth, type TableSize } from './inspection/table-sizes.ts';
export {
  isPriority,
  isTier,
  type KeyPrefix,
  KeyTable,
  PRIORITIES,
  type Priority,
  type StoredKey,
  TIERS,
  type Tier,
} from './keys/keys.ts';
export { type Quota, QuotaTable } from './keys/quota.ts';
export type { QuotaUse } from './keys/quota-batches.ts';
export { QuotaBlocks } from './keys/quota-blocks.ts';
export { QUOTA_INVARIANT } from './keys/quota-invariant.ts';
export { checkpointName, ledgerCheckpoint } from './ledger-checkpoint.ts';
export { addKeyPriority, createCounters, createKeyTables, createSettings } from './migrations/common-tables.ts';
export { createTable, type TableOptions } from './migrations/create-table.ts';
export { dropForeignTables, nothing, withOldNames } from './migrations/drop-foreign-tables.ts';
export { latestOf, type Migrations, migrate, migrateTo } from './migrations/migrator.ts';
export { type OpenDatabase, openDatabase, pooledDialect } from './open-database.ts';
export { readSetting, TextTable, writeSetting } from './settings.ts';
export {
  batches,
  integer,
  type Json,
  type JsonColumns,
  jsonRows,
  jsonText,
  listed,
  listedIn,
  rowsIn,
  toJson,
  valuesOf,
} from './statements/json-rows.ts';
export { executePipelined, type Results } from './statements/pipeline.ts';
export { type Plan, plan } from './statements/plan.ts';
export { StoreError, type StoreErrorCode, storeErrorOf } from './store-error.ts';
export {
  type Invariant,
  REPORT,
  RESTORE,
  type SizedTables,
  type StoreFinding,
  type StoreSchema,
} from './store-schema.ts';
export type { CommonTables, KeyTables, SizeTables } from './tables.ts';
export { SharedClock } from './transactions/shared-clock.ts';
export { type Guard, guardOf, unguarded } from './transactions/term.ts';
export {
  fileLock,
  sessionLock,
  soleLock,
  type TermHold,
  type TermLock,
  type TermLockName,
} from './transactions/term-lock.ts';
export { sendThenWrite, withRetries, writePipelined, writeTransaction } from './transactions/write-transaction.ts';
