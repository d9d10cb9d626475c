// File locks, and the file systems that they depend on.
export { FileLockError, holderOf, lockFile, type WaitOptions, waitForLock } from './file-lock.ts';
export { lockedDirectories, networkFileSystemOf, sqliteFileOf, warnOfFileSystem } from './file-system.ts';
