// Incremental counts over all domains, so that no query has to count domains.
import {
  CATEGORIES,
  HOLDERS,
  POSTURE_FLAGS,
  type PostureFlag,
  postureBit,
  ROLE_FACTS,
  ROLE_LIST,
  ROLES,
  SECTORS,
} from '@strata/detect';
import { type DomainFacts, levelOf, type PackedService, placementOf } from '../columns/domain-columns.ts';
import { categoryNumber, LOW, SCORES, STATES, type Vocabulary } from '../columns/terms.ts';
import { add, MarketCounts } from './market-counts.ts';
import type { PairCounts } from './pair-counts.ts';

const PROVIDER = HOLDERS.indexOf('provider');
const UNMEASURED = HOLDERS.indexOf('unmeasured');
const NO_HOLDER = HOLDERS.indexOf('nobody');
/** The category of each role, and whether it is the category's main role. */
const CATEGORY_OF = ROLE_LIST.map((role) => categoryNumber(ROLE_FACTS[role].category));
const IS_MAIN = ROLE_LIST.map((role) => ROLES[ROLE_FACTS[role].category] === role);
/** Flags that are also counted together. */
const PAIRS = [
  ['spf_valid', 'dmarc_valid'],
  ['spf_measured', 'dmarc_measured'],
] as const satisfies readonly (readonly PostureFlag[])[];
const PAIR_BITS = PAIRS.map((flags) => flags.reduce((bits, flag) => bits | postureBit(flag), 0));
/** For each state and sector: domains, then one count per flag, then one per score and one per pair of flags. */
const FACT_WIDTH = 1 + POSTURE_FLAGS.length + SCORES + PAIRS.length;

const FACTS = STATES.length * SECTORS.length * FACT_WIDTH;

type Counts = 'facts' | 'sole' | 'pairs' | 'categoryHolders' | 'categoryShares' | 'roleHolders' | 'roleShares';
/** The counts as they are in a snapshot; `services` is one number. */
export type TallyColumns = Readonly<Record<Counts, Uint32Array<ArrayBuffer>>> & {
  readonly services: Float64Array<ArrayBuffer>;
};

/** The lengths of the columns that do not grow. */
export const TALLY_LENGTHS: Readonly<Partial<Record<keyof TallyColumns, number>>> = {
  facts: FACTS,
  services: 1,
  categoryHolders: STATES.length * CATEGORIES.length * HOLDERS.length,
  roleHolders: STATES.length * ROLE_LIST.length * HOLDERS.length,
};

export class Tallies {
  readonly #vocabulary: Vocabulary;
  readonly #facts: Uint32Array<ArrayBuffer>;
  /** The markets of categories and of roles, by their numbers. */
  readonly categories: MarketCounts;
  readonly roles: MarketCounts;
  readonly #pairs: PairCounts | undefined;
  /** By provider. */
  readonly #sole: number[];
  #services: number;

  /** Without `pairs`, those of providers are not counted. Takes ownership of stored counts. */
  constructor(vocabulary: Vocabulary, pairs?: PairCounts, stored?: TallyColumns) {
    this.#vocabulary = vocabulary;
    this.#pairs = pairs;
    this.#facts = stored?.facts ?? new Uint32Array(FACTS);
    this.#sole = Array.from(stored?.sole ?? []);
    this.#services = stored?.services[0] ?? 0;
    this.categories = new MarketCounts(
      CATEGORIES.length,
      (placement) => vocabulary.categoryOf(placement),
      stored && { holders: stored.categoryHolders, shares: stored.categoryShares },
    );
    this.roles = new MarketCounts(
      ROLE_LIST.length,
      (placement) => vocabulary.roleOf(placement),
      stored && { holders: stored.roleHolders, shares: stored.roleShares },
    );
  }

