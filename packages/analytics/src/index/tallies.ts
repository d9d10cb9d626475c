// Incremental counts over all domains, so that no query has to count domains.
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, ROLES, SECTORS } from '@strata/detect';
import { type DomainFacts, levelOf, type PackedService, placementOf } from '../columns/domain-columns.ts';
import { grown } from '../columns/name-table.ts';
import { LOW, SCORES, STATES, type Vocabulary } from '../columns/terms.ts';
import type { PairCounts } from './pair-counts.ts';

const PROVIDER = HOLDERS.indexOf('provider');
const UNMEASURED = HOLDERS.indexOf('unmeasured');
const ROLE_COUNT = Object.keys(ROLES).length;
/** For each state and sector: domains, then one count per flag, then one per score. */
const FACT_WIDTH = 1 + POSTURE_FLAGS.length + SCORES;
/** A domain with more providers in one category counts as one with this many; real domains have fewer. */
const MAX_SHARED = 64;
/** States of domains with services: active and parked. */
const LIVE_STATES = 2;

export class Tallies {
  readonly #vocabulary: Vocabulary;
  readonly #facts = new Int32Array(STATES.length * SECTORS.length * FACT_WIDTH);
  readonly #holders = new Int32Array(STATES.length * ROLE_COUNT * HOLDERS.length);
  /** By placement, live state, and number of providers that share the domain's category. */
  #shares: Uint32Array = new Uint32Array(1 << 10);
  readonly #pairs: PairCounts | undefined;
  /** By provider. */
  readonly #sole: number[] = [];
  #services = 0;
  /** Providers by category of the domain being counted. */
  readonly #sharing = new Int32Array(CATEGORIES.length);

  /** Without `pairs`, those of providers are not counted. */
  constructor(vocabulary: Vocabulary, pairs?: PairCounts) {
    this.#vocabulary = vocabulary;
    this.#pairs = pairs;
  }

  /** `by` is 1 if the domain is added, -1 if it is removed. */
  count(facts: DomainFacts, services: ArrayLike<PackedService>, by: 1 | -1): void {
    const base = (facts.state * SECTORS.length + facts.sector) * FACT_WIDTH;
    add(this.#facts, base, by);
    for (let rest = facts.posture; rest !== 0; rest &= rest - 1) {
      add(this.#facts, base + 1 + 31 - Math.clz32(rest & -rest), by);
    }
    add(this.#facts, base + 1 + POSTURE_FLAGS.length + (facts.score ?? SCORES - 1), by);
    const sharing = this.#countSharing(services);
    for (let role = 0; role < ROLE_COUNT; role += 1) {
      add(this.#holders, (facts.state * ROLE_COUNT + role) * HOLDERS.length + holderOf(facts, role, sharing), by);
    }
    this.#countProviders(services, sharing, by);
    this.#services += by * services.length;
    if (facts.state < LIVE_STATES) this.#countShares(facts.state, services, by);
  }

  /** Domains that use both providers; 0 if pairs are not counted. */
  together = (a: number, b: number): number => this.#pairs?.of(a, b) ?? 0;

  /** Domains with a category in which the provider is the only one of high or medium confidence. */
  soleSource = (provider: number): number => this.#sole[provider] ?? 0;

  /** Services of all domains. */
  get services(): number {
    return this.#services;
  }

  /** Domains in these states, of one sector or all. */
  domains(states: readonly number[], sector?: number): number {
    return this.#sumFacts(states, sector, 0);
  }

  flag(flag: number, states: readonly number[], sector?: number): number {
    return this.#sumFacts(states, sector, 1 + flag);
  }

  /** Domains with the score; `SCORES - 1` for those without one. */
  score(score: number, states: readonly number[], sector?: number): number {
    return this.#sumFacts(states, sector, 1 + POSTURE_FLAGS.length + score);
  }

  /** Domains in these states whose role has this kind of holder. */
  holders(role: number, holder: number, states: readonly number[]): number {
    return states.reduce(
      (sum, state) => sum + (this.#holders[(state * ROLE_COUNT + role) * HOLDERS.length + holder] ?? 0),
      0,
    );
  }

  /**
   * Domains in these states that use the placement with high or medium confidence, and their weight: a domain with k such
   * providers in the category has weight 1/k.
   */
  users(placement: number, states: readonly number[]): { readonly domains: number; readonly weight: number } {
    let domains = 0;
    let weight = 0;
    for (let providers = 1; providers <= MAX_SHARED; providers += 1) {
      let sharing = 0;
      for (const state of states) sharing += this.#shares[this.#shareAt(placement, state, providers)] ?? 0;
      domains += sharing;
      weight += sharing / providers;
    }
    return { domains, weight };
  }

  /** Providers of high or medium confidence by category; valid until the next domain is counted. */
  #countSharing(services: ArrayLike<PackedService>): Int32Array {
    const sharing = this.#sharing.fill(0);
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      if (levelOf(service) !== LOW) add(sharing, this.#vocabulary.categoryOf(placementOf(service)), 1);
    }
    return sharing;
  }

  #countProviders(services: ArrayLike<PackedService>, sharing: Int32Array, by: 1 | -1): void {
    const providers: number[] = [];
    const sole: number[] = [];
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      const provider = this.#vocabulary.providerOf(placementOf(service));
      if (!providers.includes(provider)) providers.push(provider);
      const isSole = levelOf(service) !== LOW && sharing[this.#vocabulary.categoryOf(placementOf(service))] === 1;
      if (isSole && !sole.includes(provider)) sole.push(provider);
    }
    this.#pairs?.count(providers, by);
    for (const provider of sole) this.#sole[provider] = (this.#sole[provider] ?? 0) + by;
  }

  #countShares(state: number, services: ArrayLike<PackedService>, by: 1 | -1): void {
    const sharing = this.#sharing;
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      if (levelOf(service) === LOW) continue;
      const placement = placementOf(service);
      const providers = sharing[this.#vocabulary.categoryOf(placement)] as number;
      const at = this.#shareAt(placement, state, Math.min(providers, MAX_SHARED));
      if (at >= this.#shares.length) this.#shares = grown(this.#shares, at + 1);
      this.#shares[at] = (this.#shares[at] ?? 0) + by;
    }
  }

  #shareAt(placement: number, state: number, providers: number): number {
    return (placement * LIVE_STATES + state) * MAX_SHARED + providers - 1;
  }

  #sumFacts(states: readonly number[], sector: number | undefined, field: number): number {
    let sum = 0;
    for (const state of states) {
      const first = sector ?? 0;
      const last = sector ?? SECTORS.length - 1;
      for (let s = first; s <= last; s += 1) sum += this.#facts[(state * SECTORS.length + s) * FACT_WIDTH + field] ?? 0;
    }
    return sum;
  }
}

/**
 * The holder of a role (roles have the order of categories): a known service decides, even if the last scan could not
 * measure the role.
 */
function holderOf({ holders }: DomainFacts, role: number, sharing: Int32Array): number {
  if ((sharing[role] as number) > 0) return PROVIDER;
  const holder = (holders >>> (role * 3)) & 7;
  return holder === PROVIDER ? UNMEASURED : holder;
}

function add(counts: Int32Array, at: number, by: number): void {
  counts[at] = (counts[at] ?? 0) + by;
}
