// The log's state: the tree, its tiles and the index, changed only by leaves that are durable already.
// Appending and recovery both go through `apply`, so that a restart takes no path of its own.
import {
  encodeEntries,
  equalBytes,
  formatCheckpoint,
  type HashReader,
  hashesAtLevel,
  inclusionProof,
  LEDGER_ID_BYTES,
  type LedgerEvidence,
  leafHash,
  ledgerReceiptIdOf,
  type NoteSigner,
  parseTilePath,
  signNote,
  TILE_WIDTH,
  type TileAddress,
  type TileNodes,
  tileHashReader,
  treeRoot,
  verifyInclusion,
} from '@strata/receipts';
import { GrowingTree } from './growing-tree.ts';
import { LeafIndex } from './leaf-index.ts';
import { LogError } from './log-error.ts';
import type { TileStore } from './tile-store.ts';

/** A tree head that has been signed and is served. */
export interface PublishedCheckpoint {
  readonly size: number;
  readonly root: Uint8Array;
  readonly note: string;
}

export class Ledger {
  readonly #tree: GrowingTree;
  readonly #tiles: TileStore;
  readonly #index = new LeafIndex();
  /** Subtree hashes from the growing edge, memory or disk. */
  readonly readHash: HashReader = tileHashReader((level, index) => this.#nodes(level, index));
  #published: PublishedCheckpoint = { size: 0, root: new Uint8Array(), note: '' };

  private constructor(tree: GrowingTree, tiles: TileStore) {
    this.#tree = tree;
    this.#tiles = tiles;
  }

  /** The state at a size whose leaves all lie in full tiles on disk; reads every level-0 tile into the index. */
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

  /** Takes durable leaves in order. */
  apply(leaves: readonly Uint8Array[]): void {
    for (const leaf of leaves) {
      const { hash, sealed } = this.#tree.append(leaf);
      this.#index.add(hash, this.#tree.size - 1);
      for (const tile of sealed) this.#tiles.seal(tile);
    }
  }

  /** Signs and serves a checkpoint over everything applied so far. */
  publish(signer: NoteSigner): PublishedCheckpoint {
    const head = { origin: signer.name, size: this.#tree.size, root: this.#tree.root() };
    this.#published = { size: head.size, root: head.root, note: signNote(formatCheckpoint(head), [signer]) };
    return this.#published;
  }

  /** Root of the tree when it had fewer leaves. */
  rootAt(size: number): Promise<Uint8Array> {
    return treeRoot(this.readHash, size);
  }

  /** A full or partial tile of the published tree, or undefined. */
  async read(path: string): Promise<Uint8Array | undefined> {
    const address = parseTilePath(path);
    if (!address || address.width > this.#widthOf(address)) return undefined;
    const { level, index, width } = address;
    if (level !== 'entries') return (await this.#nodes(level, index)).hashes(width);
    const growing = Math.floor(this.size / TILE_WIDTH);
    if (index === growing) return encodeEntries(this.#tree.entries.slice(0, width));
    if (width === TILE_WIDTH) return this.#tiles.bytes('entries', index);
    return encodeEntries((await this.#tiles.entries(index)).slice(0, width));
  }

  /**
   * The leaf whose hash begins with the given 20 bytes, proved against the published checkpoint; undefined when the
   * log has none. Throws LogError `corrupt-tile` rather than hand out a proof that does not verify.
   */
  async find(hashPrefix: Uint8Array): Promise<LedgerEvidence | undefined> {
    const { size, root, note } = this.#published;
    for (const index of this.#index.candidates(hashPrefix)) {
      if (index >= size) continue;
      const hash = await this.readHash(0, index);
      if (!equalBytes(hash.subarray(0, LEDGER_ID_BYTES), hashPrefix)) continue;
      const leaf = await this.#leaf(index);
      const proof = await inclusionProof(this.readHash, index, size);
      if (!equalBytes(leafHash(leaf), hash) || !verifyInclusion({ leafHash: hash, index, size, proof, root })) {
        throw new LogError('corrupt-tile', `the tiles around leaf ${index} do not lead to the root of the log`);
      }
      const ledgerReceiptId = ledgerReceiptIdOf(hash);
      return { ledgerReceiptId, receiptId: receiptIdIn(leaf), leaf, index, treeSize: size, proof, checkpoint: note };
    }
    return undefined;
  }

  /** Hashes or entries that the published tree has in a tile. */
  #widthOf({ level, index }: TileAddress): number {
    const count = hashesAtLevel(this.#published.size, level === 'entries' ? 0 : level);
    return Math.min(TILE_WIDTH, count - index * TILE_WIDTH);
  }

  async #nodes(level: number, index: number): Promise<TileNodes> {
    const edge = this.#tree.edge(level);
    return edge?.index === index ? edge.tile : this.#tiles.nodes(level, index);
  }

  async #leaf(index: number): Promise<Uint8Array> {
    const bundle = Math.floor(index / TILE_WIDTH);
    const isGrowing = bundle === Math.floor(this.size / TILE_WIDTH);
    const entries = isGrowing ? this.#tree.entries : await this.#tiles.entries(bundle);
    const leaf = entries[index % TILE_WIDTH];
    if (!leaf) throw new LogError('corrupt-tile', `leaf ${index} is missing from its bundle`);
    return leaf;
  }
}

/** `receipt_id` of a leaf; a log may hold leaves of other forms, which have none. */
function receiptIdIn(leaf: Uint8Array): string {
  try {
    const { receipt_id } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(leaf)) as {
      receipt_id?: unknown;
    };
    return typeof receipt_id === 'string' ? receipt_id : '';
  } catch {
    return '';
  }
}
