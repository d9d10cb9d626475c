// One download of a file at a time, among all processes of this machine.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelStoreError, onDisk } from './error.ts';

export interface LockOptions {
  /** How long another holder is waited for. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 100;
/** https://www.sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/**
 * Holds the lock until it is disposed of. Rejects with `busy` when another holder, here or in another process, does not let go
 * within `waitMs`.
 *
 * The lock is SQLite's on an empty file, because Node offers no lock of the operating system otherwise. The system itself frees it
 * when its holder dies, however it dies: there is nothing left behind to be judged stale and taken over, no process id that might
 * be another's by now, and a holder that was only suspended still holds it. The empty file stays: if it were removed, one could
 * lock the file that is gone while another locks a new one.
 */
export async function takeLock(file: string, { waitMs, signal }: LockOptions): Promise<Disposable> {
  await onDisk('lock the model', mkdir(path.dirname(file), { recursive: true }));
  for (const endsAt = performance.now() + waitMs; ; ) {
    signal?.throwIfAborted();
    const lock = tryLock(file);
    if (lock) return lock;
    if (performance.now() >= endsAt) {
      throw new ModelStoreError(
        'busy',
        `${path.basename(file, '.lock')} is being downloaded already, perhaps by another process`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** The same, without waiting; undefined: another holds it. Throws ModelStoreError `disk` where the file cannot be made. */
export function tryLock(file: string): Disposable | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    // Nothing is ever written: no journal either.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    if ((cause as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new ModelStoreError('disk', `lock ${path.basename(file, '.lock')}: ${(cause as Error).message}`, { cause });
  }
}
