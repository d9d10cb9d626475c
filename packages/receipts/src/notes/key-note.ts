// Signed notes in which a key of a ledger vouches for another key. With them a verifier that knows an earlier key accepts a rotation.
import { decodeBase64Url } from '../encoding/base-encoding.ts';
import { type PublicKeyEntry, publicKeyEntry } from '../receipt/key-set.ts';
import { equalBytes } from '../tree/merkle.ts';
import { PUBLIC_KEY_BYTES } from './ed25519.ts';
import { type NoteVerifier, noteVerifier, openNote } from './note.ts';

export type KeyKind = 'receipt' | 'ledger';

/** First line of a key note. A checkpoint's first line is its origin, so the two cannot be confused. */
export const keyNoteHeader = (kind: KeyKind, origin: string): string => `${kind} key of ${origin}`;

type KeyFields = Pick<PublicKeyEntry, 'x' | 'not_before' | 'not_after'>;

/** Text of a note about a key of a ledger. */
export function keyNoteText(header: string, { x, not_before, not_after }: KeyFields): string {
  return `${header}\n${JSON.stringify({ x, not_before, not_after })}\n`;
}

/** The key that a note describes, or undefined for any other text. Its members have the order of a key set. */
export function readKeyNote(text: string, header: string): PublicKeyEntry | undefined {
  const [first, json = ''] = text.split('\n');
  if (first !== header) return undefined;
  const { x, not_before, not_after } = fieldsOf(json);
  const publicKey = typeof x === 'string' ? decodeBase64Url(x) : undefined;
  if (publicKey?.length !== PUBLIC_KEY_BYTES || typeof not_before !== 'string') return undefined;
  if (not_after === undefined) return publicKeyEntry(publicKey, { status: 'current', not_before });
  if (typeof not_after !== 'string') return undefined;
  return publicKeyEntry(publicKey, { status: 'retired', not_before, not_after });
}

function fieldsOf(json: string): Partial<Record<keyof KeyFields, unknown>> {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

/**
 * The known keys of a ledger, which all have its name, and the keys that they vouch for, directly or transitively. Notes by other keys
 * and about retired keys are ignored.
 */
export async function vouchedKeys(
  known: readonly NoteVerifier[],
  rotations: readonly string[],
): Promise<readonly NoteVerifier[]> {
  const keys = [...known];
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false;
    for (const note of rotations) {
      const opened = await openNote(note, keys);
      if (!opened.ok) continue;
      const { name } = opened.signedBy;
      const entry = readKeyNote(opened.text, keyNoteHeader('ledger', name));
      const publicKey = entry?.status === 'current' ? decodeBase64Url(entry.x) : undefined;
      if (!publicKey || keys.some((key) => equalBytes(key.publicKey, publicKey))) continue;
      keys.push(noteVerifier(name, publicKey));
      isGrowing = true;
    }
  }
  return keys;
}
