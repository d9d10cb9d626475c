// Reads a complete log from a database and verifies it.
import { equalBytes, HASH_BYTES, LEDGER_ID_BYTES, leafHash, TILE_WIDTH, tilePath } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import { type CheckpointKeys, checkHead } from './head.ts';
import type { LedgerTable } from './ledger-tables.ts';
import { TreeEdge } from './tree-edge.ts';

export interface LogReport {
  readonly size: number;
  readonly root: Uint8Array;
}

export interface CheckOptions {
  readonly origin: string;
  readonly keys: Pick<CheckpointKeys, 'publicKeys'>;
  readonly table: Pick<LedgerTable, 'head' | 'hashes' | 'leaves' | 'find'>;
  /** Reports the number of leaves checked so far. */
  readonly onProgress?: (leaves: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Verifies every leaf, hash, subtree and the checkpoint, and the look-up of each 256th leaf by its id. Other processes may append
 * concurrently. Rejects with LogError for the first inconsistency.
 */
export async function checkLog({ origin, keys, table, onProgress, signal }: CheckOptions): Promise<LogReport> {
  const head = await table.head();
  if (!head) throw new LogError('lost-leaves', 'the database has no log');
  await checkHead(head, origin, keys);
  let edge = TreeEdge.empty;
  while (edge.size < head.size) {
    signal?.throwIfAborted();
    const from = edge.size;
    const width = Math.min(TILE_WIDTH, head.size - from);
    const hashes = (await table.leaves(from, width)).map((leaf) => leafHash(leaf));
    if (hashes.length !== width) throw new LogError('lost-leaves', `leaves from ${from} on are missing`);
    if (!equalBytes(Buffer.concat(hashes), await table.hashes(0, from, width))) {
      const tile = tilePath({ level: 0, index: from / TILE_WIDTH, width });
      throw new LogError('corrupt-tile', `${tile}: the hashes from leaf ${from} on do not match the leaves`);
    }
    const found = await table.find((hashes[0] ?? new Uint8Array(HASH_BYTES)).subarray(0, LEDGER_ID_BYTES));
    if (found === undefined || found > from) throw new LogError('corrupt-tile', `leaf ${from} is not found by its id`);
    const { edge: grown, sealed } = edge.grow(hashes);
    for (const { level, index, hash } of sealed) {
      if (!equalBytes(hash, await table.hashes(level, index, 1))) {
        throw new LogError('corrupt-tile', `the hash of subtree ${level}/${index} does not match its leaves`);
      }
    }
    edge = grown;
    onProgress?.(edge.size);
  }
  if (!equalBytes(edge.root(), head.root)) {
    throw new LogError('corrupt-checkpoint', `the root of ${head.size} leaves differs from the checkpoint`);
  }
  return { size: head.size, root: head.root };
}
