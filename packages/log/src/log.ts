// The interface of a transparency log, for any storage.
import type { LedgerReceipt, NoteSigner } from '@strata/receipts';
import type { LogError } from './log-error.ts';

/**
 * An acknowledged leaf is durable and covered by the published checkpoint. Leaves of one process have the order of its calls.
 * Methods reject with LogError, or with the error of the database.
 */
export interface Log {
  /** Leaves of the published tree. */
  readonly size: number;
  /** The published checkpoint, a signed note. */
  checkpoint(): string;
  /** Appends a leaf; resolves when it is durable and covered by the published checkpoint. */
  append(leaf: Uint8Array): Promise<AppendedLeaf>;
  /** A resource by its path below the log's prefix: `checkpoint`, `tile/0/x001/234`, `tile/entries/000.p/7`. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** The receipt of a `cr_` id, with a proof against the current checkpoint or an earlier one; undefined if the tree does not have it. */
  receipt(ledgerReceiptId: string, head?: PublishedCheckpoint): Promise<LedgerReceipt | undefined>;
  stats(): LogStats;
}

export interface LogStats {
  readonly size: number;
  /** Commits of this process. */
  readonly commits: number;
  /** The last error of a background task; the task is retried. */
  readonly backgroundError?: unknown;
  /** Why no leaf is accepted until an operator fixes it: the stored log differs from the published one, or the disk state is unknown. */
  readonly refusal?: LogError;
}

/** The index of a leaf, and the size of a published tree that contains it. */
export interface AppendedLeaf {
  readonly index: number;
  readonly treeSize: number;
}

/** Signs checkpoints; the key's name in the note is the log's origin. */
export interface CheckpointSigner {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Ed25519 signature, 64 bytes. `publicKey` and `sign` use the same key within a synchronous section. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** The signer with the name that it has in notes. */
export const noteSigner = (name: string, signer: CheckpointSigner): NoteSigner => ({
  ...{ name, publicKey: signer.publicKey },
  sign: (bytes) => signer.sign(bytes),
});

/** A signed and published tree head. */
export interface PublishedCheckpoint {
  readonly size: number;
  readonly root: Uint8Array;
  readonly note: string;
}
