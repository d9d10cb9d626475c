// The log that a service writes to: concurrent appends share one write and one sync, then one checkpoint.
import { type LedgerReceipt, ledgerReceiptDocument } from '@strata/receipts';
import { type CheckpointCopy, CheckpointSaver, fileSaver } from '../files/checkpoint-file.ts';
import { makeDirectory, removeLeftOvers } from '../files/durable-file.ts';
import {
  type CheckpointSigner,
  type Log,
  type LogStats,
  noteSigner,
  type Placed,
  type PublishedCheckpoint,
} from '../log.ts';
import { type LogError, logErrorFrom } from '../log-error.ts';
import { hashPrefixOf } from '../publication/published-tree.ts';
import { GroupCommit } from './group-commit.ts';
import { type Journal, SEGMENT_LEAVES } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { lockLog, placesIn, type Recovered, recover } from './recover.ts';
import type { TileStore } from './tile-store.ts';

/** Leaves of a batch: applying this many takes about 3 ms of the event loop. */
const MAX_BATCH = 1024;
/** Tiles allowed to wait in memory for a slow disk, 32 segments of leaves, before appends wait too. */
const MAX_PENDING_TILES = 32 * 33;
/** The copy is a transaction of a database; leaves of a shorter time are known to be lost by the file alone. */
const COPY_PAUSE_MS = 200;

export interface LogOptions {
  readonly directory: string;
  /** First line of every checkpoint, such as `strata.example/ledger`. */
  readonly origin: string;
  readonly signer: CheckpointSigner;
  /** Keeps the newest checkpoint too: a folder that lost leaves and its own checkpoint is not opened. */
  readonly checkpointCopy?: CheckpointCopy | undefined;
}

export interface TileLogStats extends LogStats {
  readonly pendingTiles: number;
  readonly indexBytes: number;
}

/** Opens or creates a log. Throws LogError: see its codes; or what the copy of the checkpoint cannot be read with. */
export async function openLog({ directory, origin, signer, checkpointCopy }: LogOptions): Promise<TileLog> {
  const places = placesIn(directory);
  const failed = (cause: unknown): never => {
    throw logErrorFrom(cause, `open the log ${directory}`);
  };
  using stack = new DisposableStack();
  await makeDirectory(directory).catch(failed);
  const lock = stack.use(lockLog(directory));
  // Under the lock: another process may write it until it releases the log.
  const copied = await checkpointCopy?.read();
  const expected = { origin, publicKey: signer.publicKey, checkpointCopy: copied };
  const recovered = await recover(directory, expected).catch(failed);
  await removeLeftOvers(places.checkpoint).catch(failed);
  const log = new TileLog(places.checkpoint, { name: origin, signer, lock, checkpointCopy, ...recovered });
  stack.move();
  return log;
}

interface Deps extends Recovered {
  readonly name: string;
  readonly signer: CheckpointSigner;
  readonly lock: Disposable;
  readonly checkpointCopy: CheckpointCopy | undefined;
}

/**
 * An open log. An acknowledged leaf is durable, and covered by the checkpoint that is served. Order is the order of
 * the calls. A batch that fails is rejected whole and is not in the log, unless the disk failed while syncing: then
 * every append fails until the log is opened again, and those leaves may or may not be found.
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

  constructor(checkpointFile: string, { ledger, tiles, journal, lock, name, signer, checkpointCopy }: Deps) {
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

  append(leaf: Uint8Array): Promise<Placed> {
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

  /** Root of the tree when it had no more than so many leaves. */
  rootAt(size: number): Promise<Uint8Array> {
    return this.#ledger.rootAt(size);
  }

  /** Signs the present tree anew: call it after the signing key has changed. */
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

  /** Commits what waits, writes what is pending and releases the lock. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#appends.close();
    await this.#flushing;
    for (const saver of this.#savers) await saver[Symbol.asyncDispose]();
    await this.#journal[Symbol.asyncDispose]();
    this.#lock[Symbol.dispose]();
  }

  async #commit(leaves: readonly Uint8Array[]): Promise<Placed> {
    const index = this.#ledger.size;
    try {
      await this.#waitForTiles();
      await this.#journal.append(index, leaves);
    } catch (cause) {
      throw logErrorFrom(cause, 'append to the log');
    }
    // Durable from here on; nothing below may fail the batch.
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

  /** Makes full tiles durable, then lets the journal forget their leaves. */
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

  /** Bounds the memory of tiles on a disk that is slow or full. */
  async #waitForTiles(): Promise<void> {
    if (this.#tiles.pendingTiles < MAX_PENDING_TILES) return;
    await this.#flushing;
    if (this.#tiles.pendingTiles < MAX_PENDING_TILES) return;
    this.#flush();
    await this.#flushing;
    if (this.#tiles.pendingTiles >= MAX_PENDING_TILES && this.#backgroundError) throw this.#backgroundError;
  }
}
