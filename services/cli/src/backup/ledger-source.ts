// The ledger of a service, for copies: in the database that several nodes share, otherwise in the data directory.
import {
  checkpointOf,
  isLedgerDirectory,
  type LeafBatches,
  ledgerIn,
  openLedgerTables,
  type PublicKeys,
  publicKeyBytes,
  readDirectoryLog,
  readLeaves,
} from '@strata/log';
import { noteVerifier, openNote } from '@strata/receipts';
import type { Config } from '@strata/stack';
import { ledgerCheckpointIn } from '@strata/stack/store';
import { CommandError } from '../errors.ts';

export interface LedgerSource extends AsyncDisposable {
  readonly kind: 'directory' | 'database';
  /** Signed checkpoint, read before the leaves, so that it covers no more than these. Undefined for a log without one. */
  readonly note: string | undefined;
  /** The leaves under the checkpoint; a folder of an earlier version may have further ones. */
  leaves(): LeafBatches;
  /** Published keys by key id; empty for the log of one process. */
  publishedKeys(): Promise<Readonly<Record<string, string>>>;
}

/** Rejects with StoreError or LogError. */
export async function openLedgerSource({ dataDirectory, databaseUrl, ledgerOrigin }: Config): Promise<LedgerSource> {
  const tables = databaseUrl.startsWith('sqlite:') ? undefined : await openLedgerTables(databaseUrl);
  const head = await tables?.log.head();
  const directory = ledgerIn(dataDirectory);
  // The ledger is that of the directory as long as it was not migrated to the database, which has no leaves then.
  if (tables && head && (head.size > 0 || !isLedgerDirectory(directory))) {
    return {
      kind: 'database',
      note: head.note,
      leaves: () => readLeaves(tables.log, head),
      publishedKeys: async () => Object.fromEntries(await tables.keys.all()),
      [Symbol.asyncDispose]: () => tables[Symbol.asyncDispose](),
    };
  }
  await tables?.[Symbol.asyncDispose]();
  // Written after the leaves that it covers, so that it is read before them.
  const copy = ledgerCheckpointIn(databaseUrl, ledgerOrigin);
  const own = await readDirectoryLog(directory);
  return {
    kind: 'directory',
    note: newest(own.note, copy),
    leaves: () => own.leaves(),
    publishedKeys: async () => ({}),
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  };
}

/** The newer of the checkpoints in the directory and in the store; either may be slightly older, or missing. */
function newest(own: string | undefined, copy: string | undefined): string | undefined {
  if (own === undefined || copy === undefined) return own ?? copy;
  return checkpointOf(copy).size > checkpointOf(own).size ? copy : own;
}

/** Throws CommandError unless one of the keys has signed the checkpoint. */
export async function refuseUnsigned(note: string | undefined, keys: PublicKeys, advice: string): Promise<void> {
  if (note === undefined) return;
  const [origin = ''] = note.split('\n');
  const opened = await openOwnNote(note, origin, keys.ledger);
  if (!opened.ok)
    throw new CommandError(`the checkpoint is not signed by a key of the backup (${opened.problem}): ${advice}`);
}

export const openOwnNote = (note: string, origin: string, keys: PublicKeys['ledger']): ReturnType<typeof openNote> =>
  openNote(
    note,
    publicKeyBytes(keys).map((key) => noteVerifier(origin, key)),
  );
