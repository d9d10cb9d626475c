// What everything has in common that one process at a time may own.
export { FileLockError, holderOf, lockFile, type WaitOptions, waitForLock } from './file-lock.ts';
export { lockedDirectories, networkFileSystemOf, sqliteFileOf, warnOfFileSystem } from './file-system.ts';
