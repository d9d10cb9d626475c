// Receipts of served requests: signed, stored before they are sent, and settled when the gateway accepts them, however
// late.
import { encodeSegmentReceipt, type SegmentReceipt, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { forgetOldest } from '@strata/limits';
import { verifyPeerSignature } from '@strata/p2p';
import type { Segments } from '@strata/segments';
import { UnsettledReceipts } from './unsettled-receipts.ts';

export interface SignedReceipt {
  /** The signed encoding. */
  readonly receipt: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * Number of nonces in memory for detecting duplicates; older ones are detected in the database when the request ends.
 */
const MAX_NONCES = 100_000;

export class Receipts {
  readonly #segments: Segments;
  readonly #sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly #nonces = new Set<string>();
  readonly #unsettled: UnsettledReceipts;
  readonly #onKept: (receipt: SegmentReceipt) => void;

  /** `nowMs`: a monotonic clock. */
  constructor(
    segments: Segments,
    {
      sign,
      nowMs,
      onKept = () => {},
    }: {
      readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
      readonly nowMs: () => number;
      /** Called with each receipt once it is durable. */
      readonly onKept?: (receipt: SegmentReceipt) => void;
    },
  ) {
    this.#segments = segments;
    this.#sign = sign;
    this.#unsettled = new UnsettledReceipts(nowMs);
    this.#onKept = onKept;
  }

  /** Whether a gateway has accepted so few of its receipts that its requests are rejected for now. */
  isRefused(gateway: string): boolean {
    return this.#unsettled.isFull(gateway);
  }

  /** Whether this is the first request with this nonce. */
  claim(nonce: Uint8Array): boolean {
    const name = nameOf(nonce);
    if (this.#nonces.has(name)) return false;
    this.#nonces.add(name);
    forgetOldest(this.#nonces, MAX_NONCES);
    return true;
  }

  /** Stores a receipt, which is durable when this resolves. Undefined if there is one with this nonce. */
  async keep(receipt: SegmentReceipt): Promise<SignedReceipt | undefined> {
    const bytes = encodeSegmentReceipt(receipt);
    const signature = await this.#sign(segmentSignedBytes(bytes));
    const isKept = await this.#segments.put({
      nonce: receipt.nonce,
      worker: receipt.worker,
      gateway: receipt.gateway,
      caller: undefined,
      modelSha256: receipt.modelSha256,
      promptTokens: receipt.promptTokens,
      cachedTokens: receipt.cachedTokens,
      outputTokens: receipt.to - receipt.from,
      endedAtMs: receipt.endedAtMs,
      receipt: bytes,
      workerSignature: signature,
      gatewaySignature: undefined,
    });
    if (!isKept) return undefined;
    this.#unsettled.added(receipt.gateway);
    this.#onKept(receipt);
    return { receipt: bytes, signature };
  }

  /**
   * Records the gateway's agreement, possibly again, since an earlier one may not have arrived. False: the receipt does
   * not exist or belongs to another gateway, or the signature is not this gateway's.
   */
  async settle(gateway: string, nonce: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const kept = await this.#segments.get(nonce);
    if (kept === undefined || kept.gateway !== gateway) return false;
    // Ed25519 signatures are deterministic.
    if (kept.gatewaySignature !== undefined) return Buffer.compare(kept.gatewaySignature, signature) === 0;
    if (!(await verifyPeerSignature(gateway, settleSignedBytes(kept.receipt), signature))) return false;
    if (await this.#segments.settle(nonce, signature)) this.#unsettled.settled(gateway);
    return true;
  }
}

const nameOf = (nonce: Uint8Array): string => Buffer.from(nonce).toString('base64');
