// One host for each key: two with the same one would push each other out of every connection, again and again.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { KeyFileError } from './key-file.ts';

/** https://www.sqlite.org/rescode.html: the lowest byte of a result code is its kind. */
const SQLITE = { busy: 5, readonly: 8, cannotOpen: 14 } as const;

/**
 * Holds `<key file>.lock` until it is disposed of. Rejects with KeyFileError where another host holds it, here or in another
 * process. Beside a key in a directory that nobody may write, as secrets are mounted, there can be no lock, and none is held.
 *
 * The lock is SQLite's on an empty file, since Node offers no lock of the operating system otherwise. The system frees it when
 * its holder dies, however it dies: nothing is left behind to be judged stale. The empty file stays.
 */
export async function lockKey(keyFile: string): Promise<Disposable> {
  let database: DatabaseSync | undefined;
  try {
    await mkdir(path.dirname(keyFile), { recursive: true });
    database = new DatabaseSync(`${keyFile}.lock`, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    const kind = ((cause as { errcode?: number }).errcode ?? 0) & 0xff;
    if (kind === SQLITE.readonly || kind === SQLITE.cannotOpen) return { [Symbol.dispose]: () => {} };
    if (kind !== SQLITE.busy) throw new KeyFileError(`the key file ${keyFile} cannot be locked`, { cause });
    throw new KeyFileError(
      `another process runs with the key file ${keyFile}: stop it, or give this one a directory of its own with STRATA_DATA, or a key with STRATA_P2P_KEY_FILE`,
      { cause },
    );
  }
}
