// An open log: its state is in a database, and a process writes while it holds the lock of the head in a short transaction.
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError, type StoreErrorCode } from '@strata/db';
import {
  consistencyProof,
  equalBytes,
  type LedgerReceipt,
  ledgerReceiptDocument,
  verifyConsistency,
} from '@strata/receipts';
import { type CheckpointCopy, type CheckpointSaver, copySaver, fileSaver } from '../files/checkpoint-file.ts';
import type { AppendedLeaf, Log, LogStats, PublishedCheckpoint } from '../log.ts';
import { LogError, type LogErrorCode } from '../log-error.ts';
import { hashesOf, hashPrefixOf, proveLeaf, readTile } from '../publication/published-tree.ts';
import { GroupCommit } from './group-commit.ts';
import { type AddedLeaf, addedLeaves, type CheckpointKeys, checkHead, growHead, openCheckpoint } from './head.ts';
import type { LedgerHead, LedgerTable } from './ledger-tables.ts';
import type { RowTree } from './row-tree.ts';
import type { TreeEdge } from './tree-edge.ts';

/** How often a node reads what other nodes have appended. */
const REFRESH_MS = 200;
/** Attempts to commit a batch when the outcome is unknown, with an increasing backoff. */
const MAX_TRIES = 4;
const RETRY_MS = 100;

export interface OpenLogOptions {
  /** First line of every checkpoint, such as `strata.example/ledger`. */
  readonly origin: string;
  readonly keys: CheckpointKeys;
  readonly table: LedgerTable;
  /** File with the newest checkpoint that this node published; the log must be consistent with it. Its directory exists. */
  readonly checkpointFile?: string | undefined;
  /** The same, outside of the database and the directory. */
  readonly checkpointCopy?: CheckpointCopy | undefined;
}

/**
 * An open log. A commit depends on no state from before its transaction: it reads the head that it locks, and the head moves from
 * there or not at all. No writer can therefore fork the log, however long it was suspended. A head that is inconsistent with what
 * this node has published, or not signed by a known key, is refused for appends and for reads.
 *
 * Crash safety: before the commit nothing of a batch is visible; after it leaves, hashes, head and checkpoint are, to every node. If
 * a commit gets no response, the batch is searched at its intended position before it is written again, so that no leaf is
 * acknowledged twice. The leaf of a rejected append may be in the log, unacknowledged.
 */
export class DatabaseLog implements Log, AsyncDisposable {
  readonly #origin: string;
  readonly #keys: CheckpointKeys;
  readonly #table: LedgerTable;
  readonly #tree: RowTree;
  readonly #appends = new GroupCommit({ commit: (leaves) => this.#commit(leaves) });
  readonly #closing = new AbortController();
  readonly #refreshing: Promise<void>;
  #published: PublishedCheckpoint;
  /** Proved to be consistent with everything published before. */
  #witnessed: PublishedCheckpoint;
  #refusal: LogError | undefined;
  #refreshError: unknown;
  readonly #savers: readonly CheckpointSaver[];
  #commits = 0;

  constructor(
    { origin, keys, table, checkpointFile, checkpointCopy }: OpenLogOptions,
    tree: RowTree,
    head: PublishedCheckpoint,
  ) {
    this.#origin = origin;
    this.#keys = keys;
    this.#table = table;
    this.#tree = tree;
    this.#published = head;
    this.#witnessed = head;
    const served = () => this.checkpoint();
    this.#savers = [
      ...(checkpointFile === undefined ? [] : [fileSaver(checkpointFile, served)]),
      ...(checkpointCopy === undefined ? [] : [copySaver(checkpointCopy, served)]),
    ];
    for (const saver of this.#savers) saver.save();
    this.#refreshing = this.#refreshPeriodically();
  }

  get size(): number {
    return this.#published.size;
  }

  checkpoint(): string {
    return this.#published.note;
  }

