// Offers as they come, over channels and by gossip, into the directory: nothing is taken that its worker did not sign.
import {
  type Directory,
  decodeFrame,
  decodeOffer,
  FrameError,
  type Offer,
  type OfferOutcome,
  offerSignedBytes,
} from '@strata/inference';
import { type Verdict, verifyPeerSignature } from '@strata/p2p';

/** Signatures of gossiped offers that are checked at the same time; more offers are dropped: they come again. */
const MAX_CHECKS = 64;

export interface OffersDeps {
  readonly directory: Directory;
  readonly isConnected: (peer: string) => boolean;
  /** Hears that the directory changed. */
  readonly onTaken: (offer: Offer) => void;
  readonly nowMs: () => number;
}

export class Offers {
  readonly #deps: OffersDeps;
  #checks = 0;

  constructor(deps: OffersDeps) {
    this.#deps = deps;
  }

  /** Takes an offer whose signature was checked already; `isConnected`: it came over the worker's channel. */
  take(offer: Offer, { isConnected }: { readonly isConnected: boolean }): OfferOutcome {
    const { directory, onTaken, nowMs } = this.#deps;
    const outcome = directory.take(offer, { nowMs: nowMs(), isConnected });
    if (outcome === 'taken') onTaken(offer);
    return outcome;
  }

  /** A gossiped message from its author. What cannot be an offer of that author is not passed on; signatures are checked after. */
  hear(message: Uint8Array, from: string): Verdict {
    let offer: Offer;
    let signed: { readonly offer: Uint8Array; readonly signature: Uint8Array };
    try {
      const frame = decodeFrame(message);
      if (frame.kind !== 'offer') return 'reject';
      signed = frame;
      offer = decodeOffer(frame.offer);
    } catch (error) {
      if (error instanceof FrameError) return 'reject';
      throw error;
    }
    if (offer.peer !== from) return 'reject';
    if (this.#checks >= MAX_CHECKS) return 'ignore';
    this.#checks += 1;
    void this.#takeIfSigned(offer, signed).finally(() => {
      this.#checks -= 1;
    });
    return 'accept';
  }

  async #takeIfSigned(
    offer: Offer,
    signed: { readonly offer: Uint8Array; readonly signature: Uint8Array },
  ): Promise<void> {
    const isSigned = await verifyPeerSignature(offer.peer, offerSignedBytes(signed.offer), signed.signature);
    if (isSigned) this.take(offer, { isConnected: this.#deps.isConnected(offer.peer) });
  }
}
