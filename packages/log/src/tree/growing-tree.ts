// The right edge of the tree in memory: appends leaves, returns tiles as they become full, and computes the root.
import {
  EMPTY_ROOT,
  encodeEntries,
  foldHashes,
  hashesAtLevel,
  leafHash,
  perfectSubtrees,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileAddress,
  TileNodes,
} from '@strata/receipts';

/** A full tile or entry bundle, which never changes. */
export interface SealedTile {
  readonly address: TileAddress;
  readonly bytes: Uint8Array;
  /** Inner nodes of a hash tile. */
  readonly nodes?: TileNodes;
}

export class GrowingTree {
  readonly #edge: TileNodes[];
  #entries: Uint8Array[] = [];
  #size: number;

  private constructor(size: number, edge: TileNodes[]) {
    this.#size = size;
    this.#edge = edge;
  }

  static empty(): GrowingTree {
    return new GrowingTree(0, []);
  }

  /** Resumes at a multiple of 256 leaves, from the full tiles of the tree. */
  static async resume(
    size: number,
    readTile: (level: number, index: number) => Promise<TileNodes>,
  ): Promise<GrowingTree> {
    if (size % TILE_WIDTH !== 0) throw new RangeError(`cannot resume inside a tile, at ${size}`);
    const edge = size > 0 ? [new TileNodes()] : [];
    for (let level = 1; hashesAtLevel(size, level) > 0; level++) {
      const count = hashesAtLevel(size, level);
      const tile = new TileNodes();
      for (let index = count - (count % TILE_WIDTH); index < count; index++) {
        tile.push((await readTile(level - 1, index)).node(TILE_HEIGHT, 0));
      }
      edge.push(tile);
    }
    return new GrowingTree(size, edge);
  }

  get size(): number {
    return this.#size;
  }

  /** Appends a leaf; returns its hash and the tiles that it fills, bundles before hashes, low levels first. */
  append(leaf: Uint8Array): { hash: Uint8Array; sealed: readonly SealedTile[] } {
    const hash = leafHash(leaf);
    this.#entries.push(leaf);
    this.#size++;
    const sealed: SealedTile[] = [];
    if (this.#entries.length === TILE_WIDTH) {
      const index = this.#size / TILE_WIDTH - 1;
      sealed.push({ address: { level: 'entries', index, width: TILE_WIDTH }, bytes: encodeEntries(this.#entries) });
      this.#entries = [];
    }
    this.#push(0, hash, sealed);
    return { hash, sealed };
  }

  /** Root hash, RFC 6962 section 2.1. */
  root(): Uint8Array {
    if (this.#size === 0) return EMPTY_ROOT;
    // Every subtree of the right edge ends in a partial tile: a full one is a hash one level up.
    const hashes = perfectSubtrees(0, this.#size).map(({ level, index }) => {
      const height = level % TILE_HEIGHT;
      const tile = this.#edge[Math.floor(level / TILE_HEIGHT)];
      if (!tile) throw new Error(`the tree of ${this.#size} has no edge at ${level}`);
      return tile.node(height, index % (TILE_WIDTH / 2 ** height));
    });
    return foldHashes(hashes);
  }

  /** The partial tile of a level and its index; undefined if it is empty. */
  edge(level: number): { index: number; tile: TileNodes } | undefined {
    const tile = this.#edge[level];
    return tile && tile.count > 0
      ? { index: Math.floor(hashesAtLevel(this.#size, level) / TILE_WIDTH), tile }
      : undefined;
  }

  /** Leaves of the partial entry bundle. */
  get entries(): readonly Uint8Array[] {
    return this.#entries;
  }

  #push(level: number, hash: Uint8Array, sealed: SealedTile[]): void {
    const tile = this.#edge[level] ?? new TileNodes();
    this.#edge[level] = tile;
    tile.push(hash);
    if (!tile.isFull) return;
    const index = hashesAtLevel(this.#size, level + 1) - 1;
    sealed.push({ address: { level, index, width: TILE_WIDTH }, bytes: tile.hashes(), nodes: tile });
    this.#edge[level] = new TileNodes();
    this.#push(level + 1, tile.node(TILE_HEIGHT, 0), sealed);
  }
}
