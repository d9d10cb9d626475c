// The state of the log: the tree, its tiles and the index. It changes only by durable leaves. Appends and recovery both use
// `apply`, so that recovery has no separate code path.
import {
  encodeEntries,
  equalBytes,
  formatCheckpoint,
  type HashReader,
  LEDGER_ID_BYTES,
  type LedgerEvidence,
  type NoteSigner,
  signNote,
  TILE_WIDTH,
  type TileNodes,
  tileHashReader,
  treeRoot,
} from '@strata/receipts';
import type { PublishedCheckpoint } from '../log.ts';
import { LogError } from '../log-error.ts';
import { proveLeaf, readTile, type TreeSource } from '../publication/published-tree.ts';
import { GrowingTree } from '../tree/growing-tree.ts';
import { LeafIndex } from '../tree/leaf-index.ts';
import type { TileStore } from './tile-store.ts';

export class Ledger {
  readonly #tree: GrowingTree;
  readonly #tiles: TileStore;
  readonly #index = new LeafIndex();
  readonly #source: TreeSource = {
    nodes: (level, index) => this.#nodes(level, index),
    bundle: (index, width) => this.#bundle(index, width),
    leaf: (index) => this.#leaf(index),
    forget: () => this.#tiles.forget(),
  };
  /** Subtree hashes from the right edge, memory or disk. */
  readonly readHash: HashReader = tileHashReader((level, index) => this.#nodes(level, index));
  #published: PublishedCheckpoint = { size: 0, root: new Uint8Array(), note: '' };

  private constructor(tree: GrowingTree, tiles: TileStore) {
    this.#tree = tree;
    this.#tiles = tiles;
  }

  /** The state at a size whose leaves are all in full tiles on disk; reads every level-0 tile into the index. */
  static async resume(size: number, tiles: TileStore): Promise<Ledger> {
    const tree = await GrowingTree.resume(size, (level, index) => tiles.nodes(level, index));
    const ledger = new Ledger(tree, tiles);
    for (let index = 0; index * TILE_WIDTH < size; index++) {
      const hashes = await tiles.bytes(0, index);
      for (let at = 0; at < TILE_WIDTH; at++)
        ledger.#index.add(hashes.subarray(32 * at, 32 * at + 5), index * TILE_WIDTH + at);
    }
    return ledger;
  }

  get size(): number {
    return this.#tree.size;
  }

  get indexBytes(): number {
    return this.#index.sizeBytes;
  }

  get published(): PublishedCheckpoint {
    return this.#published;
  }

  /** Adds durable leaves in order. */
  apply(leaves: readonly Uint8Array[]): void {
    for (const leaf of leaves) {
      const { hash, sealed } = this.#tree.append(leaf);
      this.#index.add(hash, this.#tree.size - 1);
      for (const tile of sealed) this.#tiles.seal(tile);
    }
  }

  /** Signs and publishes a checkpoint over all applied leaves. */
  publish(signer: NoteSigner): PublishedCheckpoint {
    const head = { origin: signer.name, size: this.#tree.size, root: this.#tree.root() };
    this.#published = { size: head.size, root: head.root, note: signNote(formatCheckpoint(head), [signer]) };
    return this.#published;
  }

  /** Root of the tree at an earlier size. */
  rootAt(size: number): Promise<Uint8Array> {
    return treeRoot(this.readHash, size);
  }

  /** A full or partial tile of the published tree, or undefined. */
  read(path: string): Promise<Uint8Array | undefined> {
    return readTile(this.#source, this.#published, path);
  }

  /**
   * The leaf whose hash begins with the given 20 bytes, with a proof against the published checkpoint or an earlier one; undefined
   * if the tree has none. Throws LogError `corrupt-tile` rather than return an invalid proof.
   */
  async find(hashPrefix: Uint8Array, head = this.#published): Promise<LedgerEvidence | undefined> {
    for (const index of this.#index.candidates(hashPrefix)) {
      if (index >= head.size) continue;
      const hash = await this.readHash(0, index);
      if (equalBytes(hash.subarray(0, LEDGER_ID_BYTES), hashPrefix)) return proveLeaf(this.#source, index, head);
    }
    return undefined;
  }

  async #nodes(level: number, index: number): Promise<TileNodes> {
    const edge = this.#tree.edge(level);
    return edge?.index === index ? edge.tile : this.#tiles.nodes(level, index);
  }

  async #bundle(index: number, width: number): Promise<Uint8Array> {
    if (this.#isGrowing(index)) return encodeEntries(this.#tree.entries.slice(0, width));
    if (width === TILE_WIDTH) return this.#tiles.bytes('entries', index);
    return encodeEntries((await this.#tiles.entries(index)).slice(0, width));
  }

  async #leaf(index: number): Promise<Uint8Array> {
    const bundle = Math.floor(index / TILE_WIDTH);
    const entries = this.#isGrowing(bundle) ? this.#tree.entries : await this.#tiles.entries(bundle);
    const leaf = entries[index % TILE_WIDTH];
    if (!leaf) throw new LogError('corrupt-tile', `leaf ${index} is missing from its bundle`);
    return leaf;
  }

  /** Whether a bundle is not full yet, and only in memory. */
  #isGrowing(bundle: number): boolean {
    return bundle === Math.floor(this.size / TILE_WIDTH);
  }
}
