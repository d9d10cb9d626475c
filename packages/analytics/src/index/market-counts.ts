// The counts that shares are computed from, for the markets of one kind: those of categories, or those of roles.
import { HOLDERS } from '@strata/detect';
import { levelOf, type PackedService, placementOf } from '../columns/domain-columns.ts';
import { grown } from '../columns/name-table.ts';
import { LOW, STATES } from '../columns/terms.ts';

/** A domain with more providers in one market counts as one with this many; real domains have fewer. */
const MAX_SHARED = 64;
/** States of domains with services: active and parked. */
const LIVE_STATES = 2;

/** The counts as they are in a snapshot. */
interface StoredCounts {
  readonly holders: Uint32Array<ArrayBuffer>;
  readonly shares: Uint32Array<ArrayBuffer>;
}

export class MarketCounts {
  readonly #size: number;
  readonly #marketOf: (placement: number) => number;
  readonly #holders: Uint32Array<ArrayBuffer>;
  /** By placement, live state, and number of providers that share the domain in its market. */
  #shares: Uint32Array<ArrayBuffer>;
  readonly #sharing: Uint32Array<ArrayBuffer>;
  /** The most providers that have shared a domain. */
  #maxShared = 0;

  /** Takes ownership of stored counts. */
  constructor(size: number, marketOf: (placement: number) => number, stored?: StoredCounts) {
    this.#size = size;
    this.#marketOf = marketOf;
    this.#holders = stored?.holders ?? new Uint32Array(STATES.length * size * HOLDERS.length);
    this.#shares = stored?.shares ?? new Uint32Array(1 << 10);
    this.#sharing = new Uint32Array(size);
    for (const [at, count] of this.#shares.entries())
      if (count > 0) this.#maxShared = Math.max(this.#maxShared, (at % MAX_SHARED) + 1);
  }

  /** For a snapshot. */
  get stored(): StoredCounts {
    return { holders: this.#holders, shares: this.#shares };
  }

  /** Providers of high or medium confidence by market; valid until the next domain. */
  sharing(services: ArrayLike<PackedService>): Uint32Array<ArrayBuffer> {
    const sharing = this.#sharing.fill(0);
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      if (levelOf(service) !== LOW) add(sharing, this.#marketOf(placementOf(service)), 1);
    }
    return sharing;
  }

  /** Counts the domain that `sharing` was called for. */
  count(
    { state, services, by }: { state: number; services: ArrayLike<PackedService>; by: 1 | -1 },
    holderOf: (market: number) => number,
  ): void {
    for (let market = 0; market < this.#size; market += 1)
      add(this.#holders, (state * this.#size + market) * HOLDERS.length + holderOf(market), by);
    if (state >= LIVE_STATES) return;
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      if (levelOf(service) === LOW) continue;
      const placement = placementOf(service);
      const providers = this.#sharing[this.#marketOf(placement)] as number;
      const shared = Math.min(providers, MAX_SHARED);
      this.#maxShared = Math.max(this.#maxShared, shared);
      const at = shareAt(placement, state, shared);
      if (at >= this.#shares.length) this.#shares = grown(this.#shares, at + 1);
      this.#shares[at] = (this.#shares[at] ?? 0) + by;
    }
  }

  /** Domains in these states whose market has this kind of holder. */
  holders(market: number, holder: number, states: readonly number[]): number {
    return states.reduce(
      (sum, state) => sum + (this.#holders[(state * this.#size + market) * HOLDERS.length + holder] ?? 0),
      0,
    );
  }

  get byteLength(): number {
    return this.#holders.byteLength + this.#shares.byteLength;
  }

  /**
   * Domains in these states that use the placement with high or medium confidence, and their weight: a domain with k such
   * providers in the market has weight 1/k.
   */
  users(placement: number, states: readonly number[]): { readonly domains: number; readonly weight: number } {
    let domains = 0;
    let weight = 0;
    for (let providers = 1; providers <= this.#maxShared; providers += 1) {
      let sharing = 0;
      for (const state of states) sharing += this.#shares[shareAt(placement, state, providers)] ?? 0;
      domains += sharing;
      weight += sharing / providers;
    }
    return { domains, weight };
  }
}

function shareAt(placement: number, state: number, providers: number): number {
  return (placement * LIVE_STATES + state) * MAX_SHARED + providers - 1;
}

export function add(counts: Uint32Array, at: number, by: number): void {
  counts[at] = (counts[at] ?? 0) + by;
}