  /** All counts, for a snapshot. */
  columns(): TallyColumns {
    const [categories, roles] = [this.categories.stored, this.roles.stored];
    return {
      facts: this.#facts,
      sole: Uint32Array.from({ length: this.#sole.length }, (_, provider) => this.#sole[provider] ?? 0),
      services: Float64Array.of(this.#services),
      pairs: this.#pairs?.counts ?? new Uint32Array(0),
      categoryHolders: categories.holders,
      categoryShares: categories.shares,
      roleHolders: roles.holders,
      roleShares: roles.shares,
    };
  }

  /** `by` is 1 if the domain is added, -1 if it is removed. */
  count(facts: DomainFacts, services: ArrayLike<PackedService>, by: 1 | -1): void {
    const base = (facts.state * SECTORS.length + facts.sector) * FACT_WIDTH;
    add(this.#facts, base, by);
    for (let rest = facts.posture; rest !== 0; rest &= rest - 1) {
      add(this.#facts, base + 1 + 31 - Math.clz32(rest & -rest), by);
    }
    add(this.#facts, base + 1 + POSTURE_FLAGS.length + (facts.score ?? SCORES - 1), by);
    for (const [pair, bits] of PAIR_BITS.entries())
      if ((facts.posture & bits) === bits) add(this.#facts, base + 1 + POSTURE_FLAGS.length + SCORES + pair, by);
    const ofCategories = this.categories.sharing(services);
    const ofRoles = this.roles.sharing(services);
    const domain = { state: facts.state, services, by };
    this.categories.count(domain, (category) => holderOf(facts, category, ofCategories));
    this.roles.count(domain, (role) => roleHolderOf(facts, role, { ofCategories, ofRoles }));
    this.#countProviders(services, ofRoles, by);
    this.#services += by * services.length;
  }

  /** Domains that use both providers; 0 if pairs are not counted. */
  together = (a: number, b: number): number => this.#pairs?.of(a, b) ?? 0;

  /** Domains with a role in which the provider is the only one of high or medium confidence. */
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

  /** Domains with both valid SPF and valid DMARC, or with both measured. */
  both(what: 'valid' | 'measured', states: readonly number[]): number {
    const pair = what === 'valid' ? 0 : 1;
    return this.#sumFacts(states, undefined, 1 + POSTURE_FLAGS.length + SCORES + pair);
  }

  get byteLength(): number {
    const pairs = this.#pairs?.byteLength ?? 0;
    return this.#facts.byteLength + this.categories.byteLength + this.roles.byteLength + pairs;
  }

  #countProviders(services: ArrayLike<PackedService>, sharing: Uint32Array, by: 1 | -1): void {
    const providers: number[] = [];
    const sole: number[] = [];
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      const provider = this.#vocabulary.providerOf(placementOf(service));
      if (!providers.includes(provider)) providers.push(provider);
      const isSole = levelOf(service) !== LOW && sharing[this.#vocabulary.roleOf(placementOf(service))] === 1;
      if (isSole && !sole.includes(provider)) sole.push(provider);
    }
    this.#pairs?.count(providers, by);
    for (const provider of sole) this.#sole[provider] = (this.#sole[provider] ?? 0) + by;
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

/** A known service decides, even if the last scan could not measure the main role of the category. */
function holderOf({ holders }: DomainFacts, category: number, sharing: Uint32Array): number {
  if ((sharing[category] as number) > 0) return PROVIDER;
  return measuredHolder(holders, category);
}

/** Of the main role of the category; a provider without a known service is not measured. */
function measuredHolder(holders: number, category: number): number {
  const holder = (holders >>> (category * 3)) & 7;
  return holder === PROVIDER ? UNMEASURED : holder;
}

/** Without a known service, only the main role of a category has a measured holder: another role is not used. */
function roleHolderOf(
  facts: DomainFacts,
  role: number,
  { ofCategories, ofRoles }: { readonly ofCategories: Uint32Array; readonly ofRoles: Uint32Array },
): number {
  if ((ofRoles[role] as number) > 0) return PROVIDER;
  const category = CATEGORY_OF[role] as number;
  if (IS_MAIN[role]) return measuredHolder(facts.holders, category);
  return holderOf(facts, category, ofCategories) === UNMEASURED ? UNMEASURED : NO_HOLDER;
}
