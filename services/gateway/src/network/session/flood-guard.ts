// Limits unsolicited frames of a worker: heartbeats, offers, and late frames of finished jobs. Counted in ticks.

/** Per tick. An honest worker sends a heartbeat and occasionally an offer; the rest allows for our own late ticks. */
const MAX_FRAMES = 1_000;
const MAX_BYTES = 1024 * 1024;
/** Burst of offers, and the number of ticks until another one is allowed. */
const MAX_OFFERS = 30;
const TICKS_PER_OFFER = 8;

export class FloodGuard {
  #frames = 0;
  #bytes = 0;
  #offers = MAX_OFFERS;
  #ticks = 0;

  /** False if a limit is exceeded. */
  accepts(sizeBytes: number): boolean {
    this.#frames += 1;
    this.#bytes += sizeBytes;
    return this.#frames <= MAX_FRAMES && this.#bytes <= MAX_BYTES;
  }

  /** Whether to verify this offer; verifying signatures is expensive. */
  acceptsOffer(): boolean {
    if (this.#offers === 0) return false;
    this.#offers -= 1;
    return true;
  }

  tick(): void {
    this.#frames = 0;
    this.#bytes = 0;
    this.#ticks += 1;
    if (this.#ticks % TICKS_PER_OFFER === 0) this.#offers = Math.min(MAX_OFFERS, this.#offers + 1);
  }
}
