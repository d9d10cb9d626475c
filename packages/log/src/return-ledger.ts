// Moves the log of a database back to a data directory, the reverse of `importLedger`.
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, syncDirectory } from '@strata/files';
import { lockLog } from './files/log-lock.ts';
import { openKeyrings, refuseWithoutKeys } from './keys/keyrings.ts';
import { restoreKeys } from './keys/keys-copy.ts';
import { publishedLedgerKeys, publishedReceiptKeys } from './keys/ledger-keys.ts';
import { type DirectoryOptions, isLedgerDirectory, movedRowsIn, rowsIn, savedNotes } from './ledger-directory.ts';
import { LogError } from './log-error.ts';
import { type CopiedLog, copyLeaves, readLeaves } from './rows/copy-leaves.ts';
import { MOVED_TO } from './rows/head.ts';
import { openLedgerFile } from './rows/ledger-databases.ts';
import type { LedgerTables } from './rows/ledger-tables.ts';
import { directoryOptions } from './signed-ledger.ts';

export interface ReturnOptions extends Omit<DirectoryOptions, 'keys'> {
  /** The data directory, with the newest keys folder of the nodes. */
  readonly directory: string;
  readonly from: LedgerTables;
  readonly now: () => Date;
}

/**
 * Copies the leaves that the directory does not have, verifies all of them, closes the log in the database, and keeps the receipt
 * keys of all nodes. Rejects with LogError: `wrong-key` if the keys are not the newest, `not-moved` if the directory holds an open
 * log or a node still appends to the database, `moved` if the log was moved to another directory, or an error of `copyLeaves`.
 *
 * Crash safety: until the database is closed, the leaves are in a file that no service opens as a log. Afterwards a second run adds
 * nothing, and gives the file its name.
 */
export async function returnLedger({ from, now, ...options }: ReturnOptions): Promise<CopiedLog> {
  const { directory: data, origin } = options;
  const { checkpoints, receipts } = await openKeyrings(data, now, () =>
    refuseWithoutKeys({ directory: data, origin }, from.log),
  );
  const { directory, keys } = directoryOptions(options, checkpoints);
  await makeDirectory(directory);
  using _lock = lockLog(directory);
  if (isLedgerDirectory(directory))
    throw new LogError('not-moved', `${directory} holds a log: nothing is moved to a directory that has one`);
  const head = await from.log.head();
  if (!head) throw new LogError('io', 'there is no log in the database');
  const closed = `${MOVED_TO}${path.resolve(directory)}`;
  if (head.origin !== closed && head.origin.startsWith(MOVED_TO))
    throw new LogError('moved', `the log of this database has ${head.origin}`);

  const texts = { origin, texts: await from.keys.all() };
  const ledger = await publishedLedgerKeys(checkpoints.keys, texts);
  const published = { receipts: await publishedReceiptKeys(ledger, texts), ledger };
  const own: readonly string[] = [receipts.signer.keyId, checkpoints.signer.keyId];
  const retired = [...published.receipts, ...ledger].find(
    ({ kid, status }) => status === 'retired' && own.includes(kid),
  );
  if (retired)
    throw new LogError('wrong-key', `the key ${retired.kid} was retired by a rotation: copy the newest keys folder`);

  await using stack = new AsyncDisposableStack();
  const { log: table } = stack.use(await openLedgerFile(movedRowsIn(directory)));
  const notes = [...(await savedNotes({ ...options, directory, keys })), head.note];
  const copied = await copyLeaves({ ...options, keys, table, notes, leaves: readLeaves(from.log, head) });
  // Before the closing: keys that cannot be written leave the database open.
  await restoreKeys(data, { published, now: now() });
  if (!(await from.log.close(head, closed)))
    throw new LogError('not-moved', 'the log in the database grew while it was copied: stop every node first');
  // Closing the last connection writes everything to the file and removes its log.
  await stack.disposeAsync();
  await rename(movedRowsIn(directory), rowsIn(directory));
  await syncDirectory(directory);
  return copied;
}
