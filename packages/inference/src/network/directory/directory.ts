// Who offers which model: offers taken as they come, bounded, and forgotten when they are old. It believes no more than it must.
import type { Offer } from '../protocol/frame.ts';

export interface DirectoryOptions {
  /** Workers kept at most; beyond, those that are neither connected nor heard of lately give way. 2,000 by default. */
  readonly maxWorkers?: number;
  /** Models of all workers together, bounded in the same way, besides an equal share for each that is connected: 20,000 by default, some 20 MB where each name is as long as it may be. */
  readonly maxModels?: number;
  /** Offers of one peer taken in a minute; more are refused. 30 by default. */
  readonly offersPerMinute?: number;
  /** An offer may be issued so far in our future, or live so long, by its own words. 120,000 and 600,000 ms by default. */
  readonly maxSkewMs?: number;
  readonly maxLifeMs?: number;
}

/** What became of an offer. Only of one that was `taken` anything is kept. */
export type OfferOutcome = 'taken' | 'replayed' | 'expired' | 'from-the-future' | 'too-many' | 'full';

export interface KnownWorker {
  readonly peer: string;
  readonly offer: Offer;
  /** Whether it was when its offer came. */
  readonly isConnected: boolean;
  /** By our clock. */
  readonly heardAtMs: number;
  /** By our clock: what it said, cut to what may be, and counted from when it was heard. */
  readonly expiresAtMs: number;
}

interface TakeOptions {
  readonly nowMs: number;
  readonly isConnected: boolean;
}

interface Entry extends KnownWorker {
  /** Offers taken since `windowAtMs`. */
  readonly taken: number;
  readonly windowAtMs: number;
}

const MINUTE_MS = 60_000;
/** A worker sends an offer each 30 s: a stranger that was heard within two of these keeps its place. */
const LATELY_MS = 60_000;

export class Directory {
  readonly #options: Required<DirectoryOptions>;
  /** The one heard longest ago first. Two maps, so that who gives way is found without a search. */
  readonly #connected = new Map<string, Entry>();
  readonly #strangers = new Map<string, Entry>();
  #models = 0;

  constructor(options: DirectoryOptions = {}) {
    this.#options = {
      maxWorkers: 2_000,
      maxModels: 20_000,
      offersPerMinute: 30,
      maxSkewMs: 120_000,
      maxLifeMs: 600_000,
      ...options,
    };
  }

  /**
   * Takes an offer whose signature was verified. `isConnected`: such a worker is not pushed out by others. The sequence alone says which
   * of two offers is the newer one; it is made of milliseconds, so that it grows over a restart of the worker.
   */
  take(offer: Offer, { nowMs, isConnected }: TakeOptions): OfferOutcome {
    const { maxSkewMs, maxLifeMs, offersPerMinute } = this.#options;
    if (offer.issuedAtMs > nowMs + maxSkewMs) return 'from-the-future';
    const lifeMs = Math.min(offer.expiresAtMs - offer.issuedAtMs, maxLifeMs);
    // By its own clock too, which may be slow: else an old offer, heard again, would live once more.
    const expiresAtMs = Math.min(nowMs + lifeMs, offer.expiresAtMs + maxSkewMs);
    if (lifeMs <= 0 || expiresAtMs <= nowMs) return 'expired';
    const known = this.#entry(offer.peer);
    if (known && offer.sequence <= known.offer.sequence) {
      // What came by gossip comes again over the channel of a worker that has just connected.
      if (isConnected && !known.isConnected) this.#keep({ ...known, isConnected });
      return 'replayed';
    }
    const isNewWindow = !known || nowMs - known.windowAtMs >= MINUTE_MS;
    const taken = isNewWindow ? 1 : known.taken + 1;
    if (taken > offersPerMinute) return 'too-many';
    if (!this.#makeRoom(offer, { nowMs, isConnected })) return 'full';
    const windowAtMs = isNewWindow ? nowMs : known.windowAtMs;
    this.#keep({ peer: offer.peer, offer, isConnected, heardAtMs: nowMs, expiresAtMs, taken, windowAtMs });
    return 'taken';
  }

  /** Forgets a peer. */
  drop(peer: string): void {
    const known = this.#entry(peer);
    if (!known) return;
    this.#connected.delete(peer);
    this.#strangers.delete(peer);
    this.#models -= known.offer.models.length;
  }

  /** Forgets what has expired. */
  expire(nowMs: number): void {
    for (const { peer, expiresAtMs } of this.workers()) if (expiresAtMs <= nowMs) this.drop(peer);
  }

  worker(peer: string): KnownWorker | undefined {
    return this.#entry(peer);
  }

  workers(): readonly KnownWorker[] {
    return [...this.#connected.values(), ...this.#strangers.values()];
  }

  /** Those that were connected when their offer came. */
  connected(): Iterable<KnownWorker> {
    return this.#connected.values();
  }

  #entry(peer: string): Entry | undefined {
    return this.#connected.get(peer) ?? this.#strangers.get(peer);
  }

  #keep(entry: Entry): void {
    this.drop(entry.peer);
    (entry.isConnected ? this.#connected : this.#strangers).set(entry.peer, entry);
    this.#models += entry.offer.models.length;
  }

  /** Whether there is room, after strangers gave way where they must: to a stranger, only those not heard of lately. */
  #makeRoom(offer: Offer, { nowMs, isConnected }: TakeOptions): boolean {
    const { maxWorkers, maxModels } = this.#options;
    const known = this.#entry(offer.peer);
    const moreWorkers = known ? 0 : 1;
    const moreModels = offer.models.length - (known?.offer.models.length ?? 0);
    // Its share is left to each that is connected, however many models others bring.
    const hasShare = isConnected && offer.models.length <= maxModels / maxWorkers;
    const isOver = () =>
      this.#connected.size + this.#strangers.size + moreWorkers > maxWorkers ||
      (!hasShare && this.#models + moreModels > maxModels);
    for (const oldest of this.#strangers.values()) {
      if (!isOver()) return true;
      if (!isConnected && nowMs - oldest.heardAtMs < LATELY_MS) return false;
      if (oldest !== known) this.drop(oldest.peer);
    }
    return !isOver();
  }
}
