// The lock of a directory that one process at a time may write.
import path from 'node:path';
import { lockFile } from '@strata/db';
import { lockedError, logErrorFrom } from '../log-error.ts';

/** Locks a directory against other writers until it is disposed of. Throws LogError: `locked`, with the holder. */
export const lockLog = (directory: string): Disposable => acquireLock(path.join(directory, 'lock'));

export function acquireLock(file: string): Disposable {
  let lock: Disposable | undefined;
  try {
    lock = lockFile(file);
  } catch (cause) {
    throw logErrorFrom(cause, `acquire the lock ${file}`);
  }
  if (lock) return lock;
  throw lockedError(file);
}
