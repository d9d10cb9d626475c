// The log of a database as one stream of leaves, for backups, and an empty one filled with them.
import { leafHash } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import { CheckedLeaves, type LeafBatches } from '../publication/log-copy.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import { type CheckOptions, checkSharedLog, type SharedLogReport } from './check-shared-log.ts';
import { type CheckpointKeys, checkHead, signedHead } from './shared-head.ts';
import type { Grow, SharedHead, SharedPlace } from './shared-place.ts';

/** Some hundred kilobytes, of leaves as receipts make them. */
const LEAVES_AT_ONCE = 1_024;

/** The leaves under a head, which others may append behind meanwhile. Rejects with LogError `lost-leaves` where some are missing. */
export async function* readSharedLeaves({ rows }: Pick<SharedPlace, 'rows'>, { size }: SharedHead): LeafBatches {
  for (let next = 0; next < size; ) {
    const count = Math.min(LEAVES_AT_ONCE, size - next);
    const leaves = await rows.leaves(next, count);
    if (leaves.length !== count)
      throw new LogError('lost-leaves', `the database lacks some of the ${count} leaves from ${next} on`);
    yield leaves;
    next += count;
  }
}

export interface FillOptions extends CheckOptions {
  readonly keys: CheckpointKeys;
  readonly place: SharedPlace;
  readonly leaves: LeafBatches;
  /** A signed checkpoint that the leaves must lead to, under whatever name. */
  readonly note: string | undefined;
}

/**
 * Writes leaves to a database whose log has none, under a checkpoint over them all by the current key, then reads everything again
 * and checks it. Rejects with LogError: `forked` where there are leaves, what `CheckedLeaves` and `checkSharedLog` reject with. All of it
 * comes with the commit of a turn; where place is part of a transaction, with that one's.
 */
export async function fillSharedLog(options: FillOptions): Promise<SharedLogReport> {
  const { origin, keys, place, leaves, note, signal } = options;
  const checked = new CheckedLeaves(note);
  await place.turns.begin(signedHead(origin, TreeEdge.empty, keys.signer));
  await place.turns.inTurn(async (head, grow) => {
    let edge = await checkHead(head, origin, keys);
    if (edge.size > 0) throw new LogError('forked', `the database holds ${edge.size} leaves already`);
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

/** Writes leaves behind an edge within a turn; answers the edge then. Rejects with LogError `forked` where the head is another one. */
export async function growBy(batch: readonly Uint8Array[], { edge, grow, origin, keys }: GrowBy): Promise<TreeEdge> {
  const leaves = batch.map((leaf) => ({ hash: leafHash(leaf), leaf }));
  const { edge: grown, sealed } = edge.grow(leaves.map(({ hash }) => hash));
  const from = { size: edge.size, root: edge.root() };
  if (!(await grow({ from, leaves, subtrees: sealed, head: signedHead(origin, grown, keys.signer) })))
    throw new LogError('forked', `the database took other leaves behind the first ${edge.size}`);
  return grown;
}
