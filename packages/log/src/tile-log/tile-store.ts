// Full tiles: written once, durable before their leaves are dropped from the journal, read through a small cache.

import path from 'node:path';
import { decodeEntries, FULL_TILE_BYTES, TILE_WIDTH, type TileAddress, TileNodes, tilePath } from '@strata/receipts';
import { makeDirectory, readIfPresent, replaceFile, syncDirectory } from '../files/durable-file.ts';
import { LogError, logErrorFrom } from '../log-error.ts';
import type { SealedTile } from '../tree/growing-tree.ts';
import { TileCache } from '../tree/tile-cache.ts';

/** Concurrent writes: half of Node's default thread pool, so that the journal is not delayed. */
const PARALLEL_WRITES = 2;

export class TileStore {
  readonly #directory: string;
  /** Full tiles that are not durable yet, by path. */
  readonly #pending = new Map<string, SealedTile>();
  readonly #cache = new TileCache();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Tiles in memory only. */
  get pendingTiles(): number {
    return this.#pending.size;
  }

  /** Adds a full tile, which is served from memory until `flush` has made it durable. */
  seal(tile: SealedTile): void {
    const name = tilePath(tile.address);
    this.#pending.set(name, tile);
    if (tile.nodes) this.#cache.put(name, tile.nodes);
  }

  /** Makes all added tiles durable. After a failure they remain in memory, and it can be called again. */
  async flush(): Promise<void> {
    const batch = [...this.#pending];
    try {
      const folders = new Set(batch.map(([name]) => path.dirname(path.join(this.#directory, name))));
      for (const folder of folders) await makeDirectory(folder);
      const queue = batch.values();
      const write = async (): Promise<void> => {
        for (const [name, tile] of queue) {
          await replaceFile(path.join(this.#directory, name), tile.bytes, { isSynced: true });
        }
      };
      await Promise.all(Array.from({ length: PARALLEL_WRITES }, write));
      for (const folder of folders) await syncDirectory(folder);
    } catch (cause) {
      throw logErrorFrom(cause, 'write tiles');
    }
    for (const [name] of batch) this.#pending.delete(name);
  }

  /** Bytes of a full tile or bundle. Throws LogError `corrupt-tile` if it is missing or has a wrong length. */
  async bytes(level: TileAddress['level'], index: number): Promise<Uint8Array> {
    const name = tilePath({ level, index, width: TILE_WIDTH });
    const pending = this.#pending.get(name);
    if (pending) return pending.bytes;
    const file = path.join(this.#directory, name);
    let bytes: Uint8Array | undefined;
    try {
      bytes = await readIfPresent(file);
    } catch (cause) {
      throw logErrorFrom(cause, `read ${file}`);
    }
    if (!bytes) throw new LogError('corrupt-tile', `${file} is missing`);
    if (level !== 'entries' && bytes.length !== FULL_TILE_BYTES) {
      throw new LogError('corrupt-tile', `${file} has ${bytes.length} bytes, not ${FULL_TILE_BYTES}`);
    }
    return bytes;
  }

  /** A full hash tile with its inner nodes. */
  async nodes(level: number, index: number): Promise<TileNodes> {
    const name = tilePath({ level, index, width: TILE_WIDTH });
    const nodes = this.#cache.get(name) ?? TileNodes.of(await this.bytes(level, index));
    this.#cache.put(name, nodes);
    return nodes;
  }

  /** Clears the cache. */
  forget(): void {
    this.#cache.clear();
  }

  /** The 256 entries of a full bundle. */
  async entries(index: number): Promise<Uint8Array[]> {
    const entries = decodeEntries(await this.bytes('entries', index));
    if (entries?.length === TILE_WIDTH) return entries;
    throw new LogError('corrupt-tile', `entry bundle ${index} does not hold ${TILE_WIDTH} entries`);
  }
}
