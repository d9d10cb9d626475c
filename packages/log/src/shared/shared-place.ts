// What a log needs of the database that several nodes keep it in. The store fulfils it; this package knows no SQL.
import type { SealedSubtree } from '../tree/tree-edge.ts';

/** Where the log ends. */
export interface SharedHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** Bytes of a `TreeEdge`. */
  readonly edge: Uint8Array;
  /** The signed checkpoint. */
  readonly note: string;
}

/** What is added behind a head, and the head that it leads to. */
export interface Growth {
  /** The head that it was made for. */
  readonly from: Pick<SharedHead, 'size' | 'root'>;
  readonly leaves: readonly { readonly hash: Uint8Array; readonly leaf: Uint8Array }[];
  readonly subtrees: readonly SealedSubtree[];
  readonly head: SharedHead;
}

/** Adds behind the head that it was made for; false when the head is another one, and the turn must end with an error. */
export type Grow = (growth: Growth) => Promise<boolean>;

/**
 * What was written is never changed, only the head moves. Each method rejects when the database fails; a rejected `inTurn` may have
 * been committed all the same, when the connection broke while it was.
 */
export interface SharedTurns {
  /** The head as last committed; undefined before `begin`. */
  head(): Promise<SharedHead | undefined>;
  /** Puts a first head where there is none; answers the one that is there. */
  begin(first: SharedHead): Promise<SharedHead>;
  /** One node at a time: `work` sees the newest head, and all that it grows is committed together, or not at all when it throws. */
  inTurn<T>(work: (head: SharedHead, grow: Grow) => Promise<T>): Promise<T>;
}

/** Committed leaves, and the hashes above them. */
export interface SharedRows {
  /** Hashes side by side, those that are there: of leaves at level 0, above of subtrees of 256^level leaves. */
  hashes(level: number, from: number, count: number): Promise<Uint8Array>;
  leaves(from: number, count: number): Promise<readonly Uint8Array[]>;
  /** Index of a leaf whose hash begins so. */
  find(hashPrefix: Uint8Array): Promise<number | undefined>;
}

/** A database that holds a log. */
export interface SharedPlace {
  readonly turns: SharedTurns;
  readonly rows: SharedRows;
}
