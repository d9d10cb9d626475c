// Who offers which model: offers taken as they come, bounded, and forgotten when they are old. It believes no more than it must.
import type { Offer, OfferedModel } from './frame.ts';

export interface DirectoryOptions {
  /** Workers kept at most; beyond, those that are neither connected nor heard of lately give way. 2,000 by default. */
  readonly mostWorkers?: number;
  /** Offers of one peer taken in a minute; more are refused. 30 by default. */
  readonly offersPerMinute?: number;
  /** An offer may be issued so far in our future, or live so long, by its own words. 120,000 and 600,000 ms by default. */
  readonly mostSkewMs?: number;
  readonly mostLifeMs?: number;
}

/** What became of an offer. Only `taken` changes anything. */
export type OfferOutcome = 'taken' | 'replayed' | 'expired' | 'from-the-future' | 'too-many' | 'full';

export interface KnownWorker {
  readonly peer: string;
  readonly offer: Offer;
  /** By our clock. */
  readonly heardAtMs: number;
  /** By our clock: what it said, cut to what may be, and counted from when it was heard. */
  readonly expiresAtMs: number;
}

/** Workers that have the same file, and agree on its vocabulary. */
export interface ModelGroup {
  readonly sha256: string;
  readonly vocabularySha256: string;
  /** As most of them call it. */
  readonly name: string;
  readonly model: OfferedModel;
  readonly peers: readonly string[];
}

export class Directory {
  constructor(_options: DirectoryOptions = {}) {}

  /** Takes an offer whose signature was verified. `isConnected`: such a worker is not pushed out by others. */
  take(_offer: Offer, _options: { readonly nowMs: number; readonly isConnected: boolean }): OfferOutcome {
    throw new Error('not yet');
  }

  /** Forgets a peer, and what has expired. */
  drop(_peer: string): void {}
  expire(_nowMs: number): void {}

  worker(_peer: string): KnownWorker | undefined {
    return undefined;
  }

  workers(): readonly KnownWorker[] {
    return [];
  }

  /** Groups by model file and vocabulary, largest first. */
  groups(): readonly ModelGroup[] {
    return [];
  }
}
