// Reads the leaves of a database as a stream, for backups and moves, and appends such a stream to another one.
import { equalBytes, leafHash } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import { CheckedLeaves, type LeafBatches } from '../publication/leaf-stream.ts';
import { type CheckOptions, checkLog, type LogReport } from './check-log.ts';
import { addedLeaves, type CheckpointKeys, checkHead, growHead, signedHead } from './head.ts';
import type { LedgerHead, LedgerTable } from './ledger-tables.ts';
import { TreeEdge } from './tree-edge.ts';

/** Some hundred kilobytes for typical receipts. */
const LEAF_PAGE = 1_024;

/** The leaves of a head; other processes may append concurrently. Rejects with LogError `lost-leaves` if leaves are missing. */
export async function* readLeaves(table: Pick<LedgerTable, 'leaves'>, { size }: Pick<LedgerHead, 'size'>): LeafBatches {
  for (let next = 0; next < size; ) {
    const count = Math.min(LEAF_PAGE, size - next);
    const leaves = await table.leaves(next, count);
    if (leaves.length !== count)
      throw new LogError('lost-leaves', `the database lacks some of the ${count} leaves from ${next} on`);
    yield leaves;
    next += count;
  }
}

export interface CopyOptions extends Omit<CheckOptions, 'table' | 'onProgress'> {
  readonly keys: CheckpointKeys;
  readonly table: LedgerTable;
  /** All leaves of a log, from the first on. */
  readonly leaves: LeafBatches;
  /** Signed checkpoints that the leaves must match, under any origin. */
  readonly notes: readonly string[];
  /** Reports the leaves written so far, then the leaves checked. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyProgress {
  readonly leaves: number;
  readonly isChecking: boolean;
}

export interface CopiedLog extends LogReport {
  /** Leaves added to the database. */
  readonly added: number;
}

/**
 * Appends the leaves that the database does not have, with a checkpoint over all of them by the current key, then reads everything back
 * and verifies it. Rejects with LogError: `forked` if what the database has is not a prefix of the leaves, or an error of
 * `CheckedLeaves` or `checkLog`. All rows are committed together, or with the transaction that `table` belongs to.
 */
export async function copyLeaves(options: CopyOptions): Promise<CopiedLog> {
  const { origin, keys, table, notes, onProgress, signal } = options;
  let leaves = options.leaves;
  for (const note of notes) leaves = new CheckedLeaves(note).through(leaves);
  await table.begin(signedHead(origin, TreeEdge.empty, keys.signer));
  const added = await table.withHead(async (head, grow) => {
    let edge = await checkHead(head, origin, keys);
    for await (const batch of afterPrefix(leaves, head)) {
      signal?.throwIfAborted();
      ({ edge } = await growHead(addedLeaves(batch), { edge, grow, origin, keys }));
      onProgress?.({ leaves: edge.size, isChecking: false });
    }
    return edge.size - head.size;
  });
  const report = await checkLog({
    ...{ origin, keys, table, signal },
    onProgress: (leaves) => onProgress?.({ leaves, isChecking: true }),
  });
  return { ...report, added };
}

/** The leaves after those of a head. Rejects with LogError `forked` if the first leaves are not those of the head. */
async function* afterPrefix(batches: LeafBatches, { size, root }: LedgerHead): LeafBatches {
  let edge = TreeEdge.empty;
  const isPrefix = () => edge.size === size && equalBytes(edge.root(), root);
  for await (const batch of batches) {
    const known = batch.slice(0, size - edge.size);
    edge = edge.grow(known.map((leaf) => leafHash(leaf))).edge;
    if (edge.size === size && !isPrefix()) break;
    if (known.length < batch.length) yield batch.slice(known.length);
  }
  if (!isPrefix()) throw new LogError('forked', `the ${size} leaves in the database are not a prefix of the log`);
}
