// Receives offers over channels and by gossip, and adds them to the directory if the worker's signature is valid.
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

/**
 * Maximum number of concurrent signature checks of gossiped offers; above it offers are dropped, because they are
 * repeated.
 */
const MAX_CHECKS = 64;

export interface OffersDeps {
  readonly directory: Directory;
  /** Called when the directory has changed. */
  readonly onTaken: (offer: Offer) => void;
  readonly nowMs: () => number;
}

export class Offers {
  readonly #deps: OffersDeps;
  #checks = 0;

  constructor(deps: OffersDeps) {
    this.#deps = deps;
  }

  /** Adds an offer whose signature was verified; `isConnected`: it came over the worker's channel. */
  take(offer: Offer, { isConnected }: { readonly isConnected: boolean }): OfferOutcome {
    const { directory, onTaken, nowMs } = this.#deps;
    const outcome = directory.take(offer, { nowMs: nowMs(), isConnected });
    if (outcome === 'taken') onTaken(offer);
    return outcome;
  }

  /**
   * Receives a gossiped message from its author. Invalid messages are not relayed; signatures are checked afterwards.
   */
  receive(message: Uint8Array, from: string): Verdict {
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
    if (isSigned) this.take(offer, { isConnected: false });
  }
}
