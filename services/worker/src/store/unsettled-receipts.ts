// Counts receipts that a gateway has not accepted yet: each is stored on disk, so their number is limited.

/** Agreements arrive within a round trip; some are lost. */
const MAX_UNSETTLED = 1_024;
/** How long a receipt is counted. */
const FORGET_MS = 10_000;
const MAX_GATEWAYS = 1_024;

export class UnsettledReceipts {
  readonly #nowMs: () => number;
  readonly #gateways = new Map<string, { readonly count: number; readonly atMs: number }>();

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether a gateway has so many that its requests are rejected for now. */
  isFull(gateway: string): boolean {
    return this.#countOf(gateway) >= MAX_UNSETTLED;
  }

  added(gateway: string): void {
    this.#set(gateway, this.#countOf(gateway) + 1);
  }

  settled(gateway: string): void {
    this.#set(gateway, Math.max(0, this.#countOf(gateway) - 1));
  }

  #countOf(gateway: string): number {
    const { count = 0, atMs = 0 } = this.#gateways.get(gateway) ?? {};
    return Math.max(0, count - (this.#nowMs() - atMs) / FORGET_MS);
  }

  #set(gateway: string, count: number): void {
    this.#gateways.delete(gateway);
    this.#gateways.set(gateway, { count, atMs: this.#nowMs() });
    const [oldest] = this.#gateways.keys();
    if (oldest !== undefined && this.#gateways.size > MAX_GATEWAYS) this.#gateways.delete(oldest);
  }
}
