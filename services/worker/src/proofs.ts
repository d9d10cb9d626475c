// What was served, as lines of text that anybody can check: the receipt as it was signed, and both signatures.
import { decodeSegmentReceipt, type SegmentReceipt, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { SegmentRecord } from '@strata/store';
import { z } from 'zod';

const Base64 = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

/** One line of an export. Everything else that a line says is for people, and stands in the receipt too. */
const Proof = z.object({
  receipt: Base64,
  worker_signature: Base64,
  gateway_signature: Base64.nullable(),
});

/** `settled`: both sides signed it. `signed`: the worker did, and nobody else. */
export type ProofOutcome =
  | { readonly kind: 'settled' | 'signed'; readonly receipt: SegmentReceipt }
  | { readonly kind: 'wrong'; readonly reason: string };

/** JSON, without the end of the line. */
export function proofLine(segment: SegmentRecord): string {
  const { worker, gateway, modelSha256, promptTokens, cachedTokens, outputTokens, endedAtMs } = segment;
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return JSON.stringify({
    ...{ worker, gateway, model_sha256: modelSha256 },
    ...{ prompt_tokens: promptTokens, cached_tokens: cachedTokens, output_tokens: outputTokens },
    ended_at: new Date(endedAtMs).toISOString(),
    receipt: base64(segment.receipt),
    worker_signature: base64(segment.workerSignature),
    gateway_signature: segment.gatewaySignature === undefined ? null : base64(segment.gatewaySignature),
  });
}

/** By the keys that the peer ids in the receipt name; whether these are who somebody says they are is not known here. */
export async function checkProof(line: string): Promise<ProofOutcome> {
  const wrong = (reason: string) => ({ kind: 'wrong', reason }) as const;
  const parsed = Proof.safeParse(parsedJson(line));
  if (!parsed.success) return wrong('it is no line of an export');
  const { receipt: bytes, worker_signature: byWorker, gateway_signature: byGateway } = parsed.data;
  let receipt: SegmentReceipt;
  try {
    receipt = decodeSegmentReceipt(bytes);
  } catch {
    return wrong('its receipt cannot be read');
  }
  if (!(await verifyPeerSignature(receipt.worker, segmentSignedBytes(bytes), byWorker)))
    return wrong('the signature is not that of the worker');
  if (byGateway === null) return { kind: 'signed', receipt };
  if (!(await verifyPeerSignature(receipt.gateway, settleSignedBytes(bytes), byGateway)))
    return wrong('the agreement is not signed by the gateway');
  return { kind: 'settled', receipt };
}

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
