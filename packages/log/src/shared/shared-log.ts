// The log that several nodes write: its truth is in a database, and the writer is whoever holds its head for one short transaction.
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  consistencyProof,
  equalBytes,
  type LedgerReceipt,
  leafHash,
  ledgerReceiptDocument,
  verifyConsistency,
} from '@strata/receipts';
import { type CheckpointSaver, fileSaver } from '../files/checkpoint-file.ts';
import type { Log, LogStats, Placed, PublishedCheckpoint } from '../log.ts';
import { LogError, type LogErrorCode } from '../log-error.ts';
import { hashesOf, hashPrefixOf, proveLeaf, readTile } from '../publication/published-tree.ts';
import { GroupCommit } from '../tile-log/group-commit.ts';
import type { TreeEdge } from '../tree/tree-edge.ts';
import { type CheckpointKeys, checkHead, openCheckpoint, signedHead } from './shared-head.ts';
import type { SharedHead, SharedPlace } from './shared-place.ts';
import type { SharedTree } from './shared-tree.ts';

/** Leaves of one turn: placing so many takes about 15 ms, and all other nodes wait for it. */
const MAX_BATCH = 4096;
/** How often a node looks at what others have appended. */
const LOOK_MS = 200;
/** A turn whose outcome is not known is looked for so often, with a longer pause each time. */
const MAX_TRIES = 4;
const RETRY_MS = 100;

export interface SharedLogOptions {
  /** First line of every checkpoint, such as `strata.example/ledger`. */
  readonly origin: string;
  readonly keys: CheckpointKeys;
  readonly place: SharedPlace;
  /** Where this node keeps the newest checkpoint that it served; the log must go on from what the file says. Its directory exists. */
  readonly checkpointFile?: string;
}

/**
 * An open log. Nothing that a commit rests on is remembered between two turns: a turn reads the head that it has locked, and its head
 * moves from there or not at all. So no writer can fork the log, however long it slept. A head that does not go on from what this node
 * has served, or that no key of it signed, is refused, by appends and by what is served.
 *
 * Crash story. Before the commit of a turn nothing of its batch is there; after it leaves, hashes, head and checkpoint are, and every
 * node finds them. An append whose commit got no answer is looked for at the place that it had taken before it is written again, so
 * no leaf is acknowledged twice; the leaf of a rejected append may be in the log, unacknowledged.
 */
export class SharedLog implements Log, AsyncDisposable {
  readonly #origin: string;
  readonly #keys: CheckpointKeys;
  readonly #place: SharedPlace;
  readonly #tree: SharedTree;
  readonly #appends = new GroupCommit({ maxLeaves: () => MAX_BATCH, commit: (leaves) => this.#commit(leaves) });
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  #published: PublishedCheckpoint;
  /** Proved to lie on one line with all that was published before. */
  #witnessed: PublishedCheckpoint;
  #refusal: LogError | undefined;
  #lookError: unknown;
  readonly #file: CheckpointSaver | undefined;
  #commits = 0;

  constructor({ origin, keys, place, checkpointFile }: SharedLogOptions, tree: SharedTree, head: PublishedCheckpoint) {
    this.#origin = origin;
    this.#keys = keys;
    this.#place = place;
    this.#tree = tree;
    this.#published = head;
    this.#witnessed = head;
    this.#file =
      checkpointFile === undefined
        ? undefined
        : fileSaver(checkpointFile, { served: () => this.checkpoint(), isShared: true });
    this.#file?.save();
    this.#following = this.#follow();
  }

  get size(): number {
    return this.#published.size;
  }

  checkpoint(): string {
    return this.#published.note;
  }

