// The directory of workers and their models: accepts signed offers, bounded in number, and drops expired ones.
import type { Offer } from '../protocol/offer.ts';

export interface DirectoryOptions {
  /**
   * Maximum number of workers; above it, workers that are neither connected nor recently received are evicted. 2,000 by
   * default.
   */
  readonly maxWorkers?: number;
  /**
   * Maximum number of models of all workers, bounded in the same way; each connected worker has an equal share in
   * addition. 20,000 by default, about 20 MB with names of maximum length.
   */
  readonly maxModels?: number;
  /** Accepted offers of one peer per minute; more are rejected. 30 by default. */
  readonly offersPerMinute?: number;
}

/** The outcome for an offer. Only `taken` changes the directory. */
export type OfferOutcome = 'taken' | 'replayed' | 'expired' | 'from-the-future' | 'too-many' | 'full';

export interface KnownWorker {
  readonly peer: string;
  readonly offer: Offer;
  /** Whether an offer arrived over the worker's channel. */
  readonly isConnected: boolean;
  /** In our clock. */
  readonly receivedAtMs: number;
  /** In our clock: the offered lifetime, capped, counted from the time of receipt; the worker's clock does not matter. */
  readonly expiresAtMs: number;
}

interface TakeOptions {
  readonly nowMs: number;
  /** Whether it came over the worker's channel; otherwise by gossip, where an old offer can be repeated by any peer. */
  readonly isConnected: boolean;
}

interface Entry extends KnownWorker {
  /** Offers accepted since `windowAtMs`. */
  readonly taken: number;
  readonly windowAtMs: number;
}

const MINUTE_MS = 60_000;
/** Maximum difference between our clock and that of a worker whose offer arrives by gossip. */
const MAX_SKEW_MS = 600_000;
const MAX_LIFE_MS = 600_000;
/**
 * A worker sends an offer every 30 s. One that is not connected is kept if an offer was received within two of these
 * intervals.
 */
const RECENT_MS = 60_000;

export class Directory {
  readonly #options: Required<DirectoryOptions>;
  /** Least recently received first. Two maps, so that the eviction candidate is found without a search. */
  readonly #connected = new Map<string, Entry>();
  readonly #disconnected = new Map<string, Entry>();
  #models = 0;

  constructor(options: DirectoryOptions = {}) {
    this.#options = {
      maxWorkers: 2_000,
      maxModels: 20_000,
      offersPerMinute: 30,
      ...options,
    };
  }

  /**
   * Adds an offer whose signature was verified. Workers with `isConnected` are not evicted to make space for another
   * worker. Only the sequence determines which of two offers is newer; it is derived from milliseconds, so that it
   * increases across restarts of the worker. The clocks of worker and gateway are compared for gossip only.
   */
  take(offer: Offer, options: TakeOptions): OfferOutcome {
    const { nowMs } = options;
    if (!options.isConnected && offer.issuedAtMs > nowMs + MAX_SKEW_MS) return 'from-the-future';
    const lifeMs = Math.min(offer.expiresAtMs - offer.issuedAtMs, MAX_LIFE_MS);
    // Otherwise an old offer would become valid again when it is received again.
    const isOld = !options.isConnected && offer.expiresAtMs + MAX_SKEW_MS <= nowMs;
    if (lifeMs <= 0 || isOld) return 'expired';
    const known = this.#entry(offer.peer);
    const isConnected = options.isConnected || (known?.isConnected ?? false);
    if (known && offer.sequence <= known.offer.sequence) {
      if (!isConnected || known.isConnected) return 'replayed';
      // The offer of a newly connected worker has arrived by gossip before.
      this.#keep({ ...known, isConnected });
      return 'taken';
    }
    const isNewWindow = !known || nowMs - known.windowAtMs >= MINUTE_MS;
    const taken = isNewWindow ? 1 : known.taken + 1;
    if (taken > this.#options.offersPerMinute) return 'too-many';
    if (!this.#makeSpace(offer, { nowMs, isConnected })) return 'full';
    const windowAtMs = isNewWindow ? nowMs : known.windowAtMs;
    const expiresAtMs = nowMs + lifeMs;
    this.#keep({ peer: offer.peer, offer, isConnected, receivedAtMs: nowMs, expiresAtMs, taken, windowAtMs });
    return 'taken';
  }

  /** Removes a peer. */
  drop(peer: string): void {
    const known = this.#entry(peer);
    if (!known) return;
    this.#connected.delete(peer);
    this.#disconnected.delete(peer);
    this.#models -= known.offer.models.length;
  }

  /** Removes expired offers. */
  expire(nowMs: number): void {
    for (const { peer, expiresAtMs } of this.workers()) if (expiresAtMs <= nowMs) this.drop(peer);
  }

  worker(peer: string): KnownWorker | undefined {
    return this.#entry(peer);
  }

  workers(): readonly KnownWorker[] {
    return [...this.#connected.values(), ...this.#disconnected.values()];
  }

  /** The workers whose offer arrived over their channel. */
  connected(): Iterable<KnownWorker> {
    return this.#connected.values();
  }

  #entry(peer: string): Entry | undefined {
    return this.#connected.get(peer) ?? this.#disconnected.get(peer);
  }

  #keep(entry: Entry): void {
    this.drop(entry.peer);
    (entry.isConnected ? this.#connected : this.#disconnected).set(entry.peer, entry);
    this.#models += entry.offer.models.length;
  }

  /**
   * Evicts disconnected workers until the offer fits, and returns whether it does. For a disconnected worker, recently
   * received ones are kept.
   */
  #makeSpace(offer: Offer, { nowMs, isConnected }: TakeOptions): boolean {
    const { maxWorkers, maxModels } = this.#options;
    const known = this.#entry(offer.peer);
    const moreWorkers = known ? 0 : 1;
    const moreModels = offer.models.length - (known?.offer.models.length ?? 0);
    // Each connected worker keeps its share, however many models other workers offer.
    const hasShare = isConnected && offer.models.length <= maxModels / maxWorkers;
    const isOver = () =>
      this.#connected.size + this.#disconnected.size + moreWorkers > maxWorkers ||
      (!hasShare && this.#models + moreModels > maxModels);
    for (const oldest of this.#disconnected.values()) {
      if (!isOver()) return true;
      if (!isConnected && nowMs - oldest.receivedAtMs < RECENT_MS) return false;
      if (oldest !== known) this.drop(oldest.peer);
    }
    return !isOver();
  }
}
