// The database interface of a log of several nodes. The store implements it; this package has no SQL.
import type { SealedSubtree } from '../tree/tree-edge.ts';

/** The end of the log. */
export interface SharedHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** Bytes of a `TreeEdge`. */
  readonly edge: Uint8Array;
  /** The signed checkpoint. */
  readonly note: string;
}

/** Leaves to append after a head, and the new head. */
export interface Growth {
  /** The head that the growth is based on. */
  readonly from: Pick<SharedHead, 'size' | 'root'>;
  readonly leaves: readonly { readonly hash: Uint8Array; readonly leaf: Uint8Array }[];
  readonly subtrees: readonly SealedSubtree[];
  readonly head: SharedHead;
}

/** Writes growth after the head that it is based on; returns false if the head has moved, and the transaction must be rolled back. */
export type Grow = (growth: Growth) => Promise<boolean>;

/**
 * Only the head is ever updated. Methods reject when the database fails; a rejected `withHead` may have been committed, if the
 * connection broke during the commit.
 */
export interface SharedHeads {
  /** The last committed head; undefined before `begin`. */
  head(): Promise<SharedHead | undefined>;
  /** Inserts a first head unless one exists; returns the stored head. */
  begin(first: SharedHead): Promise<SharedHead>;
  /** Locks the head exclusively among all nodes and passes it to `work`; everything that it grows is committed together, or rolled back if it rejects. */
  withHead<T>(work: (head: SharedHead, grow: Grow) => Promise<T>): Promise<T>;
}

/** Committed leaves, and the hashes above them. */
export interface SharedRows {
  /** Concatenated hashes that exist: of leaves at level 0, above of subtrees of 256^level leaves. */
  hashes(level: number, from: number, count: number): Promise<Uint8Array>;
  leaves(from: number, count: number): Promise<readonly Uint8Array[]>;
  /** Index of the first leaf whose hash has this prefix. */
  find(hashPrefix: Uint8Array): Promise<number | undefined>;
}

/** A database that holds a log. */
export interface SharedStorage {
  readonly heads: SharedHeads;
  readonly rows: SharedRows;
}
