// File locks, and the file systems that they depend on.

export { isPostgres, openPool, postgresDialect } from '../../store/src/db/dialects/postgres-dialect.ts';
export { sqliteDialect } from '../../store/src/db/dialects/sqlite-dialect.ts';
export { tracedDialect } from '../../store/src/db/dialects/traced-dialect.ts';
export { StoreError, type StoreErrorCode, storeErrorOf } from '../../store/src/db/store-error.ts';
export { FileLockError, holderOf, lockFile, type WaitOptions, waitForLock } from './file-lock.ts';
export { lockedDirectories, networkFileSystemOf, sqliteFileOf, warnOfFileSystem } from './file-system.ts';
