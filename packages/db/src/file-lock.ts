// Exclusive file locks of the kernel. A lock ends with its process, and works between containers that share a disk, where process ids
// are ambiguous.
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { networkFileSystemOf } from './file-system.ts';

/** The file cannot be locked: `EACCES` if it cannot be written, else `EIO`. */
export class FileLockError extends Error {
  override readonly name = 'FileLockError';
  /** Of a program that ends with this error. */
  readonly exitCode = 1;
  readonly code: 'EACCES' | 'EIO';
  readonly path: string;

  constructor(file: string, code: 'EACCES' | 'EIO', cause: unknown) {
    const network = networkFileSystemOf(path.dirname(file));
    super(`${file} cannot be locked${network === undefined ? '' : ` on ${network}`}`, { cause });
    this.code = code;
    this.path = file;
  }
}

export interface WaitOptions {
  /** How long to wait for the lock. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 50;
/** Primary result codes, https://www.sqlite.org/rescode.html */
const SQLITE = { busy: 5, readOnly: 8, cannotOpen: 14, notADatabase: 26 } as const;
/** A shorter file cannot be a database. */
const DATABASE_HEADER_BYTES = 100;

/**
 * Acquires the lock until it is disposed of; undefined while another holder has it, in this process or another. Creates the file in
 * an existing directory. Throws FileLockError, or the system's error if the file cannot be created.
 *
 * The lock is an exclusive SQLite transaction, since Node has no API for file locks. The file is never removed: otherwise one process
 * could lock the removed file while another locks a new one. The process that holds the lock must open the file only through SQLite:
 * fcntl(2) locks are released when the process closes any descriptor of the file.
 */
export function lockFile(file: string): Disposable | undefined {
  makeFile(file);
  const database = beginExclusive(file);
  if (!database) return undefined;
  describeHolder(file);
  return {
    [Symbol.dispose]() {
      removeDescription(file);
      database.close();
    },
  };
}

/** As `lockFile`, retried until `waitMs` have passed. Also rejects with the signal's reason. */
export async function waitForLock(file: string, { waitMs, signal }: WaitOptions): Promise<Disposable | undefined> {
  for (const endsAt = performance.now() + waitMs; ; await delay(POLL_MS)) {
    signal?.throwIfAborted();
    const lock = lockFile(file);
    if (lock || performance.now() >= endsAt) return lock;
  }
}

/** A description of the holder, for messages only, as the holder wrote it. */
export function holderOf(file: string): string {
  const network = networkFileSystemOf(path.dirname(file));
  const doubt = network === undefined ? '' : `; or the locks of ${network} do not work here`;
  try {
    return fs.readFileSync(descriptionOf(file), 'utf8').trim() + doubt;
  } catch {
    return `another process${doubt}`;
  }
}

function beginExclusive(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    // Nothing is ever written, so no journal is needed.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    const code = ((cause as { readonly errcode?: number }).errcode ?? 0) & 0xff;
    if (code === SQLITE.busy) return undefined;
    if (code === SQLITE.notADatabase && emptyEarlierLock(file)) return beginExclusive(file);
    throw new FileLockError(file, code === SQLITE.readOnly || code === SQLITE.cannotOpen ? 'EACCES' : 'EIO', cause);
  }
}

/** Gives a file created by root to the owner of the directory, who must be able to lock it too. */
function makeFile(file: string): void {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  try {
    const { uid, gid } = fs.statSync(path.dirname(file));
    if (process.geteuid?.() === 0 && uid !== 0) fs.fchownSync(descriptor, uid, gid);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Earlier versions wrote a process id into their lock files, which remains after a kill. */
function emptyEarlierLock(file: string): boolean {
  const descriptor = fs.openSync(file, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    // Another process may have truncated and locked it in between: truncating it again changes nothing.
    const isEarlier = fs.fstatSync(descriptor).size < DATABASE_HEADER_BYTES;
    if (isEarlier) fs.ftruncateSync(descriptor);
    return isEarlier;
  } finally {
    fs.closeSync(descriptor);
  }
}

const descriptionOf = (file: string): string => `${file}.holder`;

/** Best effort: the lock does not depend on it. */
function describeHolder(file: string): void {
  removeDescription(file);
  const text = `process ${process.pid} on ${hostname()} since ${new Date().toISOString()}\n`;
  try {
    // Never follows a link: root may write in a directory of another user.
    fs.writeFileSync(descriptionOf(file), text, { flag: 'wx' });
  } catch {}
}

function removeDescription(file: string): void {
  try {
    fs.rmSync(descriptionOf(file), { force: true });
  } catch {}
}
