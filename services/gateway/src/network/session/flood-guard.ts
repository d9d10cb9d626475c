// How much a worker may say unasked: pulses, offers, and late words on jobs that are over. Counted in ticks.

/** In one tick; an honest worker sends a pulse and, now and then, an offer. The rest is for ticks of ours that come late. */
const MAX_FRAMES = 1_000;
const MAX_BYTES = 1024 * 1024;
/** Offers in a row, and after how many ticks there may be one more. */
const MAX_OFFERS = 30;
const TICKS_OF_OFFER = 8;

export class FloodGuard {
  #frames = 0;
  #bytes = 0;
  #offers = MAX_OFFERS;
  #ticks = 0;

  /** False when it is too much. */
  takes(sizeBytes: number): boolean {
    this.#frames += 1;
    this.#bytes += sizeBytes;
    return this.#frames <= MAX_FRAMES && this.#bytes <= MAX_BYTES;
  }

  /** Whether this offer is looked at: signatures cost time. */
  takesOffer(): boolean {
    if (this.#offers === 0) return false;
    this.#offers -= 1;
    return true;
  }

  tick(): void {
    this.#frames = 0;
    this.#bytes = 0;
    this.#ticks += 1;
    if (this.#ticks % TICKS_OF_OFFER === 0) this.#offers = Math.min(MAX_OFFERS, this.#offers + 1);
  }
}
