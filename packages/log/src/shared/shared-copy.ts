// Exports the log of a database as a stream of leaves, for backups, and imports it into an empty one.
import { leafHash } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import { CheckedLeaves, type LeafBatches } from '../publication/log-copy.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import { type CheckOptions, checkSharedLog, type SharedLogReport } from './check-shared-log.ts';
import { type CheckpointKeys, checkHead, signedHead } from './shared-head.ts';
import type { Grow, SharedHead, SharedStorage } from './shared-storage.ts';

/** Some hundred kilobytes for typical receipts. */
const LEAF_PAGE = 1_024;

/** The leaves of a head; other processes may append concurrently. Rejects with LogError `lost-leaves` if leaves are missing. */
export async function* readSharedLeaves({ rows }: Pick<SharedStorage, 'rows'>, { size }: SharedHead): LeafBatches {
  for (let next = 0; next < size; ) {
    const count = Math.min(LEAF_PAGE, size - next);
    const leaves = await rows.leaves(next, count);
    if (leaves.length !== count)
      throw new LogError('lost-leaves', `the database lacks some of the ${count} leaves from ${next} on`);
    yield leaves;
    next += count;
  }
}

export interface FillOptions extends CheckOptions {
  readonly keys: CheckpointKeys;
  readonly storage: SharedStorage;
  readonly leaves: LeafBatches;
  /** A signed checkpoint that the leaves must match, under any origin. */
  readonly note: string | undefined;
}

/**
 * Writes leaves to an empty log in a database, with a checkpoint over all of them by the current key, then reads everything back
 * and verifies it. Rejects with LogError: `forked` if the log is not empty, or an error of `CheckedLeaves` or `checkSharedLog`. All
 * rows are committed together, or with the transaction that `storage` belongs to.
 */
export async function fillSharedLog(options: FillOptions): Promise<SharedLogReport> {
  const { origin, keys, storage, leaves, note, signal } = options;
  const checked = new CheckedLeaves(note);
  await storage.heads.begin(signedHead(origin, TreeEdge.empty, keys.signer));
  await storage.heads.withHead(async (head, grow) => {
    let edge = await checkHead(head, origin, keys);
    if (edge.size > 0) throw new LogError('forked', `the database already has ${edge.size} leaves`);
    for await (const batch of checked.through(leaves)) {
      signal?.throwIfAborted();
      edge = await growBy(batch, { edge, grow, origin, keys });
    }
  });
  return checkSharedLog(options);
}

export interface GrowBy {
  readonly edge: TreeEdge;
  readonly grow: Grow;
  readonly origin: string;
  readonly keys: Pick<CheckpointKeys, 'signer'>;
}

/** Appends leaves to an edge under the head lock; returns the new edge. Rejects with LogError `forked` if the head has moved. */
export async function growBy(batch: readonly Uint8Array[], { edge, grow, origin, keys }: GrowBy): Promise<TreeEdge> {
  const leaves = batch.map((leaf) => ({ hash: leafHash(leaf), leaf }));
  const { edge: grown, sealed } = edge.grow(leaves.map(({ hash }) => hash));
  const from = { size: edge.size, root: edge.root() };
  if (!(await grow({ from, leaves, subtrees: sealed, head: signedHead(origin, grown, keys.signer) })))
    throw new LogError('forked', `the database has other leaves after the first ${edge.size}`);
  return grown;
}
