// Checks whether a ledger is consistent with a known checkpoint, from the tiles that it serves (c2sp.org/tlog-tiles).
import type { Checkpoint } from '../notes/checkpoint.ts';
import { equalBytes, HASH_BYTES, verifyConsistency } from '../tree/merkle.ts';
import { consistencyProof, type HashReader, treeRoot } from '../tree/proof.ts';
import { TILE_WIDTH, tilePath, tileWidth } from '../tree/tile.ts';
import { TileNodes, tileHashReader } from '../tree/tile-nodes.ts';

/**
 * `fork`: the served tree is not an extension of the known one, which its own tiles prove. `rollback`: it has fewer leaves.
 * `unproved`: tiles are missing, or do not match the served tree.
 */
export type Consistency = 'ok' | 'fork' | 'rollback' | 'unproved';

/** Bytes at a path below the ledger's prefix, or undefined if it is not served. */
export type FetchTile = (path: string) => Promise<Uint8Array | undefined>;

/** Compares two checkpoints of one origin. Rejects only if `fetchTile` rejects. */
export async function checkConsistency(
  known: Checkpoint,
  shown: Checkpoint,
  fetchTile: FetchTile,
): Promise<Consistency> {
  if (shown.size < known.size) return 'rollback';
  if (shown.size === known.size) return equalBytes(shown.root, known.root) ? 'ok' : 'fork';
  try {
    const read = servedHashes(shown.size, fetchTile);
    const proof = await consistencyProof(read, known.size, shown.size);
    const claim = { oldSize: known.size, newSize: shown.size, newRoot: shown.root, proof };
    if (verifyConsistency({ ...claim, oldRoot: known.root })) return 'ok';
    const oldRoot = await treeRoot(read, known.size);
    return verifyConsistency({ ...claim, oldRoot }) ? 'fork' : 'unproved';
  } catch (error) {
    if (error instanceof MissingTileError) return 'unproved';
    throw error;
  }
}

class MissingTileError extends Error {
  override readonly name = 'MissingTileError';
}

/** Subtree hashes of the tree of `size` leaves; each tile is fetched once. */
function servedHashes(size: number, fetchTile: FetchTile): HashReader {
  const tiles = new Map<string, Promise<TileNodes>>();
  return tileHashReader((level, index) => {
    const width = tileWidth(size, level, index);
    const path = tilePath({ level, index, width });
    const tile = tiles.get(path) ?? fetchNodes(width, [path, tilePath({ level, index, width: TILE_WIDTH })], fetchTile);
    tiles.set(path, tile);
    return tile;
  });
}

/** A log may delete a partial tile once it has the full one. */
async function fetchNodes(width: number, paths: readonly string[], fetchTile: FetchTile): Promise<TileNodes> {
  for (const path of new Set(paths)) {
    const bytes = await fetchTile(path);
    const isWide = bytes && bytes.length >= width * HASH_BYTES;
    if (isWide) return TileNodes.of(bytes.subarray(0, width * HASH_BYTES));
  }
  throw new MissingTileError(paths[0]);
}
