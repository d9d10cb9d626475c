// One name server, whatever zones it has: how fast it answers, how much it bears, and what it does not understand.
import { Places } from '../places.ts';
import { labelOf, type Upstream } from '../udp-channel.ts';

/** Questions at once to a server that we do not know yet. */
const FIRST_WINDOW = 16;
/** Never fewer: one lost packet in a burst must not stop a server that others need. */
const MIN_WINDOW = 4;
/** Share of questions lost, lately, above which a server is taken to be overrun, and not single zones on it to be dead. */
const OVERRUN_SHARE = 0.05;
/** Weight of the newest question in the share of lost ones. */
const LOSS_WEIGHT = 0.02;
const HALVE_EVERY_MS = 500;
/**
 * Zones about which it was silent, and silences one after another, with no answer to anything between, after which it
 * counts as dead; and how long, doubled each time. What is lost of one burst is one silence.
 */
const DEAD_AFTER_ZONES = 4;
const DEAD_AFTER_SILENCES = 3;
const FIRST_DEAD_MS = 1_000;
const MAX_DEAD_MS = 300_000;
/** Waits begin here while nothing is known; below the least of them an honest server on a busy machine would be late. */
const FIRST_WAIT_MS = 800;
const LEAST_WAIT_MS = 400;
/** Answers in another letter case before the server is taken for one that cannot keep it. */
const RECASED_OFTEN = 3;

export class NameServer {
  readonly upstream: Upstream;
  readonly label: string;
  readonly places: Places;
  /** False once it refused to read EDNS0 (RFC 6891 §7). */
  knowsEdns = true;
  readonly #maxInFlight: number;
  #srttMs: number;
  #varianceMs = 0;
  #isMeasured = false;
  #loss = 0;
  #halvedAt = 0;
  #isGrowingFast = true;
  readonly #silentAbout = new Set<string>();
  #silences = 0;
  #silentSince = 0;
  #deaths = 0;
  #deadUntil = 0;
  #recased = 0;
  #hasKeptCase = false;

  /** `head` (ms) is what it is taken to need until it was asked: little, so that all of a zone's servers get known. */
  constructor(upstream: Upstream, { maxInFlight, head }: { readonly maxInFlight: number; readonly head: number }) {
    this.upstream = upstream;
    this.label = labelOf(upstream);
    this.#maxInFlight = maxInFlight;
    this.places = new Places(Math.min(FIRST_WINDOW, maxInFlight));
    this.#srttMs = head;
  }

  /** What an answer will take, roughly: for choosing among servers only. */
  get costMs(): number {
    const { inside, waiting, limit } = this.places;
    return this.#srttMs * (1 + Math.floor((inside + waiting) / limit));
  }

  /** Silent lately, and not due for another try yet. */
  isDead(now: number): boolean {
    return now < this.#deadUntil;
  }

  get keepsCase(): boolean {
    return this.#hasKeptCase || this.#recased < RECASED_OFTEN;
  }

  /** How long to wait for an answer, the first time a question is put to it. */
  get waitMs(): number {
    if (!this.#isMeasured) return FIRST_WAIT_MS;
    return Math.max(LEAST_WAIT_MS, this.#srttMs + 4 * this.#varianceMs);
  }

  noteAnswer(tookMs: number): void {
    if (this.#isMeasured) {
      this.#varianceMs += (Math.abs(tookMs - this.#srttMs) - this.#varianceMs) / 4;
      this.#srttMs += (tookMs - this.#srttMs) / 8;
    } else {
      this.#srttMs = tookMs;
      this.#varianceMs = tookMs / 2;
      this.#isMeasured = true;
    }
    if (this.#silences > 0) this.#forgetSilences();
    this.#deaths = 0;
    this.#deadUntil = 0;
    this.#loss -= this.#loss * LOSS_WEIGHT;
    const { places } = this;
    if (places.inside < places.limit || places.limit >= this.#maxInFlight) return;
    const step = this.#isGrowingFast ? 1 : 1 / places.limit;
    places.limit = Math.min(this.#maxInFlight, places.limit + step);
  }

  /** It let a question about something in `zone` go unanswered for `waitedMs`. */
  noteSilence(zone: string, { waitedMs, now }: { readonly waitedMs: number; readonly now: number }): void {
    this.#loss += (1 - this.#loss) * LOSS_WEIGHT;
    // It may be slower than thought; for the choice it counts as nearly as slow as we have waited.
    this.#srttMs += (waitedMs - this.#srttMs) / 8;
    if (this.#loss > OVERRUN_SHARE && now - this.#halvedAt > HALVE_EVERY_MS) {
      this.places.limit = Math.max(Math.min(MIN_WINDOW, this.#maxInFlight), Math.floor(this.places.limit / 2));
      this.#isGrowingFast = false;
      this.#halvedAt = now;
    }
    this.#silentAbout.add(zone);
    if (now - waitedMs >= this.#silentSince) {
      this.#silences += 1;
      this.#silentSince = now;
    }
    if (this.#silentAbout.size < DEAD_AFTER_ZONES || this.#silences < DEAD_AFTER_SILENCES || this.isDead(now)) return;
    this.#forgetSilences();
    this.#deadUntil = now + Math.min(MAX_DEAD_MS, FIRST_DEAD_MS * 2 ** this.#deaths);
    this.#deaths += 1;
  }

  #forgetSilences(): void {
    this.#silentAbout.clear();
    this.#silences = 0;
  }

  noteCase(isKept: boolean): void {
    if (isKept) this.#hasKeptCase = true;
    else this.#recased += 1;
  }
}
