// A transparency log as the services use it, wherever it is kept.
import type { LedgerReceipt, NoteSigner } from '@strata/receipts';
import type { LogError } from './log-error.ts';

/**
 * An acknowledged leaf is durable, and covered by the checkpoint that is served. Leaves of one process stand in the order of its calls.
 * Rejects with LogError, or with what the database rejects with.
 */
export interface Log {
  /** Leaves of the published tree. */
  readonly size: number;
  /** The served checkpoint, a signed note. */
  checkpoint(): string;
  /** Adds a leaf; resolves when it is durable and a checkpoint that covers it is served. */
  append(leaf: Uint8Array): Promise<Placed>;
  /** A resource by its path below the log's prefix: `checkpoint`, `tile/0/x001/234`, `tile/entries/000.p/7`. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** The receipt of a `cr_` id, proved against the present checkpoint or an earlier one; undefined for an id that its tree lacks. */
  receipt(ledgerReceiptId: string, head?: PublishedCheckpoint): Promise<LedgerReceipt | undefined>;
  stats(): LogStats;
}

export interface LogStats {
  readonly size: number;
  /** Commits of this process. */
  readonly commits: number;
  /** The latest failure of work that nobody waits for; it is tried again. */
  readonly backgroundError?: unknown;
  /** Why no leaf is taken until somebody mends it: what is there is not what was served, or it is not known what is on the disk. */
  readonly refusal?: LogError;
}

/** Where a leaf stands, and the size of a published tree that holds it. */
export interface Placed {
  readonly index: number;
  readonly treeSize: number;
}

/** Signs checkpoints; the key's name in the note is the log's origin. */
export interface CheckpointSigner {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Ed25519 signature of 64 bytes. `publicKey` and `sign` belong together within one synchronous turn. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** The same under the name that it has in notes. */
export const noteSigner = (name: string, signer: CheckpointSigner): NoteSigner => ({
  ...{ name, publicKey: signer.publicKey },
  sign: (bytes) => signer.sign(bytes),
});

/** A tree head that has been signed and is served. */
export interface PublishedCheckpoint {
  readonly size: number;
  readonly root: Uint8Array;
  readonly note: string;
}
