// Group commit: appends that arrive while a batch is written form the next batch.
import { MAX_ENTRY_BYTES } from '@strata/receipts';
import type { AppendedLeaf } from '../log.ts';
import { LogError } from '../log-error.ts';

/** Maximum of leaves in a batch: writing them takes about 15 ms, for which all other nodes wait. */
const MAX_BATCH_LEAVES = 4096;
/** Maximum size of a batch, except for a single larger leaf. */
const MAX_BATCH_BYTES = 4 << 20;

interface Waiting {
  readonly leaf: Uint8Array;
  readonly resolve: (placed: AppendedLeaf) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitOptions {
  /** Makes a batch durable and publishes it; returns the position of its first leaf. A rejection is passed to every append of the batch. */
  readonly commit: (leaves: readonly Uint8Array[]) => Promise<AppendedLeaf>;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  append(leaf: Uint8Array): Promise<AppendedLeaf> {
    if (this.#isClosed) return Promise.reject(new LogError('closed', 'the log is closed'));
    if (leaf.length > MAX_ENTRY_BYTES) {
      return Promise.reject(
        new LogError('leaf-too-large', `a leaf of ${leaf.length} bytes exceeds ${MAX_ENTRY_BYTES}`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ leaf, resolve, reject });
      this.#committing ??= this.#commitAll();
    });
  }

  /** Rejects further appends, and waits until pending ones are committed or rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#committing;
  }

  /** Commits batches sequentially until no append is pending. */
  async #commitAll(): Promise<void> {
    // Appends of the same event-loop turn join the first batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#nextLength());
      try {
        const { index, treeSize } = await this.#options.commit(batch.map(({ leaf }) => leaf));
        for (const [at, { resolve }] of batch.entries()) resolve({ index: index + at, treeSize });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#committing = undefined;
  }

  #nextLength(): number {
    const max = Math.min(MAX_BATCH_LEAVES, this.#waiting.length);
    let bytes = 0;
    for (let length = 0; length < max; length++) {
      bytes += this.#waiting[length]?.leaf.length ?? 0;
      if (bytes > MAX_BATCH_BYTES) return Math.max(length, 1);
    }
    return max;
  }
}
