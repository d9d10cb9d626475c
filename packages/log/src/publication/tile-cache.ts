// An LRU cache of tiles with their inner nodes.
import type { TileNodes } from '@strata/receipts';

/** Tiles with their inner nodes are 16 KiB each: 4 MiB. */
const CACHED_TILES = 256;

export class TileCache {
  /** Most recently used last. */
  readonly #tiles = new Map<string, TileNodes>();

  get(name: string): TileNodes | undefined {
    return this.#tiles.get(name);
  }

  put(name: string, tile: TileNodes): void {
    this.#tiles.delete(name);
    this.#tiles.set(name, tile);
    if (this.#tiles.size <= CACHED_TILES) return;
    for (const oldest of this.#tiles.keys()) {
      this.#tiles.delete(oldest);
      return;
    }
  }

  clear(): void {
    this.#tiles.clear();
  }
}
