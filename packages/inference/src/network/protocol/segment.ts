// What a worker signs for its segment of an answer: digests, and a hash chain over token ids that commits to the entire
// answer in a few bytes.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { SegmentReceipt } from './frame.ts';

const utf8 = new TextEncoder();
/** Domain separation: a signature made for one purpose is not valid for another. */
const OFFER_DOMAIN = utf8.encode('strata-offer-v1\0');
const SEGMENT_DOMAIN = utf8.encode('strata-segment-v1\0');
const SETTLE_DOMAIN = utf8.encode('strata-settle-v1\0');
const CHAIN_DOMAIN = utf8.encode('strata-chain-v1\0');

/**
 * The bytes to sign for an encoded offer, for an encoded receipt (worker), and for accepting the same receipt
 * (gateway).
 */
export const offerSignedBytes = (offer: Uint8Array): Uint8Array => concatBytes(OFFER_DOMAIN, offer);
export const segmentSignedBytes = (receipt: Uint8Array): Uint8Array => concatBytes(SEGMENT_DOMAIN, receipt);
export const settleSignedBytes = (receipt: Uint8Array): Uint8Array => concatBytes(SETTLE_DOMAIN, receipt);

/** Hex SHA-256. */
export const bytesSha256 = (bytes: Uint8Array): string => bytesToHex(sha256(bytes));

/** Hex SHA-256 of token ids, each 4 bytes, little-endian. */
export function tokensSha256(tokens: readonly number[]): string {
  const bytes = new Uint8Array(tokens.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, token] of tokens.entries()) view.setUint32(i * 4, token, true);
  return bytesToHex(sha256(bytes));
}

/**
 * The hash chain over the tokens of one segment: SHA-256 of the previous head and the token's 4 bytes, little-endian.
 */
export class TokenChain {
  #head: Uint8Array;

  /** Starts with the nonce, the model, the prompt's digest and the position of the segment's first token. */
  constructor(start: {
    readonly nonce: Uint8Array;
    readonly modelSha256: string;
    readonly promptSha256: string;
    readonly from: number;
  }) {
    const from = new Uint8Array(4);
    new DataView(from.buffer).setUint32(0, start.from, true);
    this.#head = sha256(
      concatBytes(CHAIN_DOMAIN, start.nonce, hexToBytes(start.modelSha256), hexToBytes(start.promptSha256), from),
    );
  }

  push(token: number): void {
    const bytes = new Uint8Array(36);
    bytes.set(this.#head);
    new DataView(bytes.buffer).setUint32(32, token, true);
    this.#head = sha256(bytes);
  }

  /** Hex. */
  get head(): string {
    return bytesToHex(this.#head);
  }
}

/** The segment as the gateway observed it, to compare with a receipt. */
export interface ObservedSegment {
  readonly nonce: Uint8Array;
  readonly worker: string;
  readonly gateway: string;
  readonly modelSha256: string;
  readonly promptSha256: string;
  /** Digest of the request frame as sent. */
  readonly requestSha256: string;
  readonly from: number;
  readonly to: number;
  readonly chainHead: string;
  readonly promptTokens: number;
  /** The reason in the `done` frame. */
  readonly reason: SegmentReceipt['reason'];
}

/**
 * The receipt fields that differ from the observed segment; empty if the receipt is correct. The signature is verified
 * elsewhere.
 */
export function segmentProblems(receipt: SegmentReceipt, observed: ObservedSegment): readonly string[] {
  const problems: string[] = [];
  if (bytesToHex(receipt.nonce) !== bytesToHex(observed.nonce)) problems.push('nonce');
  for (const name of [
    'worker',
    'gateway',
    'modelSha256',
    'promptSha256',
    'requestSha256',
    'from',
    'to',
    'chainHead',
    'promptTokens',
    'reason',
  ] as const)
    if (receipt[name] !== observed[name]) problems.push(name);
  if (receipt.to < receipt.from && receipt.to === observed.to) problems.push('to');
  if (receipt.cachedTokens > receipt.promptTokens) problems.push('cachedTokens');
  if (!areTimesInOrder(receipt)) problems.push('times');
  return problems;
}

/**
 * A receipt has a first token if and only if the segment has tokens. The worker's clock may be wrong, but it is
 * monotonic.
 */
function areTimesInOrder({ from, to, startedAtMs, firstTokenAtMs, endedAtMs }: SegmentReceipt): boolean {
  if (startedAtMs > endedAtMs) return false;
  if (to === from) return firstTokenAtMs === 0;
  return startedAtMs <= firstTokenAtMs && firstTokenAtMs <= endedAtMs;
}
