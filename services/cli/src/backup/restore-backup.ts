// A backup put in its place. It is checked first, made ready beside, and moved in by renames; what was there is moved aside, never
// deleted. From the first change to the last there is a folder `restoring` in the data directory: a service that finds it does not
// start, so that a kill between two renames never serves one half of a set.

import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { sqliteFileOf } from '@strata/db';
import {
  checkpointOf,
  decodeLeaves,
  lockLog,
  openSignedLedger,
  readCheckpointFile,
  readKeysFile,
  restoreKeys,
  writeLog,
} from '@strata/log';
import { type Config, RESTORING } from '@strata/stack';
import { ledgerCheckpointIn, settleSqlite } from '@strata/store';
import { CommandError } from '../output.ts';
import { digestOf, readVerified, refuseOther } from './backup-files.ts';
import { type CheckedBackup, checkBackup } from './check-backup.ts';
import { LEAVES_FILE, type Manifest, type Part, partOf, STORE_FILE } from './manifest.ts';
import { moveAside, type Place, type Restored, type RestoreOptions, readHere, refuseFork } from './restore-options.ts';
import { restoreToPostgres } from './restore-postgres.ts';
import { trustOf } from './signature.ts';

/** Rejects with CommandError, StoreError, LogError or KeyringError; until the last steps nothing has changed then. */
export async function restoreBackup(config: Config, folder: string, options: RestoreOptions): Promise<Restored> {
  const trust = await trustOf(config.dataDirectory, options);
  const checked = await checkBackup(folder, { ...options, trust });
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
  using _lock = existsSync(place.ledger) ? lockLog(place.ledger) : undefined;
  const leaves = await judgeLedger(place, checked, { ...options, ledgerHere });

  const staging = path.join(place.directory, RESTORING);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  let isMoving = false;
  try {
    if (!options.keepLedger) {
      const note = options.origin === undefined ? checked.checkpoint : undefined;
      const leaves = decodeLeaves(readVerified(folder, partOf(checked.manifest, LEAVES_FILE)));
      await writeLog(path.join(staging, 'ledger'), leaves, note);
    }
    options.signal?.throwIfAborted();
    const ready = `${storeFile}.${RESTORING}`;
    await stageStore(folder, partOf(checked.manifest, STORE_FILE), { ready, signal: options.signal });
    options.signal?.throwIfAborted();
    isMoving = true;
    const aside = await moveAside(place, { keepsLedger: options.keepLedger });
    if (!options.keepLedger) await rename(path.join(staging, 'ledger'), place.ledger);
    await rename(ready, storeFile);
    const now = new Date();
    const newKeys = await restoreKeys(place.directory, { published: checked.keys, now, ...(given ? { given } : {}) });
    if (options.origin !== undefined) await beginOrigin(place.directory, options.origin);
    await rm(staging, { recursive: true });
    return { manifest: checked.manifest, signedBy: checked.signedBy, leaves, newKeys, aside };
  } catch (error) {
    // Once things have moved, only a restore that ends makes the place whole: the folder stays and says so.
    if (!isMoving) await rm(staging, { recursive: true, force: true });
    if (!isMoving) await rm(`${storeFile}.${RESTORING}`, { force: true });
    throw error;
  }
}

function placeOf({ dataDirectory, databaseUrl }: Config, { store }: Manifest): Place {
  const storeFile = sqliteFileOf(databaseUrl);
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
  const known = publishedByStore(place, manifest);
  if (options.keepLedger) {
    if (here?.trouble) throw new CommandError(`the ledger here cannot be kept: ${here.trouble}`);
    if (!here || here.leaves < leaves)
      throw new CommandError('the ledger here has fewer receipts than the backup: restore without --keep-ledger');
    if (here.leaves < known)
      throw new CommandError(
        `the ledger here cannot be kept: it has ${here.leaves} of the ${known} receipts that were published`,
      );
    if (here.rootThen !== manifest.ledger.root)
      throw new CommandError('the ledger here is not the one of the backup: what they have in common differs');
    return here.leaves;
  }
  const published = options.published === undefined ? undefined : (await readCheckpointFile(options.published)).size;
  const furthest = Math.max(here?.leaves ?? 0, published ?? 0, known);
  if (options.origin === undefined) {
    const keep =
      here && !here.trouble && here.leaves >= furthest ? '--keep-ledger keeps the newer one that is here; ' : '';
    refuseFork(leaves, furthest, keep);
  }
  return leaves;
}

/** Leaves under the newest checkpoint that the store here keeps; 0 where it keeps none, or cannot be read. */
function publishedByStore({ storeFile }: Place, { ledger }: Manifest): number {
  try {
    const note = ledgerCheckpointIn(`sqlite:${storeFile}`, ledger.origin ?? '');
    return note === undefined ? 0 : checkpointOf(note).size;
  } catch {
    return 0;
  }
}

async function stageStore(
  folder: string,
  part: Part,
  { ready, signal }: { readonly ready: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  await mkdir(path.dirname(ready), { recursive: true });
  await copyFile(path.join(folder, part.path), ready);
  // The file of the backup can have been altered since it was verified.
  refuseOther(part, await digestOf(ready, signal));
  // Committed by SQLite, and so durable.
  settleSqlite(ready);
}

/** A checkpoint of the new name, so that the service starts under no other. */
async function beginOrigin(directory: string, origin: string): Promise<void> {
  const signed = await openSignedLedger({ directory, origin, keySetPath: '/', now: () => new Date() });
  await signed[Symbol.asyncDispose]();
}
