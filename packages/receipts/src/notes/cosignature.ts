// Cosignatures of witnesses over checkpoints, timestamped Ed25519 (c2sp.org/tlog-cosignature), and the policy `N of {witnesses}`.

import { equalBytes } from '../tree/merkle.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { SIGNATURE_BYTES, verifyEd25519 } from './ed25519.ts';
import {
  findVerifier,
  MAX_SIGNATURES,
  type NoteParts,
  type NoteSigner,
  type NoteVerifier,
  noteVerifier,
  parseVerifierKey,
  refusedKey,
  SIGNATURE_TYPES,
  signatureLine,
  splitNote,
} from './note.ts';

const TIMESTAMP_BYTES = 8;
/** One signature of a checkpoint is the log's. */
const MAX_WITNESSES = MAX_SIGNATURES - 1;

/** A witness's statement that at this time the checkpoint was consistent with everything that it had cosigned of the log. */
export interface Cosignature {
  readonly witness: NoteVerifier;
  readonly at: Date;
  /** The signature line, without its newline. */
  readonly line: string;
}

/** At least `required` of these witnesses. */
export interface WitnessPolicy {
  readonly witnesses: readonly NoteVerifier[];
  readonly required: number;
}

/** The URL and key of a witness. */
export interface WitnessAddress {
  readonly verifier: NoteVerifier;
  /** Prefix of `/add-checkpoint`, without a trailing slash. */
  readonly url: string;
}

/** Status of the witnesses of a log. */
export interface WitnessReport {
  readonly configured: number;
  readonly required: number;
  /** Witnesses that have cosigned the served checkpoint. */
  readonly cosigning: number;
  /** Size of the newest checkpoint with the required number of cosignatures. */
  readonly cosignedLeaves: number;
  /** Witnesses that have not cosigned the served checkpoint, and why. */
  readonly missing: readonly { readonly name: string; readonly detail: string }[];
}

/** A policy as configured: verifier keys (type 0x04), and how many are required; all of them by default. */
export interface WitnessPolicyText {
  readonly keys: readonly string[];
  readonly required?: number | undefined;
}

/** Parses a policy, or returns what is wrong with it. Rejects a key under two names, which would count twice. */
export function readWitnessPolicy({
  keys,
  required = keys.length,
}: WitnessPolicyText): WitnessPolicy | { problem: string } {
  if (keys.length > MAX_WITNESSES) return { problem: `more than ${MAX_WITNESSES} witnesses` };
  const witnesses: NoteVerifier[] = [];
  for (const text of keys) {
    const witness = parseVerifierKey(text, SIGNATURE_TYPES.cosignature);
    if (!witness) return { problem: refusedKey(text, 'the verifier key of a witness') };
    if (witnesses.some(({ publicKey }) => equalBytes(publicKey, witness.publicKey)))
      return { problem: `the key of ${witness.name} is listed twice` };
    witnesses.push(witness);
  }
  if (!Number.isSafeInteger(required) || required < 1 || required > keys.length)
    return { problem: `${required} of ${keys.length} witnesses cannot be required` };
  return { witnesses, required };
}

/** The signature line of a witness over the text of a checkpoint. Throws RangeError for another text, or time 0. */
export function cosign(text: string, signer: NoteSigner, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1_000);
  if (!parseCheckpoint(text) || !(seconds > 0))
    throw new RangeError('only a checkpoint can be cosigned, at a time after 0');
  const signature = new Uint8Array(TIMESTAMP_BYTES + SIGNATURE_BYTES);
  new DataView(signature.buffer).setBigUint64(0, BigInt(seconds));
  signature.set(signer.sign(cosignedBytes(text, seconds)), TIMESTAMP_BYTES);
  return signatureLine(noteVerifier(signer.name, signer.publicKey, SIGNATURE_TYPES.cosignature), signature);
}

/**
 * The cosignatures of known witnesses on a checkpoint, one each. By c2sp.org/signed-note, those of unknown keys are ignored, and an
 * invalid signature of a known key makes the note invalid.
 */
export async function readCosignatures(
  note: string,
  witnesses: readonly NoteVerifier[],
): Promise<{ text: string; cosignatures: readonly Cosignature[] } | { problem: string }> {
  const parts = splitNote(note);
  if (!parts || !parseCheckpoint(parts.text)) return { problem: 'it is not a checkpoint' };
  const cosignatures: Cosignature[] = [];
  for (const signature of parts.signatures) {
    const witness = findVerifier(witnesses, signature);
    if (!witness || cosignatures.some((known) => known.witness === witness)) continue;
    const at = await cosignedAt(parts.text, signature, witness);
    if (!at) return { problem: `the cosignature of ${witness.name} does not verify` };
    cosignatures.push({ witness, at, line: signature.line });
  }
  return { text: parts.text, cosignatures };
}

/** Whether the required number of witnesses has cosigned a checkpoint; `detail` is a sentence for users. */
export async function checkWitnesses(
  note: string,
  { witnesses, required }: WitnessPolicy,
): Promise<{ ok: boolean; cosignatures: readonly Cosignature[]; detail: string }> {
  const read = await readCosignatures(note, witnesses);
  if ('problem' in read)
    return { ok: false, cosignatures: [], detail: `The witnesses cannot be counted: ${read.problem}.` };
  const { cosignatures } = read;
  const names = cosignatures.map(({ witness }) => witness.name).join(', ');
  const found = `It is cosigned by ${cosignatures.length} of ${witnesses.length} witnesses`;
  const ok = cosignatures.length >= required;
  return { ok, cosignatures, detail: `${found}${names && ` (${names})`}${ok ? '' : `; ${required} are required`}.` };
}

async function cosignedAt(
  text: string,
  { signature }: Pick<NoteParts['signatures'][number], 'signature'>,
  { publicKey }: NoteVerifier,
): Promise<Date | undefined> {
  if (signature.length !== TIMESTAMP_BYTES + SIGNATURE_BYTES) return undefined;
  const seconds = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0));
  const at = new Date(seconds * 1_000);
  // A time of 0 states nothing about the tree's size; other times must be valid dates.
  if (seconds === 0 || Number.isNaN(at.getTime())) return undefined;
  const isValid = await verifyEd25519(publicKey, signature.subarray(TIMESTAMP_BYTES), cosignedBytes(text, seconds));
  return isValid ? at : undefined;
}

/** The signed message: two lines, then the text of the checkpoint with its last newline. */
const cosignedBytes = (text: string, seconds: number): Uint8Array =>
  new TextEncoder().encode(`cosignature/v1\ntime ${seconds}\n${text}`);
