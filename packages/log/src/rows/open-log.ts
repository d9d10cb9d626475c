// Opens the log of a database: verifies its head, its edge, and its consistency with what this node has published.
import { removeLeftOvers } from '@strata/files';
import { equalBytes, treeRoot } from '@strata/receipts';
import { readCheckpointFile, type SavedCheckpoint, savedCheckpointOf } from '../files/checkpoint-file.ts';
import { LogError, otherOriginText } from '../log-error.ts';
import { hashesOf } from '../publication/published-tree.ts';
import { DatabaseLog, type OpenLogOptions } from './database-log.ts';
import { checkHead, signedHead } from './head.ts';
import type { LedgerHead, LedgerTable } from './ledger-tables.ts';
import { RowTree } from './row-tree.ts';
import { TreeEdge } from './tree-edge.ts';

/**
 * Opens the log of a database, creating an empty one if needed. Rejects with LogError (`wrong-origin`, `wrong-key`,
 * `corrupt-checkpoint`, `corrupt-tile`, `lost-leaves`, `forked`), or with the error of the database.
 */
export async function openLog(options: OpenLogOptions): Promise<DatabaseLog> {
  const { origin, keys, table, checkpointFile } = options;
  const saved = await readOwnSaved(options);
  const isPublished = saved.some(({ checkpoint }) => checkpoint.size > 0);
  const head =
    (await table.head()) ??
    (isPublished ? undefined : await table.begin(signedHead(origin, TreeEdge.empty, keys.signer)));
  const tree = new RowTree(table);
  refuseShorter(head, saved);
  await checkHead(head, origin, keys);
  if (!equalBytes(await treeRoot(hashesOf(tree, head.size), head.size), head.root)) {
    throw new LogError('corrupt-tile', 'the hashes in the database do not match the root of the log');
  }
  await refuseOther(tree, saved);
  if (checkpointFile !== undefined) await removeLeftOvers(checkpointFile);
  return new DatabaseLog(options, tree, head);
}

/** A checkpoint that was published, and where it was saved. */
export interface Published {
  readonly where: string;
  readonly note: string;
  readonly checkpoint: NonNullable<SavedCheckpoint['checkpoint']>;
}

/** The saved checkpoints; the log may be ahead of them. Rejects with LogError `corrupt-checkpoint` if one cannot be read. */
async function readSaved({
  checkpointFile,
  checkpointCopy,
}: Pick<OpenLogOptions, 'checkpointFile' | 'checkpointCopy'>): Promise<readonly Published[]> {
  const found: readonly (readonly [string, SavedCheckpoint | undefined])[] = [
    [checkpointFile ?? '', checkpointFile === undefined ? undefined : await readCheckpointFile(checkpointFile)],
    ['the checkpoint in the store', savedCheckpointOf((await checkpointCopy?.read()) ?? '')],
  ];
  return found.flatMap(([where, saved]) => {
    if (!saved) return [];
    if (saved.checkpoint) return [{ where, note: saved.note, checkpoint: saved.checkpoint }];
    throw new LogError('corrupt-checkpoint', `${where} is not a checkpoint`);
  });
}

/** The saved checkpoints of this log. Rejects with LogError `wrong-origin` for one of another log, and as `readSaved`. */
export async function readOwnSaved(
  options: Pick<OpenLogOptions, 'origin' | 'checkpointFile' | 'checkpointCopy'>,
): Promise<readonly Published[]> {
  const { origin } = options;
  const saved = await readSaved(options);
  for (const { where, checkpoint } of saved) {
    if (checkpoint.origin !== origin)
      throw new LogError('wrong-origin', otherOriginText(where, checkpoint.origin, origin));
  }
  return saved;
}

/** Verifies that a log extends what was published of it; other processes may append concurrently. Rejects with LogError. */
export async function checkPublished(
  table: LedgerTable,
  copies: Pick<OpenLogOptions, 'checkpointFile' | 'checkpointCopy'>,
): Promise<void> {
  const saved = await readSaved(copies);
  if (saved.length === 0) return;
  refuseShorter(await table.head(), saved);
  await refuseOther(new RowTree(table), saved);
}

/** Throws LogError `lost-leaves` if fewer leaves are stored than were published. */
function refuseShorter(head: LedgerHead | undefined, saved: readonly Published[]): asserts head is LedgerHead {
  const published = Math.max(0, ...saved.map(({ checkpoint }) => checkpoint.size));
  if (head && head.size >= published) return;
  throw new LogError(
    'lost-leaves',
    `the database has ${head?.size ?? 0} leaves of the log, but ${published} were published: restore a newer backup`,
  );
}

/** Rejects with LogError `forked` if a published tree is not a prefix of the stored one, which is not shorter. */
async function refuseOther(tree: RowTree, saved: readonly Published[]): Promise<void> {
  for (const { where, checkpoint } of saved) {
    if (equalBytes(await treeRoot(hashesOf(tree, checkpoint.size), checkpoint.size), checkpoint.root)) continue;
    throw new LogError('forked', `the tree of ${checkpoint.size} leaves in the database differs from ${where}`);
  }
}
