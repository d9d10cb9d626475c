// What restores into either database have in common: what they are told, what they know of the ledger that is there, what is moved aside.
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { CheckedLeaves, checkpointOf, type KeyringName, readCheckpoint, readLeaves } from '@strata/log';
import { CommandError, counted } from '../output.ts';
import type { BackupOptions } from './make-backup.ts';
import type { Manifest } from './manifest.ts';
import type { TrustOptions } from './signature.ts';

export interface RestoreOptions extends Omit<BackupOptions, 'keysFile'>, TrustOptions {
  /** Whether what is there may be moved aside. */
  readonly replace: boolean;
  /** Keeps the ledger that is there, if it goes on from that of the backup. */
  readonly keepLedger: boolean;
  /** Begins the log of the backup under another name. */
  readonly origin?: string | undefined;
  /** A file with the newest checkpoint that anybody has of the log. */
  readonly published?: string | undefined;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly signedBy: string | undefined;
  /** Leaves of the log that the service goes on with. */
  readonly leaves: number;
  /** Rings that got a new key, because the private one was not given. */
  readonly newKeys: readonly KeyringName[];
  /** Where what was there is now. */
  readonly aside: readonly string[];
}

export interface Place {
  readonly directory: string;
  readonly ledger: string;
  /** Undefined of PostgreSQL. */
  readonly storeFile: string | undefined;
}

/** `keep` is advice of its own. */
export function refuseFork(leaves: number, published: number, keep: string): void {
  if (published <= leaves) return;
  throw new CommandError(
    `the ledger of the backup has ${counted(leaves, 'receipt')}, and ${published} were published: going on from the older one would fork it.\n` +
      `${keep}--origin NAME begins a log of a new name with those of the backup`,
  );
}

interface LedgerHere {
  readonly leaves: number;
  /** Root of the first so many leaves, hex; undefined when there are fewer. */
  readonly rootThen?: string;
  readonly trouble?: string;
}

export async function readHere(directory: string, leavesThen: number): Promise<LedgerHere> {
  const note = await readCheckpoint(directory).catch(() => undefined);
  const all = new CheckedLeaves(note);
  const then = new CheckedLeaves(undefined);
  async function* first() {
    let left = leavesThen;
    for await (const batch of all.through(readLeaves(directory))) {
      if (left > 0) yield batch.slice(0, left);
      left -= batch.length;
    }
  }
  try {
    for await (const _ of then.through(first()));
    const { leaves } = all.digest;
    return leaves < leavesThen ? { leaves } : { leaves, rootThen: then.digest.root };
  } catch (error) {
    // As far as it says itself that it was published.
    const size = note === undefined ? 0 : sizeOf(note);
    return { leaves: size, trouble: error instanceof Error ? error.message : String(error) };
  }
}

function sizeOf(note: string): number {
  try {
    return checkpointOf(note).size;
  } catch {
    return 0;
  }
}

/** The snapshot of the index too: it is of the store that was. */
export async function moveAside(
  { directory, ledger, storeFile }: Place,
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
