// Signs and verifies the head of a log in a database: it must be signed by a known key, and match its edge.
import {
  equalBytes,
  formatCheckpoint,
  leafHash,
  type NoteVerifier,
  noteVerifier,
  openNote,
  parseCheckpoint,
  signNote,
} from '@strata/receipts';
import { type CheckpointSigner, noteSigner, type PublishedCheckpoint } from '../log.ts';
import { LogError } from '../log-error.ts';
import type { GrowLedger, LedgerGrowth, LedgerHead } from './ledger-tables.ts';
import { sha256, TreeEdge } from './tree-edge.ts';

/** The checkpoint keys known to this node. */
export interface CheckpointKeys {
  readonly signer: CheckpointSigner;
  /** Current and retired public keys, 32 bytes each: only their signatures are trusted, whatever the database contains. */
  publicKeys(): readonly Uint8Array[];
  /** What to do if none of them signed a head; by default, advice for a node of several. */
  readonly advice?: string;
  /** Reloads the keys; returns whether the current one changed. */
  reload(): Promise<boolean>;
}

export type VerifyingKeys = Pick<CheckpointKeys, 'publicKeys' | 'advice'>;

/** Begins the origin of the head of a database whose log was moved to a directory; no node appends to it. */
export const MOVED_TO = 'moved to ';

/** The head of a tree, with a checkpoint signed by the current key. */
export function signedHead(origin: string, edge: TreeEdge, signer: CheckpointSigner): LedgerHead {
  const [size, root] = [edge.size, edge.root()];
  return {
    origin,
    size,
    root,
    edge: edge.bytes(),
    note: signNote(formatCheckpoint({ origin, size, root }), [noteSigner(origin, signer)]),
  };
}

export type AddedLeaf = LedgerGrowth['leaves'][number];

/** Hashes leaves in native code. */
export const addedLeaves = (leaves: readonly Uint8Array[]): readonly AddedLeaf[] =>
  leaves.map((leaf) => ({ hash: leafHash(leaf, sha256), leaf }));

export interface GrowthOptions {
  /** Of the locked head. */
  readonly edge: TreeEdge;
  readonly grow: GrowLedger;
  readonly origin: string;
  readonly keys: Pick<CheckpointKeys, 'signer'>;
  /** As of `LedgerGrowth`. */
  readonly isLast?: boolean;
}

/** Appends leaves under the head lock. Rejects with LogError `forked` if the head has moved, or a leaf must be unique and is not. */
export async function growHead(
  leaves: readonly AddedLeaf[],
  { edge, grow, origin, keys, isLast = false }: GrowthOptions,
): Promise<{ readonly edge: TreeEdge; readonly head: LedgerHead }> {
  const { edge: grown, sealed } = edge.grow(leaves.map(({ hash }) => hash));
  const from = { size: edge.size, root: edge.root() };
  const head = signedHead(origin, grown, keys.signer);
  if (await grow({ from, leaves, subtrees: sealed, head, isLast })) return { edge: grown, head };
  throw new LogError(
    'forked',
    'the head of the log moved while this node held it, or the log has one of the leaves: nothing was written',
  );
}

/**
 * The edge of a head. The signature is not verified again if it is that of `verified`. Rejects with LogError: `wrong-origin`;
 * `wrong-key` if no known key signed the checkpoint; `corrupt-checkpoint` if head, edge and checkpoint do not match or the signature
 * is invalid.
 */
export async function checkHead(
  head: LedgerHead,
  origin: string,
  keys: VerifyingKeys,
  verified?: PublishedCheckpoint,
): Promise<TreeEdge> {
  if (head.origin.startsWith(MOVED_TO)) {
    throw new LogError('wrong-origin', `the log of this database has ${head.origin}: unset STRATA_DATABASE_URL there`);
  }
  if (head.origin !== origin) {
    throw new LogError('wrong-origin', `the database holds the log ${head.origin}, not ${origin}`);
  }
  const checkpoint = head.note === verified?.note ? verified : await openCheckpoint(head.note, origin, keys);
  const edge = TreeEdge.of(head.size, head.edge);
  const isOneTree =
    checkpoint.size === head.size &&
    equalBytes(checkpoint.root, head.root) &&
    edge !== undefined &&
    equalBytes(edge.root(), head.root);
  if (!isOneTree) {
    throw new LogError('corrupt-checkpoint', 'the head of the log in the database does not match its checkpoint');
  }
  return edge;
}

/** Size and root of a checkpoint that a known key signed. */
export async function openCheckpoint(note: string, origin: string, keys: VerifyingKeys): Promise<PublishedCheckpoint> {
  const verifiers: NoteVerifier[] = keys.publicKeys().map((key) => noteVerifier(origin, key));
  const opened = await openNote(note, verifiers);
  if (!opened.ok && opened.problem.startsWith('no signature')) {
    throw new LogError(
      'wrong-key',
      `the log ${origin} is signed by a key that is not in the keys folder: ${keys.advice ?? 'give every node the same keys folder, the newest after a rotation'}`,
    );
  }
  const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined;
  if (!checkpoint || checkpoint.origin !== origin) {
    throw new LogError(
      'corrupt-checkpoint',
      `the checkpoint of the log ${origin} was altered${opened.ok ? '' : `: ${opened.problem}`}`,
    );
  }
  return { size: checkpoint.size, root: checkpoint.root, note };
}