  append(leaf: Uint8Array): Promise<AppendedLeaf> {
    return this.#appends.append(leaf);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    if (path === 'checkpoint') return new TextEncoder().encode(this.checkpoint());
    return readTile(this.#tree, this.#published, path);
  }

  async receipt(ledgerReceiptId: string, head?: PublishedCheckpoint): Promise<LedgerReceipt | undefined> {
    const prefix = hashPrefixOf(ledgerReceiptId);
    const index = prefix && (await this.#table.find(prefix));
    if (index === undefined) return undefined;
    // Another node may have appended it since the last refresh.
    if (index >= this.size && !head) await this.#refresh();
    const against = head ?? this.#published;
    if (index >= against.size) return undefined;
    return ledgerReceiptDocument(await proveLeaf(this.#tree, index, against));
  }

  /** Signs the current head again unless the current key has signed it: call it after the signing key has changed. */
  async resign(): Promise<void> {
    await this.#withHead(async (_edge, head, grow) => {
      const current = { publicKeys: () => [this.#keys.signer.publicKey] };
      const isSigned = await openCheckpoint(head.note, this.#origin, current).then(
        () => true,
        () => false,
      );
      return isSigned ? head : grow([]);
    });
  }

  /** `backgroundError`: why this node accepts no leaves, or why its last refresh failed. */
  stats(): LogStats {
    const backgroundError = this.#refusal ?? this.#refreshError ?? this.#savers.find(({ error }) => error)?.error;
    const refusal = this.#refusal ?? (this.#refreshError instanceof LogError ? this.#refreshError : undefined);
    const figures = { size: this.size, commits: this.#commits, ...(refusal && { refusal }) };
    return backgroundError === undefined ? figures : { ...figures, backgroundError };
  }

  /** Commits pending appends. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#appends.close();
    await this.#refreshing;
    for (const saver of this.#savers) await saver[Symbol.asyncDispose]();
  }

  async #commit(leaves: readonly Uint8Array[]): Promise<AppendedLeaf> {
    const added = addedLeaves(leaves);
    let triedAt: number | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const found = triedAt === undefined ? undefined : await this.#findBatch(triedAt, added);
        if (found) return found;
        triedAt = undefined;
        const head = await this.#withHead(async (edge, _head, grow) => {
          triedAt = edge.size;
          return grow(added);
        });
        this.#commits++;
        return { index: head.size - added.length, treeSize: this.size };
      } catch (error) {
        if (isOutcomeKnown(error) || triedAt === undefined || attempt === MAX_TRIES) throw error;
      }
      await delay(RETRY_MS * attempt);
    }
  }

  /** Searches a batch that may have been written at `index`. Acquiring the lock waits for the earlier transaction to end. */
  async #findBatch(index: number, added: readonly AddedLeaf[]): Promise<AppendedLeaf | undefined> {
    const head = await this.#withHead(async (_edge, head) => head);
    if (head.size < index + added.length) return undefined;
    const stored = await this.#table.hashes(0, index, added.length);
    const isStored = equalBytes(stored, Buffer.concat(added.map(({ hash }) => hash)));
    return isStored ? { index, treeSize: this.size } : undefined;
  }

  /** Runs `work` with the locked and verified head, and publishes the resulting head. */
  async #withHead(
    work: (edge: TreeEdge, head: LedgerHead, grow: GrowEdge) => Promise<LedgerHead>,
  ): Promise<PublishedCheckpoint> {
    const locked = () =>
      this.#table.withHead(async (head, grow) => {
        if (this.#refusal) throw this.#refusal;
        const edge = await this.#check(head);
        return work(edge, head, async (leaves) => {
          const grown = await growHead(leaves, { edge, grow, origin: this.#origin, keys: this.#keys, isLast: true });
          return grown.head;
        });
      });
    const head = await this.#withNewestKeys(locked);
    this.#publish(head);
    return head;
  }

  /** Retries once with reloaded keys: another node may have rotated them. */
  async #withNewestKeys<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      if (!isCode(error, 'wrong-key')) throw error;
    }
    await this.#keys.reload();
    return work();
  }

  /** Refuses a head that is inconsistent with what this node has published. */
  async #check(head: LedgerHead, { size, root } = this.#published): Promise<TreeEdge> {
    if (head.size < size) {
      throw new LogError('lost-leaves', `the database holds ${head.size} leaves of the log, ${size} were published`);
    }
    if (head.size === size && !equalBytes(head.root, root)) {
      throw new LogError('forked', `the tree of ${size} leaves in the database differs from the published one`);
    }
    return checkHead(head, this.#origin, this.#keys, this.#published);
  }

  #publish(head: PublishedCheckpoint): void {
    const isNewer = head.size > this.size || (head.size === this.size && head.note !== this.#published.note);
    if (!isNewer) return;
    this.#published = { size: head.size, root: head.root, note: head.note };
    for (const saver of this.#savers) saver.save();
  }

  async #refreshPeriodically(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await delay(REFRESH_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#refresh();
        this.#refreshError = undefined;
      } catch (error) {
        this.#refreshError = error;
      }
    }
  }

  /** Publishes what other nodes have appended, after proving that it is consistent with what was published. */
  async #refresh(): Promise<void> {
    try {
      const served = this.#published;
      const head = await this.#table.head();
      if (!head) throw new LogError('lost-leaves', 'the database no longer has the log');
      await this.#withNewestKeys(() => this.#check(head, served));
      const newest = head.size > this.size ? head : this.#published;
      await this.#prove(newest);
      // A head of the same size may have been signed again while this one was read.
      if (head.size > this.size || this.#published === served) this.#publish(head);
      this.#refusal = undefined;
    } catch (error) {
      if (error instanceof LogError && error.code !== 'wrong-key') {
        this.#refusal = error;
        this.#tree.forget();
      }
      throw error;
    }
  }

  async #prove(newest: PublishedCheckpoint): Promise<void> {
    const { size: oldSize, root: oldRoot } = this.#witnessed;
    const { size: newSize, root: newRoot } = newest;
    const proof = await consistencyProof(hashesOf(this.#tree, newSize), oldSize, newSize);
    if (!verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof })) {
      throw new LogError(
        'forked',
        `the log of ${newSize} leaves is not consistent with the ${oldSize} leaves published before`,
      );
    }
    this.#witnessed = newest;
  }
}

/** Appends leaves to the edge; returns the new head. */
type GrowEdge = (leaves: readonly AddedLeaf[]) => Promise<LedgerHead>;

/** Errors after which the database has rolled back; a server may have committed before its connection broke. */
const ROLLED_BACK: ReadonlySet<string> = new Set<StoreErrorCode>(['disk-full', 'io-error', 'read-only']);

const isOutcomeKnown = (error: unknown): boolean =>
  error instanceof LogError || (error instanceof StoreError && ROLLED_BACK.has(error.code));

const isCode = (error: unknown, code: LogErrorCode): boolean => error instanceof LogError && error.code === code;
