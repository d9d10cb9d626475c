// The text of a checkpoint: origin, tree size, root hash (c2sp.org/tlog-checkpoint).
import { decodeBase64, encodeBase64 } from '../encoding/base-encoding.ts';
import { HASH_BYTES } from '../tree/merkle.ts';
import { noteText } from './note.ts';

export interface Checkpoint {
  /** Identity of the log: its URL without the scheme. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** Note text of a checkpoint, without extension lines. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
}

/** Checkpoint of a note's text, or undefined. Extension lines are accepted and ignored. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  if (!text.endsWith('\n')) return undefined;
  const lines = text.slice(0, -1).split('\n');
  const [origin = '', sizeText = '', rootText = ''] = lines;
  const root = decodeBase64(rootText);
  const size = Number(sizeText);
  if (lines.includes('') || lines.length < 3 || root?.length !== HASH_BYTES) return undefined;
  if (!/^(0|[1-9]\d*)$/.test(sizeText) || !Number.isSafeInteger(size)) return undefined;
  return { origin, size, root };
}

/** Checkpoint of a signed note, or undefined. Its signatures are not verified. */
export function checkpointOfNote(note: string): Checkpoint | undefined {
  return parseCheckpoint(noteText(note));
}
