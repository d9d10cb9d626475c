// A backup put in its place. It is checked first, made ready beside, and moved in by renames; what was there is moved aside, never
// deleted. From the first change to the last there is a folder `restoring` in the data directory: a service that finds it does not
// start, so that a kill between two renames never serves one half of a set.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  CheckedLeaves,
  checkpointOf,
  decodeLeaves,
  type KeyringName,
  lockLog,
  openSignedLedger,
  readCheckpoint,
  readCheckpointFile,
  readKeysFile,
  readLeaves,
  restoreKeys,
  writeLog,
} from '@strata/log';
import { type Config, RESTORING } from '@strata/stack';
import { settleSqlite } from '@strata/store';
import { CommandError, counted } from '../output.ts';
import { type CheckedBackup, checkBackup } from './check-backup.ts';
import type { BackupOptions } from './make-backup.ts';
import { LEAVES_FILE, type Manifest, STORE_FILE } from './manifest.ts';
import { readPart } from './parts.ts';
import { restoreToPostgres } from './restore-postgres.ts';

export interface RestoreOptions extends Omit<BackupOptions, 'keysFile'> {
  /** The private keys that `backup --keys` wrote. */
  readonly keysFile?: string | undefined;
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
  /** Leaves of the log that the service goes on with. */
  readonly leaves: number;
  /** Rings that got a new key, because the private one was not given. */
  readonly newKeys: readonly KeyringName[];
  /** Where what was there is now. */
  readonly aside: readonly string[];
}

interface Place {
  readonly directory: string;
  readonly ledger: string;
  /** Undefined of PostgreSQL. */
  readonly storeFile: string | undefined;
}

/** Rejects with CommandError, StoreError, LogError or KeyringError; until the last steps nothing has changed then. */
export async function restoreBackup(config: Config, folder: string, options: RestoreOptions): Promise<Restored> {
  const checked = await checkBackup(folder, options);
  const place = placeOf(config, checked.manifest);
  if (place.storeFile === undefined) return restoreToPostgres(config, folder, checked, options);
  const { storeFile } = place;
  const ledgerHere =
    existsSync(path.join(place.ledger, 'journal')) || existsSync(path.join(place.ledger, 'checkpoint'));
  const inTheWay = [storeFile, ledgerHere ? place.ledger : undefined].filter(
    (each) => each !== undefined && existsSync(each),
  );
  if (inTheWay.length > 0 && !options.replace)
    throw new CommandError(`${inTheWay.join(' and ')} would be replaced: say so with --replace`, { exitCode: 2 });
  if (options.keepLedger && !ledgerHere) throw new CommandError('there is no ledger here to keep', { exitCode: 2 });
  const given = options.keysFile === undefined ? undefined : await readKeysFile(options.keysFile);
  await mkdir(place.directory, { recursive: true });
  // A running service holds it.
  await using _lock = existsSync(place.ledger) ? await lockLog(place.ledger) : undefined;
  const leaves = await judgeLedger(place, checked, { ...options, ledgerHere });

  const staging = path.join(place.directory, RESTORING);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  let isMoving = false;
  try {
    if (!options.keepLedger) {
      const note = options.origin === undefined ? checked.checkpoint : undefined;
      await writeLog(path.join(staging, 'ledger'), decodeLeaves(readPart(folder, LEAVES_FILE)), note);
    }
    options.signal?.throwIfAborted();
    const ready = `${storeFile}.${RESTORING}`;
    await stageStore(path.join(folder, STORE_FILE), ready);
    isMoving = true;
    const aside = await moveAside(place, { keepsLedger: options.keepLedger });
    if (!options.keepLedger) await rename(path.join(staging, 'ledger'), place.ledger);
    await rename(ready, storeFile);
    const now = new Date();
    const newKeys = await restoreKeys(place.directory, { published: checked.keys, now, ...(given ? { given } : {}) });
    if (options.origin !== undefined) await beginOrigin(place.directory, options.origin);
    await rm(staging, { recursive: true });
    return { manifest: checked.manifest, leaves, newKeys, aside };
  } catch (error) {
    // Once things have moved, only a restore that ends makes the place whole: the folder stays and says so.
    if (!isMoving) await rm(staging, { recursive: true, force: true });
    if (!isMoving) await rm(`${storeFile}.${RESTORING}`, { force: true });
    throw error;
  }
}

function placeOf({ dataDirectory, databaseUrl }: Config, { store }: Manifest): Place {
  const storeFile = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if ((storeFile === undefined) !== (store.kind === 'postgres')) {
    const [of, here] = store.kind === 'sqlite' ? ['SQLite', 'PostgreSQL'] : ['PostgreSQL', 'SQLite'];
    const advice =
      store.kind === 'sqlite'
        ? 'restore it without STRATA_DATABASE_URL, then `strata stack migrate-store`'
        : 'set STRATA_DATABASE_URL to an empty database';
    throw new CommandError(`the backup is of ${of}, and the configured database is ${here}: ${advice}`, {
      exitCode: 2,
    });
  }
  return { directory: dataDirectory, ledger: path.join(dataDirectory, 'ledger'), storeFile };
}

/**
 * A log that was published further than the backup must not go on from the backup: two histories of one name would be out. Returns the
 * leaves that the service will go on with.
 */
async function judgeLedger(
  place: Place,
  { manifest }: CheckedBackup,
  options: RestoreOptions & { readonly ledgerHere: boolean },
): Promise<number> {
  const { leaves } = manifest.ledger;
  const here = options.ledgerHere ? await readHere(place.ledger, leaves) : undefined;
  if (options.keepLedger) {
    if (here?.trouble) throw new CommandError(`the ledger here cannot be kept: ${here.trouble}`);
    if (!here || here.leaves < leaves)
      throw new CommandError('the ledger here has fewer receipts than the backup: restore without --keep-ledger');
    if (here.rootThen !== manifest.ledger.root)
      throw new CommandError('the ledger here is not the one of the backup: what they have in common differs');
    return here.leaves;
  }
  const published = options.published === undefined ? undefined : (await readCheckpointFile(options.published)).size;
  const furthest = Math.max(here?.leaves ?? 0, published ?? 0);
  if (options.origin === undefined) {
    const keep =
      here && !here.trouble && here.leaves >= furthest ? '--keep-ledger keeps the newer one that is here; ' : '';
    refuseFork(leaves, furthest, keep);
  }
  return leaves;
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

async function stageStore(file: string, ready: string): Promise<void> {
  await mkdir(path.dirname(ready), { recursive: true });
  await copyFile(file, ready);
  // Committed by SQLite, and so durable.
  settleSqlite(ready);
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

/** A checkpoint of the new name, so that the service starts under no other. */
async function beginOrigin(directory: string, origin: string): Promise<void> {
  const signed = await openSignedLedger({ directory, origin, keySetPath: '/', now: () => new Date() });
  await signed[Symbol.asyncDispose]();
}

export function progressOf({ onProgress, signal }: RestoreOptions) {
  const rowsOf = new Map<string, number>();
  return {
    ...(signal ? { signal } : {}),
    onProgress: ({ table, rows }: { readonly table: string; readonly rows: number }) => {
      rowsOf.set(table, rows);
      onProgress?.({ what: 'store', done: rowsOf.values().reduce((sum, each) => sum + each, 0), unit: 'rows' });
    },
  };
}
