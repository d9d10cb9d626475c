// The log of one process, in a directory: concurrent appends share a write, a sync and a checkpoint.
import { type LedgerReceipt, ledgerReceiptDocument } from '@strata/receipts';
import { type CheckpointCopy, CheckpointSaver, fileSaver } from '../files/checkpoint-file.ts';
import { makeDirectory, removeLeftOvers } from '../files/durable-file.ts';
import {
  type AppendedLeaf,
  type CheckpointSigner,
  type Log,
  type LogStats,
  noteSigner,
  type PublishedCheckpoint,
} from '../log.ts';
import { type LogError, logErrorFrom } from '../log-error.ts';
import { hashPrefixOf } from '../publication/published-tree.ts';
import { GroupCommit } from './group-commit.ts';
import { type Journal, SEGMENT_LEAVES } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { lockLog, logPaths, type Recovered, recover } from './recover.ts';
import type { TileStore } from './tile-store.ts';

/** Maximum of leaves in a batch: applying them blocks the event loop for about 3 ms. */
const MAX_BATCH = 1024;
/** Tiles that may wait in memory for a slow disk, 32 segments of leaves, before appends wait too. */
const MAX_PENDING_TILES = 32 * 33;
/** Interval of the copy, which is a database transaction; a loss of later leaves is detected only by the file. */
const COPY_PAUSE_MS = 200;

export interface LogOptions {
  readonly directory: string;
  /** First line of every checkpoint, such as `strata.example/ledger`. */
  readonly origin: string;
  readonly signer: CheckpointSigner;
  /** Also stores the newest checkpoint, so that a directory that lost leaves and its own checkpoint is not opened. */
  readonly checkpointCopy?: CheckpointCopy | undefined;
}

export interface TileLogStats extends LogStats {
  readonly pendingTiles: number;
  readonly indexBytes: number;
}

/** Opens or creates a log. Rejects with LogError, or with the error of reading the checkpoint copy. */
export async function openLog({ directory, origin, signer, checkpointCopy }: LogOptions): Promise<TileLog> {
  const paths = logPaths(directory);
  const failed = (cause: unknown): never => {
    throw logErrorFrom(cause, `open the log ${directory}`);
  };
  using stack = new DisposableStack();
  await makeDirectory(directory).catch(failed);
  const lock = stack.use(lockLog(directory));
  // Read under the lock: the previous holder may write the copy until it releases the log.
  const copied = await checkpointCopy?.read();
  const expected = { origin, publicKey: signer.publicKey, checkpointCopy: copied };
  const recovered = await recover(directory, expected).catch(failed);
  await removeLeftOvers(paths.checkpoint).catch(failed);
  const log = new TileLog(paths.checkpoint, { name: origin, signer, lock, checkpointCopy, ...recovered });
  stack.move();
  return log;
}

interface TileLogDeps extends Recovered {
  readonly name: string;
  readonly signer: CheckpointSigner;
  readonly lock: Disposable;
  readonly checkpointCopy: CheckpointCopy | undefined;
}

/**
 * An open log. An acknowledged leaf is durable and covered by the published checkpoint. Leaves have the order of the calls. A
 * failed batch is rejected as a unit and is not in the log, unless the disk failed during a sync: then every append fails until
 * the log is reopened, and those leaves may or may not be in it.
 */
export class TileLog implements Log, AsyncDisposable {
  readonly #ledger: Ledger;
  readonly #tiles: TileStore;
  readonly #journal: Journal;
  readonly #lock: Disposable;
  readonly #name: string;
  readonly #signer: CheckpointSigner;
  readonly #savers: CheckpointSaver[];
  readonly #appends = new GroupCommit({
    maxLeaves: () => Math.min(SEGMENT_LEAVES - (this.#ledger.size % SEGMENT_LEAVES), MAX_BATCH),
    commit: (leaves) => this.#commit(leaves),
  });
  #flushing: Promise<void> | undefined;
  #backgroundError: LogError | undefined;
  #isClosed = false;
  #commits = 0;

