// Proofs of served requests as lines of text that anyone can verify: the signed receipt, and both signatures.
import { decodeSegmentReceipt, type SegmentReceipt, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { SegmentRecord } from '@strata/segments';
import { z } from 'zod';

const Base64 = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

/** One line of an export. The readable fields repeat the receipt and must match it. */
const Proof = z.object({
  worker: z.string(),
  gateway: z.string(),
  model_sha256: z.string(),
  prompt_tokens: z.number(),
  cached_tokens: z.number(),
  output_tokens: z.number(),
  ended_at: z.string(),
  receipt: Base64,
  worker_signature: Base64,
  gateway_signature: Base64.nullable(),
});

/** `settled`: both sides signed it. `signed`: only the worker did. */
export type ProofOutcome =
  | { readonly kind: 'settled' | 'signed'; readonly receipt: SegmentReceipt }
  | { readonly kind: 'wrong'; readonly reason: string };

/** JSON, without a line break. */
export function proofLine(segment: SegmentRecord): string {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return JSON.stringify({
    ...fieldsOf(decodeSegmentReceipt(segment.receipt)),
    receipt: base64(segment.receipt),
    worker_signature: base64(segment.workerSignature),
    gateway_signature: segment.gatewaySignature === undefined ? null : base64(segment.gatewaySignature),
  });
}

/** A unique name of a receipt, to count each once. */
export const proofName = ({ worker, gateway, nonce }: SegmentReceipt): string =>
  `${worker} ${gateway} ${Buffer.from(nonce).toString('hex')}`;

/** Verifies with the keys of the peer ids in the receipt; who owns these ids is not known here. */
export async function checkProof(line: string): Promise<ProofOutcome> {
  const wrong = (reason: string) => ({ kind: 'wrong', reason }) as const;
  const parsed = Proof.safeParse(parsedJson(line));
  if (!parsed.success) return wrong('it is not a line of an export');
  const { receipt: bytes, worker_signature: byWorker, gateway_signature: byGateway, ...claimed } = parsed.data;
  let receipt: SegmentReceipt;
  try {
    receipt = decodeSegmentReceipt(bytes);
  } catch {
    return wrong('its receipt cannot be decoded');
  }
  if (!(await verifyPeerSignature(receipt.worker, segmentSignedBytes(bytes), byWorker)))
    return wrong('the signature is not that of the worker');
  const signed = fieldsOf(receipt);
  const other = (Object.keys(signed) as (keyof typeof signed)[]).find((name) => signed[name] !== claimed[name]);
  if (other !== undefined) return wrong(`${other} differs from the signed receipt`);
  if (byGateway === null) return { kind: 'signed', receipt };
  if (!(await verifyPeerSignature(receipt.gateway, settleSignedBytes(bytes), byGateway)))
    return wrong('the agreement is not signed by the gateway');
  return { kind: 'settled', receipt };
}

function fieldsOf({ worker, gateway, modelSha256, promptTokens, cachedTokens, from, to, endedAtMs }: SegmentReceipt) {
  return {
    ...{ worker, gateway, model_sha256: modelSha256 },
    ...{ prompt_tokens: promptTokens, cached_tokens: cachedTokens, output_tokens: to - from },
    // The worker's clock may have values that are not dates.
    ended_at: Math.abs(endedAtMs) <= 8.64e15 ? new Date(endedAtMs).toISOString() : '',
  };
}

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
