// Whether a head in the database is one of ours: signed by a key of this node, over the tree that its edge makes.
import {
  equalBytes,
  formatCheckpoint,
  type NoteVerifier,
  noteVerifier,
  openNote,
  parseCheckpoint,
  signNote,
} from '@strata/receipts';
import { type CheckpointSigner, noteSigner, type PublishedCheckpoint } from '../log.ts';
import { LogError } from '../log-error.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import type { SharedHead } from './shared-place.ts';

/** The keys that this node has for checkpoints. */
export interface CheckpointKeys {
  readonly signer: CheckpointSigner;
  /** Public keys of 32 bytes, current and retired: only what they signed is believed, whatever the database says. */
  publicKeys(): readonly Uint8Array[];
  /** Reads the keys anew; true when the current one changed. */
  reload(): Promise<boolean>;
}

/** The head of a tree, with its checkpoint signed by the current key. */
export function signedHead(origin: string, edge: TreeEdge, signer: CheckpointSigner): SharedHead {
  const [size, root] = [edge.size, edge.root()];
  return {
    origin,
    size,
    root,
    edge: edge.bytes(),
    note: signNote(formatCheckpoint({ origin, size, root }), [noteSigner(origin, signer)]),
  };
}

/**
 * Rejects with LogError: `wrong-origin`, `wrong-key` when no key of this node signed it, `corrupt-checkpoint` when head, edge and
 * checkpoint say different things or the signature does not hold.
 */
export async function checkHead(
  head: SharedHead,
  origin: string,
  keys: Pick<CheckpointKeys, 'publicKeys'>,
): Promise<TreeEdge> {
  if (head.origin !== origin) {
    throw new LogError('wrong-origin', `the database holds the log ${head.origin}, not ${origin}`);
  }
  const checkpoint = await openCheckpoint(head.note, origin, keys);
  const edge = TreeEdge.of(head.size, head.edge);
  const isOneTree =
    checkpoint.size === head.size &&
    equalBytes(checkpoint.root, head.root) &&
    edge !== undefined &&
    equalBytes(edge.root(), head.root);
  if (!isOneTree) {
    throw new LogError('corrupt-checkpoint', 'the head of the log in the database is not what its checkpoint says');
  }
  return edge;
}

/** Size and root of a checkpoint that a key of this node signed. */
export async function openCheckpoint(
  note: string,
  origin: string,
  keys: Pick<CheckpointKeys, 'publicKeys'>,
): Promise<PublishedCheckpoint> {
  const verifiers: NoteVerifier[] = keys.publicKeys().map((key) => noteVerifier(origin, key));
  const opened = await openNote(note, verifiers);
  if (!opened.ok && opened.problem.startsWith('no signature')) {
    throw new LogError(
      'wrong-key',
      `the log ${origin} in the database is signed by a key that this node does not have: give every node the same keys folder, the newest after a rotation`,
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
