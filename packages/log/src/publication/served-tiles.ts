// A log as anyone reads it, who has its resources by their paths and trusts none of them yet.
import {
  decodeEntries,
  encodeEntries,
  equalBytes,
  HASH_BYTES,
  type HashReader,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileAddress,
  TileNodes,
  tileHashReader,
  tilePath,
  tileWidth,
  treeRoot,
} from '@strata/receipts';
import { LogError } from '../log-error.ts';
import { TileCache } from '../tree/tile-cache.ts';

/** A resource by its path below the log's prefix; undefined where the log has none. */
export type ReadPath = (path: string) => Promise<Uint8Array | undefined>;

/** A tile of hashes, of the right length. Rejects with LogError: `corrupt-tile`, or `io` where it is not served. */
async function servedTile(read: ReadPath, address: TileAddress): Promise<TileNodes> {
  const bytes = await readOrCut(read, address, (full) => full.subarray(0, address.width * HASH_BYTES));
  if (bytes.length === address.width * HASH_BYTES) return TileNodes.of(bytes);
  throw new LogError('corrupt-tile', `${tilePath(address)} is served with ${bytes.length} bytes`);
}

/** The leaves of a bundle, and the bytes that it is served as. Rejects with LogError: `corrupt-tile`, or `io` where it is not served. */
export async function servedEntries(read: ReadPath, address: TileAddress): Promise<[Uint8Array, Uint8Array[]]> {
  const bytes = await readOrCut(read, address, (full) =>
    encodeEntries((decodeEntries(full) ?? []).slice(0, address.width)),
  );
  const entries = decodeEntries(bytes);
  if (entries?.length === address.width) return [bytes, entries];
  throw new LogError('corrupt-tile', `${tilePath(address)} is served without its ${address.width} entries`);
}

/** c2sp.org/tlog-tiles: a log may serve a full tile alone once the tree has it. */
async function readOrCut(
  read: ReadPath,
  address: TileAddress,
  cut: (full: Uint8Array) => Uint8Array,
): Promise<Uint8Array> {
  const bytes = await read(tilePath(address));
  if (bytes) return bytes;
  const full = address.width < TILE_WIDTH ? await read(tilePath({ ...address, width: TILE_WIDTH })) : undefined;
  if (full) return cut(full);
  throw new LogError('io', `${tilePath(address)} is not served`);
}

/**
 * Tiles of hashes of the tree of the first `size` leaves. Each full one is checked against the hash above it; what is partial, up to
 * the root, by `checkRoot`: after that, all that is read is of the tree with that root.
 */
export class ServedTiles {
  readonly #read: ReadPath;
  readonly #size: number;
  /** At most one a level. */
  readonly #partial = new Map<string, Promise<TileNodes>>();
  readonly #full = new TileCache();
  readonly hashes: HashReader = tileHashReader((level, index) => this.tile(level, index));

  constructor(read: ReadPath, size: number) {
    this.#read = read;
    this.#size = size;
  }

  async tile(level: number, index: number): Promise<TileNodes> {
    const address = { level, index, width: tileWidth(this.#size, level, index) };
    const name = tilePath(address);
    if (address.width < TILE_WIDTH) {
      const tile = this.#partial.get(name) ?? servedTile(this.#read, address);
      this.#partial.set(name, tile);
      return tile;
    }
    const tile = this.#full.get(name) ?? (await servedTile(this.#read, address));
    const above = await this.hashes((level + 1) * TILE_HEIGHT, index);
    if (!equalBytes(tile.node(TILE_HEIGHT, 0), above))
      throw new LogError('corrupt-tile', `${name} does not lead to the hash above it`);
    this.#full.put(name, tile);
    return tile;
  }

  async checkRoot(root: Uint8Array): Promise<void> {
    if (equalBytes(await treeRoot(this.hashes, this.#size), root)) return;
    throw new LogError('corrupt-tile', `the tiles do not lead to the root of the ${this.#size} leaves`);
  }
}
