// Shared by restores into SQLite and PostgreSQL: options, the existing ledger, and renaming existing data.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { CheckedLeaves, checkpointOf, type KeyringName, readDirectoryLog } from '@strata/log';
import { RESTORING } from '@strata/stack';
import { CommandError } from '../errors.ts';
import { counted } from '../output.ts';
import type { BackupOptions } from './make-backup.ts';
import type { Manifest } from './manifest.ts';
import type { TrustOptions } from './signature.ts';

export interface RestoreOptions extends Omit<BackupOptions, 'keysFile'>, TrustOptions {
  /** Whether existing data may be renamed. */
  readonly replace: boolean;
  /** Keeps the existing ledger if it extends that of the backup. */
  readonly keepLedger: boolean;
  /** Starts a log with this new name from the leaves of the backup. */
  readonly origin?: string | undefined;
  /** A file with the newest published checkpoint of the log. */
  readonly published?: string | undefined;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly signedBy: string | undefined;
  /** Leaves of the restored log. */
  readonly leaves: number;
  /** Keyrings that got a new key because the private key was not given. */
  readonly newKeys: readonly KeyringName[];
  /** New paths of the previous data. */
  readonly aside: readonly string[];
}

export interface RestoreTarget {
  readonly directory: string;
  readonly ledger: string;
  /** Undefined for PostgreSQL. */
  readonly storeFile: string | undefined;
}

/**
 * Runs a restore with the folder `restoring` of the data directory. An error deletes the folder and `more` files, unless it comes after
 * `startMoving`: then only a complete restore makes the data usable.
 */
export async function withStaging<T>(
  directory: string,
  more: readonly string[],
  restore: (staging: string, startMoving: () => void) => Promise<T>,
): Promise<T> {
  const staging = path.join(directory, RESTORING);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  let isMoving = false;
  try {
    const restored = await restore(staging, () => {
      isMoving = true;
    });
    await rm(staging, { recursive: true });
    return restored;
  } catch (error) {
    if (!isMoving) for (const each of [staging, ...more]) await rm(each, { recursive: true, force: true });
    throw error;
  }
}

/** `keep` is advice to put before that about --origin. */
export function refuseFork(leaves: number, published: number, keep: string): void {
  if (published <= leaves) return;
  throw new CommandError(
    `the ledger of the backup has ${counted(leaves, 'receipt')}, but ${published} were published: continuing from the backup would fork the ledger.\n` +
      `${keep}--origin NAME starts a log with a new name from the receipts of the backup`,
  );
}

interface LedgerHere {
  readonly leaves: number;
  /** Hex root of the first `leavesThen` leaves; undefined where there are fewer. */
  readonly rootThen?: string;
  readonly problem?: string;
}

export async function readHere(directory: string, leavesThen: number): Promise<LedgerHere> {
  await using log = await readDirectoryLog(directory);
  const { note } = log;
  const all = new CheckedLeaves(note);
  const then = new CheckedLeaves(undefined);
  async function* first() {
    let left = leavesThen;
    for await (const batch of all.through(log.leaves())) {
      if (left > 0) yield batch.slice(0, left);
      left -= batch.length;
    }
  }
  try {
    for await (const _ of then.through(first()));
    const { leaves } = all.digest;
    return leaves < leavesThen ? { leaves } : { leaves, rootThen: then.digest.root };
  } catch (error) {
    // The published size according to its checkpoint.
    const size = note === undefined ? 0 : sizeOf(note);
    return { leaves: size, problem: error instanceof Error ? error.message : String(error) };
  }
}

function sizeOf(note: string): number {
  try {
    return checkpointOf(note).size;
  } catch {
    return 0;
  }
}

/** Renames existing data. Deletes the snapshot of the index, which is of the previous store. */
export async function moveAside(
  { directory, ledger, storeFile }: RestoreTarget,
  { keepsLedger }: { readonly keepsLedger: boolean },
): Promise<readonly string[]> {
  const suffix = `replaced-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const aside: string[] = [];
  const move = async (from: string, to: string) => {
    if (!existsSync(from)) return;
    await rename(from, to);
    aside.push(to);
  };
  if (storeFile !== undefined)
    for (const end of ['', '-wal', '-shm']) await move(storeFile + end, `${storeFile}.${suffix}${end}`);
  if (!keepsLedger) await move(ledger, `${ledger}.${suffix}`);
  await rm(path.join(directory, 'index.snapshot'), { force: true });
  return aside;
}
