// Reads a log as a client does: by resource path, without trust in any of them.
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
import { TileCache } from './tile-cache.ts';

/** Reads a resource by its path below the log's prefix; undefined if it does not exist. */
export type ReadPath = (path: string) => Promise<Uint8Array | undefined>;

/** A hash tile of the right length. Rejects with LogError: `corrupt-tile`, or `io` if it is not served. */
async function servedTile(read: ReadPath, address: TileAddress): Promise<TileNodes> {
  const bytes = await readOrCut(read, address, (full) => full.subarray(0, address.width * HASH_BYTES));
  if (bytes.length === address.width * HASH_BYTES) return TileNodes.of(bytes);
  throw new LogError('corrupt-tile', `${tilePath(address)} has ${bytes.length} bytes`);
}

/** The bytes and the leaves of a bundle. Rejects with LogError: `corrupt-tile`, or `io` if it is not served. */
export async function servedEntries(read: ReadPath, address: TileAddress): Promise<[Uint8Array, Uint8Array[]]> {
  const bytes = await readOrCut(read, address, (full) =>
    encodeEntries((decodeEntries(full) ?? []).slice(0, address.width)),
  );
  const entries = decodeEntries(bytes);
  if (entries?.length === address.width) return [bytes, entries];
  throw new LogError('corrupt-tile', `${tilePath(address)} does not have ${address.width} entries`);
}

/** c2sp.org/tlog-tiles: a log may serve only the full tile once it exists. */
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
 * Hash tiles of the tree of the first `size` leaves. A full tile is verified against the hash above it when read; partial tiles are
 * verified by `checkRoot`, after which everything read belongs to the tree with that root.
 */
export class ServedTiles {
  readonly #read: ReadPath;
  readonly #size: number;
  /** At most one for each level. */
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
      throw new LogError('corrupt-tile', `${name} does not match the hash above it`);
    this.#full.put(name, tile);
    return tile;
  }

  async checkRoot(root: Uint8Array): Promise<void> {
    if (equalBytes(await treeRoot(this.hashes, this.#size), root)) return;
    throw new LogError('corrupt-tile', `the tiles do not match the root of the ${this.#size} leaves`);
  }
}
