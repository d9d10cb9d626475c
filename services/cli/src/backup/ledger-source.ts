// The ledger of a service, for copies: in the database that several nodes share, otherwise in a folder.
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  checkpointOf,
  type LeafBatches,
  type PublicKeys,
  publicKeyBytes,
  readCheckpoint,
  readLeaves,
  readSharedLeaves,
} from '@strata/log';
import { noteVerifier, openNote } from '@strata/receipts';
import { type Config, sharedLedgerOf } from '@strata/stack';
import { ledgerCheckpointIn, openLedgerTables } from '@strata/stack/store';
import { CommandError } from '../errors.ts';

export interface LedgerSource extends AsyncDisposable {
  readonly kind: 'folder' | 'database';
  /** Signed checkpoint, read before the leaves, so that it covers no more than these. Undefined for a log without one. */
  readonly note: string | undefined;
  /** In a database the leaves under the checkpoint; a folder may have further ones. */
  leaves(): LeafBatches;
  /** Published keys by key id; empty for a folder. */
  publishedKeys(): Promise<Readonly<Record<string, string>>>;
}

/** Rejects with StoreError or LogError. */
export async function openLedgerSource({ dataDirectory, databaseUrl, ledgerOrigin }: Config): Promise<LedgerSource> {
  const tables = databaseUrl.startsWith('sqlite:') ? undefined : await openLedgerTables(databaseUrl);
  const head = await tables?.log.head();
  const directory = path.join(dataDirectory, 'ledger');
  // The folder is the ledger as long as it was not migrated to the database, which has no leaves then.
  if (tables && head && (head.size > 0 || !isOpenLog(directory))) {
    const { storage, keys } = sharedLedgerOf(tables);
    return {
      kind: 'database',
      note: head.note,
      leaves: () => readSharedLeaves(storage, head),
      publishedKeys: async () => Object.fromEntries(await keys.all()),
      [Symbol.asyncDispose]: () => tables[Symbol.asyncDispose](),
    };
  }
  await tables?.[Symbol.asyncDispose]();
  return {
    kind: 'folder',
    note: newest(await readCheckpoint(directory), ledgerCheckpointIn(databaseUrl, ledgerOrigin)),
    leaves: () => readLeaves(directory),
    publishedKeys: async () => ({}),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The newer of the checkpoints in the folder and in the store; either may be slightly older, or missing. */
function newest(file: string | undefined, copy: string | undefined): string | undefined {
  if (file === undefined || copy === undefined) return file ?? copy;
  return checkpointOf(copy).size > checkpointOf(file).size ? copy : file;
}

/** Whether the folder contains a log that was not migrated. */
export const isOpenLog = (directory: string): boolean =>
  existsSync(path.join(directory, 'journal')) && !existsSync(path.join(directory, 'moved'));

/** Throws CommandError unless one of the keys has signed the checkpoint. */
export async function refuseUnsigned(note: string | undefined, keys: PublicKeys, advice: string): Promise<void> {
  if (note === undefined) return;
  const [origin = ''] = note.split('\n');
  const verifiers = publicKeyBytes(keys.ledger).map((key) => noteVerifier(origin, key));
  const opened = await openNote(note, verifiers);
  if (!opened.ok)
    throw new CommandError(`the checkpoint is not signed by a key of the backup (${opened.problem}): ${advice}`);
}
