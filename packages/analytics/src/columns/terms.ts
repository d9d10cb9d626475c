// The vocabulary of the index: the terms that are counted, and the number of each.
import {
  CATEGORIES,
  type Category,
  type ConfidenceLevel,
  type DomainState,
  mainRoleOf,
  ROLE_LIST,
  type Role,
  type RoleOf,
  SECTORS,
} from '@strata/detect';
import { Dictionary } from './dictionary.ts';
import { packService } from './domain-columns.ts';

export const LEVELS: readonly ConfidenceLevel[] = ['high', 'medium', 'low'];
export const STATES: readonly DomainState[] = ['active', 'parked', 'nonexistent', 'unmeasured'];
/** States of domains that exist. */
export const LIVE: readonly DomainState[] = ['active', 'parked'];
/** A service of low confidence is shown, but does not count for shares. */
export const LOW = 2;
export const MAX_SCORE = 100;
/** Those from 0, and one for "not known". */
export const SCORES = MAX_SCORE + 2;

/** Pairs of letters, and one for "not known". */
export const COUNTRIES = 26 * 26 + 1;

/** The number of a code of two letters, in any case; 0 for null and other texts. */
export function countryNumber(code: string | null): number {
  if (code === null || !/^[a-z]{2}$/i.test(code)) return 0;
  const [first = 0, second = 0] = Array.from(code.toLowerCase(), (letter) => letter.charCodeAt(0) - 97);
  return first * 26 + second + 1;
}

/** Read from the index, it ends with the confidence: the index stores one version per provider, see builds.ts. */
export type IndexedService = readonly [
  category: Category,
  provider: string,
  confidence: ConfidenceLevel,
  version?: string | null,
  platform?: string | null,
];

/** A provider in a category, in which it has one role. */
export interface Placement {
  readonly number: number;
  readonly category: number;
  readonly role: number;
  readonly provider: number;
}

const CATEGORY_NUMBERS = new Map(CATEGORIES.map((category, number) => [category, number]));
/** -1 for an unknown name. */
export const categoryNumber = (category: Category): number => CATEGORY_NUMBERS.get(category) ?? -1;
export const categoryAt = (number: number): Category => CATEGORIES[number] as Category;
export const roleNumber = (role: Role): number => ROLE_LIST.indexOf(role);
export const stateNumber = (state: DomainState): number => STATES.indexOf(state);

/** An unknown sector name counts as unknown. */
export function sectorNumber(sector: string): number {
  return Math.max(0, (SECTORS as readonly string[]).indexOf(sector));
}

export class Vocabulary {
  readonly providers: Dictionary;
  readonly #placements: Placement[] = [];
  /** By placement: the same data as flat lists, for loops over every service of every domain. */
  readonly #categoryOf: number[] = [];
  readonly #roleOf: number[] = [];
  readonly #roles: RoleOf;
  readonly #providerOf: number[] = [];
  /** By provider, then category. */
  readonly #byProvider: (Placement | undefined)[][] = [];
  /** By provider: its placements in the order of the categories. */
  readonly #listOf: (readonly Placement[])[] = [];

  constructor(
    providers: Iterable<string> = [],
    placements: Iterable<readonly [category: number, provider: number]> = [],
    roles: RoleOf = mainRoleOf,
  ) {
    this.#roles = roles;
    this.providers = new Dictionary(providers);
    for (const [category, provider] of placements) this.#placement(category, provider);
  }

  get placements(): readonly Placement[] {
    return this.#placements;
  }

  categoryOf(placement: number): number {
    return this.#categoryOf[placement] as number;
  }

  roleOf(placement: number): number {
    return this.#roleOf[placement] as number;
  }

  providerOf(placement: number): number {
    return this.#providerOf[placement] as number;
  }

  placementAt(number: number): Placement {
    return this.#placements[number] as Placement;
  }

  placementsOf(provider: number): readonly Placement[] {
    return this.#listOf[provider] ?? [];
  }

  pack([category, provider, confidence]: IndexedService): number {
    const placement = this.#placement(categoryNumber(category), this.providers.number(provider));
    return packService(placement.number, LEVELS.indexOf(confidence));
  }

  #placement(category: number, provider: number): Placement {
    let of = this.#byProvider[provider];
    if (!of) {
      of = new Array(CATEGORIES.length);
      this.#byProvider[provider] = of;
    }
    const known = of[category];
    if (known) return known;
    const name = categoryAt(category);
    const role = roleNumber(this.#roles(name, this.providers.word(provider)) ?? mainRoleOf(name));
    const placement = { number: this.#placements.length, category, role, provider };
    this.#placements.push(placement);
    this.#categoryOf.push(category);
    this.#roleOf.push(role);
    this.#providerOf.push(provider);
    of[category] = placement;
    this.#listOf[provider] = of.filter((each) => each !== undefined);
    return placement;
  }
}
