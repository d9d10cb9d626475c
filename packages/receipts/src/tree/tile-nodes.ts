// A tile with its inner nodes: hashes are appended one by one, and complete subtrees can be read.
import { HASH_BYTES, nodeHash } from './merkle.ts';
import type { HashReader } from './proof.ts';
import { TILE_HEIGHT, TILE_WIDTH } from './tile.ts';

/** Nodes of heights 0 to 8: 256 + 128 + … + 1. */
const NODES = 2 * TILE_WIDTH - 1;

/** A tile being filled. Returned hashes are views, which never change once written. */
export class TileNodes {
  readonly #nodes = new Uint8Array(NODES * HASH_BYTES);
  readonly #digest: ((bytes: Uint8Array) => Uint8Array) | undefined;
  #count = 0;

  /** `digest`: the platform's SHA-256, which takes half the time of the JavaScript one. */
  constructor(digest?: (bytes: Uint8Array) => Uint8Array) {
    this.#digest = digest;
  }

  /** A tile of stored hashes, 256 or fewer. Throws RangeError for a wrong length. */
  static of(hashes: Uint8Array): TileNodes {
    if (hashes.length % HASH_BYTES !== 0 || hashes.length > TILE_WIDTH * HASH_BYTES) {
      throw new RangeError(`${hashes.length} bytes are not a tile`);
    }
    const tile = new TileNodes();
    for (let at = 0; at < hashes.length; at += HASH_BYTES) tile.push(hashes.subarray(at, at + HASH_BYTES));
    return tile;
  }

  /** Number of hashes at the bottom of the tile. */
  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count === TILE_WIDTH;
  }

  /** Appends a hash, and every inner node that it completes. */
  push(hash: Uint8Array): void {
    if (this.isFull) throw new RangeError('the tile is full');
    let index = this.#count++;
    let height = 0;
    this.#nodes.set(hash, offset(height, index));
    while (index % 2 === 1) {
      const parent = nodeHash(this.node(height, index - 1), this.node(height, index), this.#digest);
      index = (index - 1) / 2;
      height++;
      this.#nodes.set(parent, offset(height, index));
    }
  }

  /** Node at a height inside the tile (0 is the bottom, 8 the root). Throws RangeError if it is not complete. */
  node(height: number, index: number): Uint8Array {
    if (height > TILE_HEIGHT || (index + 1) * 2 ** height > this.#count) {
      throw new RangeError(`node ${height}/${index} is not in a tile of ${this.#count}`);
    }
    const at = offset(height, index);
    return this.#nodes.subarray(at, at + HASH_BYTES);
  }

  /** The first `width` hashes, as the tile is stored and served. */
  hashes(width: number = this.#count): Uint8Array {
    return this.#nodes.subarray(0, width * HASH_BYTES);
  }
}

/** A reader of subtree hashes from tiles; a returned tile may be wider than needed. */
export function tileHashReader(readTile: (level: number, index: number) => TileNodes | Promise<TileNodes>): HashReader {
  return async (level, index) => {
    const tileLevel = Math.floor(level / TILE_HEIGHT);
    const height = level % TILE_HEIGHT;
    const perTile = TILE_WIDTH / 2 ** height;
    const tile = await readTile(tileLevel, Math.floor(index / perTile));
    return tile.node(height, index % perTile);
  };
}

/** Byte offset of a node: the heights below it have 2^9 - 2^(9-height) nodes. */
function offset(height: number, index: number): number {
  return (2 * TILE_WIDTH - 2 ** (TILE_HEIGHT + 1 - height) + index) * HASH_BYTES;
}
