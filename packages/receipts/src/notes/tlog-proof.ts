// The offline proof that a leaf is in a log (c2sp.org/tlog-proof).
import { decodeBase64, encodeBase64 } from '../encoding/base-encoding.ts';
import { HASH_BYTES, MAX_PROOF_HASHES } from '../tree/merkle.ts';

const HEADER = 'c2sp.org/tlog-proof@v1';

export interface TlogProof {
  readonly index: number;
  /** From the leaf's sibling to the root's child. */
  readonly proof: readonly Uint8Array[];
  /** The signed note, verbatim. */
  readonly checkpoint: string;
  /** Opaque and unauthenticated. */
  readonly extra?: Uint8Array;
}

/** Text of a proof. */
export function formatTlogProof({ index, proof, checkpoint, extra }: TlogProof): string {
  const lines = [HEADER];
  if (extra) lines.push(`extra ${encodeBase64(extra)}`);
  lines.push(`index ${index}`, ...proof.map(encodeBase64));
  return `${lines.join('\n')}\n\n${checkpoint}`;
}

/** Parses a proof, or returns undefined if it is malformed. The checkpoint is not parsed. */
export function parseTlogProof(text: string): TlogProof | undefined {
  const end = text.indexOf('\n\n');
  if (end < 0) return undefined;
  const lines = text.slice(0, end).split('\n', MAX_PROOF_HASHES + 4);
  if (lines.shift() !== HEADER) return undefined;
  const extraText = lines[0]?.startsWith('extra ') ? lines.shift()?.slice('extra '.length) : undefined;
  const extra = extraText === undefined ? undefined : decodeBase64(extraText);
  if (extraText !== undefined && !extra) return undefined;
  const [, indexText] = /^index (0|[1-9]\d*)$/.exec(lines.shift() ?? '') ?? [];
  const index = Number(indexText);
  if (!Number.isSafeInteger(index) || lines.length > MAX_PROOF_HASHES) return undefined;
  const proof: Uint8Array[] = [];
  for (const line of lines) {
    const hash = decodeBase64(line);
    if (hash?.length !== HASH_BYTES) return undefined;
    proof.push(hash);
  }
  return { index, proof, checkpoint: text.slice(end + 2), ...(extra && { extra }) };
}