  append(leaf: Uint8Array): Promise<Placed> {
    return this.#appends.append(leaf);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    if (path === 'checkpoint') return new TextEncoder().encode(this.checkpoint());
    return readTile(this.#tree, this.#published, path);
  }

  async receipt(ledgerReceiptId: string, head?: PublishedCheckpoint): Promise<LedgerReceipt | undefined> {
    const prefix = hashPrefixOf(ledgerReceiptId);
    const index = prefix && (await this.#place.rows.find(prefix));
    if (index === undefined) return undefined;
    // Another node has just given it out.
    if (index >= this.size && !head) await this.#look();
    const against = head ?? this.#published;
    if (index >= against.size) return undefined;
    return ledgerReceiptDocument(await proveLeaf(this.#tree, index, against));
  }

  /** Signs the present head anew, unless the current key has: call it after the signing key has changed. */
  async resign(): Promise<void> {
    await this.#inTurn(async (edge, head, grow) => {
      const current = { publicKeys: () => [this.#keys.signer.publicKey] };
      const isSigned = await openCheckpoint(head.note, this.#origin, current).then(
        () => true,
        () => false,
      );
      return isSigned ? head : grow([], edge);
    });
  }

  /** `backgroundError`: why this node takes no leaves now, or what its last look at the others failed with. */
  stats(): LogStats {
    const backgroundError = this.#refusal ?? this.#lookError ?? this.#file?.error;
    const refusal = this.#refusal ?? (this.#lookError instanceof LogError ? this.#lookError : undefined);
    const figures = { size: this.size, commits: this.#commits, ...(refusal && { refusal }) };
    return backgroundError === undefined ? figures : { ...figures, backgroundError };
  }

  /** Commits what waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#appends.close();
    await this.#following;
    await this.#file?.[Symbol.asyncDispose]();
  }

  async #commit(leaves: readonly Uint8Array[]): Promise<Placed> {
    const added = leaves.map((leaf) => ({ hash: leafHash(leaf, sha256), leaf }));
    let triedAt: number | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const found = triedAt === undefined ? undefined : await this.#findBatch(triedAt, added);
        if (found) return found;
        triedAt = undefined;
        const head = await this.#inTurn(async (edge, _head, grow) => {
          triedAt = edge.size;
          return grow(added, edge);
        });
        this.#commits++;
        return { index: head.size - added.length, treeSize: this.size };
      } catch (error) {
        if (error instanceof LogError || triedAt === undefined || attempt === MAX_TRIES) throw error;
      }
      await delay(RETRY_MS * attempt);
    }
  }

  /** A batch that was written behind `index`, or not. Its turn is over once another one comes. */
  async #findBatch(index: number, added: readonly AddedLeaf[]): Promise<Placed | undefined> {
    const head = await this.#inTurn(async (_edge, head) => head);
    if (head.size < index + added.length) return undefined;
    const there = await this.#place.rows.hashes(0, index, added.length);
    const isThere = equalBytes(there, Buffer.concat(added.map(({ hash }) => hash)));
    return isThere ? { index, treeSize: this.size } : undefined;
  }

  /** A turn with a head that was checked; what it ends with is served. */
  async #inTurn(
    work: (edge: TreeEdge, head: SharedHead, grow: GrowEdge) => Promise<SharedHead>,
  ): Promise<PublishedCheckpoint> {
    const turn = () =>
      this.#place.turns.inTurn(async (head, grow) => {
        if (this.#refusal) throw this.#refusal;
        const edge = await this.#check(head);
        return work(edge, head, async (leaves, from) => {
          const { edge: grown, sealed } = from.grow(leaves.map(({ hash }) => hash));
          const next = signedHead(this.#origin, grown, this.#keys.signer);
          if (await grow({ from: head, leaves, subtrees: sealed, head: next })) return next;
          throw new LogError('forked', 'the head of the log moved while this node held it: nothing was written');
        });
      });
    const head = await this.#withNewestKeys(turn);
    this.#publish(head);
    return head;
  }

  /** Once more where the first try lacked a key: another node has taken up a rotation first. */
  async #withNewestKeys<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      if (!isCode(error, 'wrong-key')) throw error;
    }
    await this.#keys.reload();
    return work();
  }

  /** Refuses a head that cannot have come of what this node has served. */
  async #check(head: SharedHead, { size, root } = this.#published): Promise<TreeEdge> {
    if (head.size < size) {
      throw new LogError('lost-leaves', `the database holds ${head.size} leaves of the log, ${size} were published`);
    }
    if (head.size === size && !equalBytes(head.root, root)) {
      throw new LogError('forked', `the database holds another tree of ${size} leaves than was published`);
    }
    return checkHead(head, this.#origin, this.#keys);
  }

  #publish(head: PublishedCheckpoint): void {
    const isNewer = head.size > this.size || (head.size === this.size && head.note !== this.#published.note);
    if (!isNewer) return;
    this.#published = { size: head.size, root: head.root, note: head.note };
    this.#file?.save();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#look();
        this.#lookError = undefined;
      } catch (error) {
        this.#lookError = error;
      }
    }
  }

  /** Takes in what others have appended, once it is proved to go on from what was served. */
  async #look(): Promise<void> {
    try {
      const served = this.#published;
      const head = await this.#place.turns.head();
      if (!head) throw new LogError('lost-leaves', 'the database has no log any more');
      await this.#withNewestKeys(() => this.#check(head, served));
      const newest = head.size > this.size ? head : this.#published;
      await this.#prove(newest);
      // A head of the same size may have been signed anew while this one was read.
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
        `the log of ${newSize} leaves does not go on from the ${oldSize} that were published`,
      );
    }
    this.#witnessed = newest;
  }
}

interface AddedLeaf {
  readonly hash: Uint8Array;
  readonly leaf: Uint8Array;
}

/** Writes leaves behind an edge; answers the head of what it has grown to. */
type GrowEdge = (leaves: readonly AddedLeaf[], from: TreeEdge) => Promise<SharedHead>;

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

const isCode = (error: unknown, code: LogErrorCode): boolean => error instanceof LogError && error.code === code;
