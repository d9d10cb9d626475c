// Receipts of what was served: signed, kept before the gateway sees them, and settled when it agrees, however late that is.
import { encodeSegmentReceipt, type SegmentReceipt, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import type { Segments } from '@strata/store';
import { Unsettled } from './unsettled.ts';

export interface SignedReceipt {
  /** As it was signed. */
  readonly receipt: Uint8Array;
  readonly signature: Uint8Array;
}

/** Requests known again when they come twice; older ones are found in the store when they end. */
const MAX_NONCES = 100_000;

export class Receipts {
  readonly #segments: Segments;
  readonly #sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly #nonces = new Set<string>();
  readonly #unsettled: Unsettled;
  readonly #onKept: (receipt: SegmentReceipt) => void;

  /** `nowMs`: a clock that only runs forward. */
  constructor(
    segments: Segments,
    {
      sign,
      nowMs,
      onKept = () => {},
    }: {
      readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
      readonly nowMs: () => number;
      /** Hears of each receipt once it is durable. */
      readonly onKept?: (receipt: SegmentReceipt) => void;
    },
  ) {
    this.#segments = segments;
    this.#sign = sign;
    this.#unsettled = new Unsettled(nowMs);
    this.#onKept = onKept;
  }

  /** Whether a gateway has agreed to so few of its receipts that it gets no more for now. */
  isRefused(gateway: string): boolean {
    return this.#unsettled.isFull(gateway);
  }

  /** Whether it is the first request with this nonce. */
  claim(nonce: Uint8Array): boolean {
    const name = nameOf(nonce);
    if (this.#nonces.has(name)) return false;
    this.#nonces.add(name);
    dropOldest(this.#nonces, MAX_NONCES);
    return true;
  }

  /** Durable once it resolves: a worker killed afterwards can still prove it. Undefined: there is one with this nonce. */
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
    this.#unsettled.given(receipt.gateway);
    this.#onKept(receipt);
    return { receipt: bytes, signature };
  }

  /**
   * The gateway agrees to a receipt, perhaps once more: what it said before may have been lost. False: it is not its own, there
   * is none, or the signature is not that of this gateway.
   */
  async settle(gateway: string, nonce: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const kept = await this.#segments.get(nonce);
    if (kept === undefined || kept.gateway !== gateway) return false;
    // Ed25519 gives the same signature again.
    if (kept.gatewaySignature !== undefined) return Buffer.compare(kept.gatewaySignature, signature) === 0;
    if (!(await verifyPeerSignature(gateway, settleSignedBytes(kept.receipt), signature))) return false;
    if (await this.#segments.settle(nonce, signature)) this.#unsettled.settled(gateway);
    return true;
  }
}

const nameOf = (nonce: Uint8Array): string => Buffer.from(nonce).toString('base64');

/** Sets keep the order in which things came. */
function dropOldest(kept: Set<string>, max: number): void {
  for (const name of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(name);
  }
}
