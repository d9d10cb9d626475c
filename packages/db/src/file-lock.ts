// One owner at a time: a lock of the kernel on an empty file. It ends with its process, however that ends, and holds between
// containers that share a disk, where process numbers mean nothing.
import * as fs from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { networkFileSystemOf } from './file-system.ts';

/** The file cannot be locked at all: `EACCES` where it may not be written, else `EIO`. */
export class FileLockError extends Error {
  override readonly name = 'FileLockError';
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
  /** How long another holder is waited for. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 50;
/** Primary result codes, https://www.sqlite.org/rescode.html */
const SQLITE = { busy: 5, readOnly: 8, cannotOpen: 14, notADatabase: 26 } as const;
/** What is shorter cannot be a database. */
const DATABASE_HEADER_BYTES = 100;

/**
 * Takes the lock and holds it until it is disposed of; undefined while another holder has it, in this process or another. Makes the
 * file in a directory that exists. Throws FileLockError, or the system's error where the file cannot be made.
 *
 * The lock is an exclusive transaction of SQLite, since Node offers no lock of the operating system. The file stays: if it were
 * removed, one process could lock the removed file while another locks a new one. Nothing but SQLite may open it in the process that
 * holds the lock: fcntl(2) locks end when the process closes any descriptor of the file.
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

/** The same, asking again until `waitMs` have passed. Rejects with the signal's reason too. */
export async function waitForLock(file: string, { waitMs, signal }: WaitOptions): Promise<Disposable | undefined> {
  for (const endsAt = performance.now() + waitMs; ; await delay(POLL_MS)) {
    signal?.throwIfAborted();
    const lock = lockFile(file);
    if (lock || performance.now() >= endsAt) return lock;
  }
}

/** Who holds the lock, for messages only: as the holder itself wrote it. */
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
    // Nothing is ever written: no journal either.
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

/** What root makes belongs to the owner of the directory, who must be able to lock it too. */
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

/** Earlier versions wrote a process number into their lock files, and left it there when they were killed. */
function emptyEarlierLock(file: string): boolean {
  const descriptor = fs.openSync(file, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    // Another process may have emptied and locked it since: emptying it again changes nothing.
    const isEarlier = fs.fstatSync(descriptor).size < DATABASE_HEADER_BYTES;
    if (isEarlier) fs.ftruncateSync(descriptor);
    return isEarlier;
  } finally {
    fs.closeSync(descriptor);
  }
}

const descriptionOf = (file: string): string => `${file}.holder`;

/** The lock holds without it. */
function describeHolder(file: string): void {
  removeDescription(file);
  const text = `process ${process.pid} on ${hostname()} since ${new Date().toISOString()}\n`;
  try {
    // Never through a link: root may do this in a directory of another user.
    fs.writeFileSync(descriptionOf(file), text, { flag: 'wx' });
  } catch {}
}

function removeDescription(file: string): void {
  try {
    fs.rmSync(descriptionOf(file), { force: true });
  } catch {}
}
