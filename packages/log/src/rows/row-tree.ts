// Tiles and leaves of a log in a database, through a small cache: tiles only grow, so cached hashes stay valid.
import { encodeEntries, HASH_BYTES, TILE_WIDTH, TileNodes } from '@strata/receipts';
import { LogError } from '../log-error.ts';
import type { TreeSource } from '../publication/published-tree.ts';
import { TileCache } from '../publication/tile-cache.ts';
import type { LedgerTable } from './ledger-tables.ts';
import { sha256 } from './tree-edge.ts';

/** Committed leaves, and the hashes above them. */
export type TreeRows = Pick<LedgerTable, 'hashes' | 'leaves'>;

export class RowTree implements TreeSource {
  readonly #rows: TreeRows;
  readonly #cache = new TileCache();

  constructor(rows: TreeRows) {
    this.#rows = rows;
  }

  async nodes(level: number, index: number, width: number): Promise<TileNodes> {
    const name = `${level}/${index}`;
    const tile = this.#cache.get(name) ?? new TileNodes(sha256);
    const known = tile.count;
    if (known >= width) return tile;
    const added = await this.#rows.hashes(level, index * TILE_WIDTH + known, TILE_WIDTH - known);
    const count = known + added.length / HASH_BYTES;
    if (count < width) throw new LogError('corrupt-tile', `tile ${name} has ${count} of ${width} hashes`);
    // A concurrent call may have added some of them.
    for (let at = tile.count; at < count; at++) {
      tile.push(added.subarray((at - known) * HASH_BYTES, (at - known + 1) * HASH_BYTES));
    }
    this.#cache.put(name, tile);
    return tile;
  }

  async bundle(index: number, width: number): Promise<Uint8Array> {
    const leaves = await this.#rows.leaves(index * TILE_WIDTH, width);
    if (leaves.length !== width)
      throw new LogError('corrupt-tile', `entry bundle ${index} does not hold ${width} entries`);
    return encodeEntries(leaves);
  }

  async leaf(index: number): Promise<Uint8Array> {
    const [leaf] = await this.#rows.leaves(index, 1);
    if (!leaf) throw new LogError('corrupt-tile', `leaf ${index} is missing`);
    return leaf;
  }

  forget(): void {
    this.#cache.clear();
  }
}