  constructor(checkpointFile: string, { ledger, tiles, journal, lock, name, signer, checkpointCopy }: TileLogDeps) {
    this.#ledger = ledger;
    this.#tiles = tiles;
    this.#journal = journal;
    this.#lock = lock;
    this.#name = name;
    this.#signer = signer;
    const served = () => this.checkpoint();
    this.#savers = [fileSaver(checkpointFile, { served, isShared: false })];
    if (checkpointCopy) {
      const write = (note: string) => checkpointCopy.write(note);
      this.#savers.push(new CheckpointSaver({ served, write, pauseMs: COPY_PAUSE_MS }));
    }
    this.#publish();
    if (tiles.pendingTiles > 0) this.#flush();
  }

  get size(): number {
    return this.#ledger.published.size;
  }

  checkpoint(): string {
    return this.#ledger.published.note;
  }

  append(leaf: Uint8Array): Promise<AppendedLeaf> {
    return this.#appends.append(leaf);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return path === 'checkpoint' ? new TextEncoder().encode(this.checkpoint()) : this.#ledger.read(path);
  }

  async receipt(ledgerReceiptId: string, head?: PublishedCheckpoint): Promise<LedgerReceipt | undefined> {
    const prefix = hashPrefixOf(ledgerReceiptId);
    const evidence = prefix && (await this.#ledger.find(prefix, head));
    return evidence && ledgerReceiptDocument(evidence);
  }

  /** Root of the tree at an earlier size. */
  rootAt(size: number): Promise<Uint8Array> {
    return this.#ledger.rootAt(size);
  }

  /** Signs the current tree again: call it after the signing key has changed. */
  resign(): void {
    this.#publish();
  }

  stats(): TileLogStats {
    const { pendingTiles } = this.#tiles;
    const error = this.#backgroundError ?? this.#savers.find((saver) => saver.error)?.error;
    const { refusal } = this.#journal;
    const counts = { size: this.size, commits: this.#commits, pendingTiles, indexBytes: this.#ledger.indexBytes };
    const figures = { ...counts, ...(refusal && { refusal }) };
    return error ? { ...figures, backgroundError: error } : figures;
  }

  /** Commits pending appends, writes pending tiles and releases the lock. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#appends.close();
    await this.#flushing;
    for (const saver of this.#savers) await saver[Symbol.asyncDispose]();
    await this.#journal[Symbol.asyncDispose]();
    this.#lock[Symbol.dispose]();
  }

  async #commit(leaves: readonly Uint8Array[]): Promise<AppendedLeaf> {
    const index = this.#ledger.size;
    try {
      await this.#waitForTiles();
      await this.#journal.append(index, leaves);
    } catch (cause) {
      throw logErrorFrom(cause, 'append to the log');
    }
    // The leaves are durable: nothing below may fail the batch.
    this.#ledger.apply(leaves);
    this.#commits++;
    this.#publish();
    if (this.#ledger.size % SEGMENT_LEAVES === 0) this.#flush();
    return { index, treeSize: this.size };
  }

  #publish(): void {
    this.#ledger.publish(noteSigner(this.#name, this.#signer));
    for (const saver of this.#savers) saver.save();
  }

  /** Makes full tiles durable, then drops their leaves from the journal. */
  #flush(): void {
    const covered = this.#ledger.size - (this.#ledger.size % SEGMENT_LEAVES);
    const work = async (): Promise<void> => {
      try {
        await this.#tiles.flush();
        await this.#journal.dropBefore(covered);
        this.#backgroundError = undefined;
      } catch (cause) {
        this.#backgroundError = logErrorFrom(cause, 'move leaves from the journal to tiles');
      }
    };
    const chained = (this.#flushing ?? Promise.resolve()).then(work);
    this.#flushing = chained;
  }

  /** Limits the memory of pending tiles when the disk is slow or full. */
  async #waitForTiles(): Promise<void> {
    if (this.#tiles.pendingTiles < MAX_PENDING_TILES) return;
    await this.#flushing;
    if (this.#tiles.pendingTiles < MAX_PENDING_TILES) return;
    this.#flush();
    await this.#flushing;
    if (this.#tiles.pendingTiles >= MAX_PENDING_TILES && this.#backgroundError) throw this.#backgroundError;
  }
}
