// Signed notes with Ed25519 signatures (c2sp.org/signed-note).
import { decodeBase64, encodeBase64, encodeHex } from '../encoding/base-encoding.ts';
import { equalBytes, sha256 } from '../tree/merkle.ts';
import { PUBLIC_KEY_BYTES, verifyEd25519 } from './ed25519.ts';

/** Signature types, c2sp.org/signed-note: notes themselves, and timestamped cosignatures of checkpoints. */
export const SIGNATURE_TYPES = { note: 0x01, cosignature: 0x04 } as const;
export type SignatureType = (typeof SIGNATURE_TYPES)[keyof typeof SIGNATURE_TYPES];
const KEY_ID_BYTES = 4;
/** A longer note is rejected without reading it; the specification requires support for at least 16 signatures. */
const MAX_NOTE_CHARACTERS = 65_536;
export const MAX_SIGNATURES = 64;

/** Signs notes under a key name; `sign` returns 64 bytes. */
export interface NoteSigner {
  readonly name: string;
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array): Uint8Array;
}

/** A key that verifies notes. */
export interface NoteVerifier {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly type: SignatureType;
}

/** The opened note, or why it must be ignored. `signatures` are the lines of known keys, one of each, without newlines. */
export type OpenedNote =
  | { ok: true; text: string; signedBy: NoteVerifier; signatures: readonly string[] }
  | { ok: false; problem: string };

/** Verifier of a key name and an Ed25519 public key. Throws RangeError for an invalid name. */
export function noteVerifier(
  name: string,
  publicKey: Uint8Array,
  type: SignatureType = SIGNATURE_TYPES.note,
): NoteVerifier {
  if (!isKeyName(name)) throw new RangeError('a key name has no spaces, no plus sign and is not empty');
  const prefix = new TextEncoder().encode(`${name}\n`);
  const input = new Uint8Array(prefix.length + 1 + publicKey.length);
  input.set(prefix);
  input[prefix.length] = type;
  input.set(publicKey, prefix.length + 1);
  return { name, publicKey, type, keyId: sha256(input).slice(0, KEY_ID_BYTES) };
}

/** The text form of a verifier key: `<name>+<key id>+<key>`. */
export function formatVerifierKey({ name, keyId, publicKey, type }: NoteVerifier): string {
  return `${name}+${encodeHex(keyId)}+${encodeBase64(Uint8Array.of(type, ...publicKey))}`;
}

/** Verifier of a vkey text, or undefined if it is not an Ed25519 vkey of this type or its key id is not the recommended one. */
export function parseVerifierKey(text: string, type: SignatureType = SIGNATURE_TYPES.note): NoteVerifier | undefined {
  const match = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/s.exec(text);
  const [, name = '', keyId = '', key = ''] = match ?? [];
  const typed = decodeBase64(key);
  if (!isKeyName(name) || typed?.length !== 1 + PUBLIC_KEY_BYTES || typed[0] !== type) return undefined;
  const verifier = noteVerifier(name, typed.subarray(1), type);
  return encodeHex(verifier.keyId) === keyId ? verifier : undefined;
}

/** Why a text is refused as a key, for a message: `what` names what it should be. It may be a private key, and is not repeated. */
export function refusedKey(text: string, what: string): string {
  if (/PRIVATE.KEY|"d"\s*:/.test(text)) return `a private key was given, not ${what}`;
  const [, name] = /^([^+\s]{1,100})\+[0-9a-f]{8}\+/.exec(text) ?? [];
  return `${name === undefined ? 'a given key' : `the key of '${name}'`} is not ${what}`;
}

/** Signed note over a text that ends with a newline. Throws RangeError for a text that a note cannot contain. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  if (!isNoteText(text) || !text.endsWith('\n')) throw new RangeError('not the text of a note');
  const bytes = new TextEncoder().encode(text);
  const lines = signers.map((signer) => {
    const verifier = noteVerifier(signer.name, signer.publicKey);
    return signatureLine(verifier, signer.sign(bytes));
  });
  return joinNote(text, lines);
}

/** A note of a text and signature lines without their newlines. */
export const joinNote = (text: string, lines: readonly string[]): string =>
  `${text}\n${lines.map((line) => `${line}\n`).join('')}`;

/**
 * Verifies a note with known keys. Signatures of unknown keys are ignored; the note is rejected if a signature of a known key is
 * invalid or no known key signed it.
 */
export async function openNote(note: string, verifiers: readonly NoteVerifier[]): Promise<OpenedNote> {
  const parts = splitNote(note);
  if (!parts) return { ok: false, problem: 'the note is malformed' };
  const bytes = new TextEncoder().encode(parts.text);
  const lines = new Map<NoteVerifier, string>();
  for (const { line, signature, ...signer } of parts.signatures) {
    const verifier = findVerifier(verifiers, signer);
    if (!verifier) continue;
    if (!(await verifyEd25519(verifier.publicKey, signature, bytes))) {
      return { ok: false, problem: `the signature of ${signer.name} does not verify` };
    }
    if (!lines.has(verifier)) lines.set(verifier, line);
  }
  const [signedBy] = lines.keys();
  if (!signedBy) return { ok: false, problem: 'no signature is by a known key' };
  return { ok: true, text: parts.text, signedBy, signatures: [...lines.values()] };
}

/** The known key of a signature line, by name and key id. */
export function findVerifier(
  verifiers: readonly NoteVerifier[],
  { name, keyId }: Pick<NoteVerifier, 'name' | 'keyId'>,
): NoteVerifier | undefined {
  return verifiers.find((known) => known.name === name && equalBytes(known.keyId, keyId));
}

/** A signature line without its newline. */
export function signatureLine({ name, keyId }: NoteVerifier, signature: Uint8Array): string {
  return `— ${name} ${encodeBase64(Uint8Array.of(...keyId, ...signature))}`;
}

/** The parts of a note; signatures are not verified. */
export interface NoteParts {
  readonly text: string;
  readonly signatures: readonly {
    readonly line: string;
    readonly name: string;
    readonly keyId: Uint8Array;
    readonly signature: Uint8Array;
  }[];
}

/** The text of a signed note; nothing is verified. */
export const noteText = (note: string): string => note.slice(0, note.lastIndexOf('\n\n') + 1);

/** Undefined if it is not a note. */
export function splitNote(note: string): NoteParts | undefined {
  if (note.length > MAX_NOTE_CHARACTERS || !isNoteText(note)) return undefined;
  const split = note.lastIndexOf('\n\n');
  if (split < 0 || !note.endsWith('\n')) return undefined;
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) return undefined;
  const signatures = [];
  for (const line of lines) {
    const [, name = '', encoded = ''] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
    const bytes = decodeBase64(encoded);
    // Other algorithms have other lengths; a signature must be longer than its key id.
    if (!isKeyName(name) || !bytes || bytes.length <= KEY_ID_BYTES) return undefined;
    signatures.push({ line, name, keyId: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) });
  }
  return { text: note.slice(0, split + 1), signatures };
}

/** Whether a key may have the name: not empty, no spaces, no plus sign (c2sp.org/signed-note). */
export const isKeyName = (name: string): boolean => name !== '' && !/[\s+\p{White_Space}\p{Cc}]/u.test(name);
/** No control characters but newline, and nothing that UTF-8 cannot carry. */
const isNoteText = (text: string): boolean => text.isWellFormed() && !/[^\P{Cc}\n\u007f-\u009f]/u.test(text);
