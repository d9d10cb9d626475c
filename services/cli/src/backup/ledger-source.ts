// Where the ledger of a service is, for who copies it: in the database that several nodes share, else in a folder.
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
import { ledgerCheckpointIn, openLedgerTables } from '@strata/store';
import { CommandError } from '../output.ts';

export interface LedgerSource extends AsyncDisposable {
  readonly kind: 'folder' | 'database';
  /** Signed checkpoint, read before the leaves: it never covers more than they are. Undefined of a log that never had one. */
  readonly note: string | undefined;
  /** In a database those under the checkpoint; in a folder maybe some that came since. */
  leaves(): LeafBatches;
  /** Texts by key id, as its nodes have published them by now; none of a folder. */
  publishedKeys(): Promise<Readonly<Record<string, string>>>;
}

/** Rejects with StoreError or LogError. */
export async function openLedgerSource({ dataDirectory, databaseUrl, ledgerOrigin }: Config): Promise<LedgerSource> {
  const tables = databaseUrl.startsWith('sqlite:') ? undefined : await openLedgerTables(databaseUrl);
  const head = await tables?.log.head();
  const directory = path.join(dataDirectory, 'ledger');
  // A folder that was not brought to the database yet is the ledger: nothing was appended there.
  if (tables && head && (head.size > 0 || !isOpenLog(directory))) {
    const { place, keys } = sharedLedgerOf(tables);
    return {
      kind: 'database',
      note: head.note,
      leaves: () => readSharedLeaves(place, head),
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

/** Of the checkpoints that the folder and the store keep; either may be some moments old, or lost. */
function newest(file: string | undefined, copy: string | undefined): string | undefined {
  if (file === undefined || copy === undefined) return file ?? copy;
  return checkpointOf(copy).size > checkpointOf(file).size ? copy : file;
}

/** Whether a folder holds a log that goes on there. */
export const isOpenLog = (directory: string): boolean =>
  existsSync(path.join(directory, 'journal')) && !existsSync(path.join(directory, 'moved'));

/** Throws CommandError when none of the keys signed a checkpoint. */
export async function refuseUnsigned(note: string | undefined, keys: PublicKeys, advice: string): Promise<void> {
  if (note === undefined) return;
  const [origin = ''] = note.split('\n');
  const verifiers = publicKeyBytes(keys.ledger).map((key) => noteVerifier(origin, key));
  const opened = await openNote(note, verifiers);
  if (!opened.ok)
    throw new CommandError(`the checkpoint is not signed by a key of the backup (${opened.problem}): ${advice}`);
}
