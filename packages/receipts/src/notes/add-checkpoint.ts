// The add-checkpoint request of c2sp.org/tlog-witness: its format, and the decision of a witness. Pure.
import { decodeBase64, encodeBase64 } from '../encoding/base-encoding.ts';
import { EMPTY_ROOT, equalBytes, HASH_BYTES, verifyConsistency } from '../tree/merkle.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { joinNote, type NoteVerifier, openNote, splitNote } from './note.ts';

/** c2sp.org/tlog-witness: the maximum that a client sends. */
const MAX_PROOF_LINES = 63;

export interface AddCheckpointRequest {
  /** Size of the latest checkpoint that the witness has cosigned, as known to the client. */
  readonly oldSize: number;
  /** From the old size to the checkpoint; empty if the old size is 0 or equal. */
  readonly proof: readonly Uint8Array[];
  /** The signed note, verbatim. */
  readonly checkpoint: string;
}

export function formatAddCheckpoint({ oldSize, proof, checkpoint }: AddCheckpointRequest): string {
  return `${[`old ${oldSize}`, ...proof.map(encodeBase64)].join('\n')}\n\n${checkpoint}`;
}

/** Undefined for a malformed request. The checkpoint is not parsed. */
export function parseAddCheckpoint(body: string): AddCheckpointRequest | undefined {
  const end = body.indexOf('\n\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = body.slice(0, end).split('\n', MAX_PROOF_LINES + 2);
  const [, sizeText] = /^old (0|[1-9]\d*)$/.exec(first) ?? [];
  const oldSize = Number(sizeText);
  if (!Number.isSafeInteger(oldSize) || lines.length > MAX_PROOF_LINES) return undefined;
  const proof: Uint8Array[] = [];
  for (const line of lines) {
    const hash = decodeBase64(line);
    if (hash?.length !== HASH_BYTES) return undefined;
    proof.push(hash);
  }
  return { oldSize, proof, checkpoint: body.slice(end + 2) };
}

/** The state of a witness. */
export interface WitnessView {
  /** Keys of the log with this origin; undefined if the witness does not accept the log. */
  readonly verifiersOf: (origin: string) => readonly NoteVerifier[] | undefined;
  /** The latest checkpoint of the log that the witness has cosigned; undefined before the first. */
  readonly latestOf: (origin: string) => Pick<Checkpoint, 'size' | 'root'> | undefined;
}

/** A checkpoint that may be cosigned, or the status of the rejection; `size` is for 409. */
export type CheckpointJudgement =
  | {
      readonly status: 200;
      readonly checkpoint: Checkpoint;
      readonly text: string;
      /** Verified signature lines of the log's keys. */
      readonly signatures: readonly string[];
    }
  | { readonly status: 409; readonly size: number }
  /** `evidence`: the note with its verified signature lines; absent if the tree is the known one. */
  | { readonly status: 422; readonly problem: string; readonly evidence?: string }
  | { readonly status: 400 | 403 | 404; readonly problem: string };

/** The unverified origin in a request; undefined if it contains no checkpoint. */
export function originOf({ checkpoint }: AddCheckpointRequest): string | undefined {
  const parts = splitNote(checkpoint);
  return parts && parseCheckpoint(parts.text)?.origin;
}

/**
 * Decides a request by the rules of c2sp.org/tlog-witness: known log, valid signature, the old size of the witness, a valid proof. The
 * caller must handle no other request of this log until the new checkpoint is recorded.
 */
export async function judgeCheckpoint(
  { oldSize, proof, checkpoint: note }: AddCheckpointRequest,
  { verifiersOf, latestOf }: WitnessView,
): Promise<CheckpointJudgement> {
  const origin = originOf({ oldSize, proof, checkpoint: note });
  if (origin === undefined) return { status: 400, problem: 'the request contains no checkpoint' };
  const verifiers = verifiersOf(origin);
  if (!verifiers) return { status: 404, problem: 'this witness does not know the log' };
  const opened = await openNote(note, verifiers);
  if (!opened.ok) return { status: 403, problem: opened.problem };
  const checkpoint = parseCheckpoint(opened.text);
  if (!checkpoint || oldSize > checkpoint.size)
    return { status: 400, problem: 'the old size is greater than the new one' };
  const known = latestOf(origin) ?? { size: 0, root: EMPTY_ROOT };
  if (known.size !== oldSize) return { status: 409, size: known.size };
  const { size: newSize, root: newRoot } = checkpoint;
  if (!verifyConsistency({ oldSize, oldRoot: known.root, newSize, newRoot, proof })) {
    const problem = `the proof does not connect the tree of ${oldSize} leaves to that of ${newSize}`;
    if (newSize === oldSize && equalBytes(newRoot, known.root)) return { status: 422, problem };
    return { status: 422, problem, evidence: joinNote(opened.text, opened.signatures) };
  }
  return { status: 200, checkpoint, text: opened.text, signatures: opened.signatures };
}
