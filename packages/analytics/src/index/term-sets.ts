// The inverted index: for every term the set of domains that have it.
import { CATEGORIES, POSTURE_FLAGS, ROLE_LIST, SECTORS } from '@strata/detect';
import {
  type DomainColumns,
  type DomainFacts,
  levelOf,
  NO_SCORE,
  type PackedService,
  placementOf,
} from '../columns/domain-columns.ts';
import type { NameTable } from '../columns/name-table.ts';
import { rowOf } from '../columns/pages.ts';
import { COUNTRIES, LEVELS, SCORES, STATES, type Vocabulary } from '../columns/terms.ts';
import { buildSets } from '../sets/build-sets.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';
import { difference, union } from '../sets/set-operations.ts';

const EMPTY = new DomainSet();

/** By term. */
type Sets = (DomainSet | undefined)[];

/** The terms of a domain. */
interface Filing {
  readonly facts: DomainFacts;
  readonly services: ArrayLike<PackedService>;
}

/**
 * `providers`: those with several placements; the set of another provider is that of its placement. `weaker`: domains whose
 * service at the placement has medium or low confidence, two sets per placement, with few domains.
 */
const TERM_KINDS = [
  'placements',
  'weaker',
  'providers',
  'categories',
  'roles',
  'categoryLevels',
  'states',
  'sectors',
  'scores',
  'flags',
  'countries',
] as const;
type TermKind = (typeof TERM_KINDS)[number];

export class TermSets {
  readonly #vocabulary: Vocabulary;
  readonly #of: Record<TermKind, Sets>;

  /** Takes ownership of the sets. */
  constructor(vocabulary: Vocabulary, sets: Partial<Record<TermKind, Sets>> = {}) {
    this.#vocabulary = vocabulary;
    this.#of = Object.fromEntries(TERM_KINDS.map((kind) => [kind, sets[kind] ?? []])) as unknown as Record<
      TermKind,
      Sets
    >;
  }

  /** All domains at once, in one pass: every kind of term has its range of numbers. */
  static of(vocabulary: Vocabulary, names: NameTable, columns: DomainColumns): TermSets {
    const placements = vocabulary.placements.length;
    const terms = new Runs();
    const at: Record<TermKind, number> = {
      placements: terms.next(placements),
      weaker: terms.next(placements * 2),
      providers: terms.next(vocabulary.providers.size),
      categories: terms.next(CATEGORIES.length),
      roles: terms.next(ROLE_LIST.length),
      categoryLevels: terms.next(CATEGORIES.length * LEVELS.length),
      states: terms.next(STATES.length),
      sectors: terms.next(SECTORS.length),
      scores: terms.next(SCORES),
      flags: terms.next(POSTURE_FLAGS.length),
      countries: terms.next(COUNTRIES),
    };
    const { weaker, providers, categories, roles, categoryLevels, states, sectors, scores, flags, countries } = at;
    const hasOwn = Uint8Array.from({ length: vocabulary.providers.size }, (_, provider) =>
      Number(vocabulary.placementsOf(provider).length > 1),
    );
    const all = buildSets(terms.end, names.limit, (visit) => {
      names.each((domain) => {
        const { pool, from, to } = columns.servicesIn(domain);
        for (let i = from; i < to; i += 1) {
          const service = pool[i] as PackedService;
          const placement = placementOf(service);
          const level = levelOf(service);
          visit(placement, domain);
          if (level > 0) visit(weaker + placement * 2 + level - 1, domain);
          const provider = vocabulary.providerOf(placement);
          if (hasOwn[provider]) visit(providers + provider, domain);
          visit(categories + vocabulary.categoryOf(placement), domain);
          visit(roles + vocabulary.roleOf(placement), domain);
          visit(categoryLevels + vocabulary.categoryOf(placement) * LEVELS.length + level, domain);
        }
        const { state, sector, score, posture, country } = columns.page(domain);
        const row = rowOf(domain);
        visit(states + state.get(row), domain);
        visit(sectors + sector.get(row), domain);
        visit(countries + country.get(row), domain);
        visit(scores + scoreTerm(score.get(row)), domain);
        for (let rest = posture.get(row); rest !== 0; rest &= rest - 1) {
          visit(flags + 31 - Math.clz32(rest & -rest), domain);
        }
      });
    });
    const ends = [...TERM_KINDS.slice(1).map((kind) => at[kind]), terms.end];
    return new TermSets(
      vocabulary,
      Object.fromEntries(TERM_KINDS.map((kind, i) => [kind, all.slice(at[kind], ends[i])])),
    );
  }

  /** By kind, for a snapshot. */
  get all(): Readonly<Record<TermKind, Sets>> {
    return this.#of;
  }

  category = (category: number): DomainSet => this.#of.categories[category] ?? EMPTY;
  role = (role: number): DomainSet => this.#of.roles[role] ?? EMPTY;
  state = (state: number): DomainSet => this.#of.states[state] ?? EMPTY;
  sector = (sector: number): DomainSet => this.#of.sectors[sector] ?? EMPTY;
  /** Of the network of the address; 0: not known. */
  country = (country: number): DomainSet => this.#of.countries[country] ?? EMPTY;
  flag = (flag: number): DomainSet => this.#of.flags[flag] ?? EMPTY;
  /** 0–100; `NO_SCORE` for domains without one. */
  score = (score: number): DomainSet => this.#of.scores[scoreTerm(score)] ?? EMPTY;
  /** Domains with any service of this confidence. */
  level = (level: number): DomainSet => union(CATEGORIES.map((_, category) => this.categoryLevel(category, level)));

  /** Domains with a service of this confidence in the category. */
  categoryLevel = (category: number, level: number): DomainSet =>
    this.#of.categoryLevels[category * LEVELS.length + level] ?? EMPTY;

  provider(provider: number): DomainSet {
    const own = this.#of.providers[provider];
    if (own) return own;
    const placements = this.#vocabulary.placementsOf(provider);
    const [first] = placements;
    if (first && placements.length === 1) return this.placement(first.number);
    return union(placements.map(({ number }) => this.placement(number)));
  }

  /** Domains that use the placement, with this confidence if one is given. */
  placement(placement: number, level?: number): DomainSet {
    const all = this.#of.placements[placement] ?? EMPTY;
    if (level === undefined) return all;
    const [medium = EMPTY, low = EMPTY] = [this.#of.weaker[placement * 2], this.#of.weaker[placement * 2 + 1]];
    if (level === 0) return medium.size + low.size === 0 ? all : difference(difference(all, medium), low);
    return level === 1 ? medium : low;
  }

  /** Bytes by kind of term. */
  get memory(): Readonly<Record<string, number>> {
    return {
      'sets of providers': sizeOfSets(this.#of.providers),
      'sets of placements': sizeOfSets([...this.#of.placements, ...this.#of.weaker]),
      'sets of categories and roles': sizeOfSets([...this.#of.categories, ...this.#of.roles]),
      'sets of confidences': sizeOfSets(this.#of.categoryLevels),
      'sets of facts': sizeOfSets(
        [this.#of.states, this.#of.sectors, this.#of.countries, this.#of.flags, this.#of.scores].flat(),
      ),
    };
  }

  /** Adds a new domain, without comparison to previous terms. */
  file(domain: number, { facts, services }: Filing): void {
    this.#moveFacts(domain, undefined, facts);
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      const placement = placementOf(service);
      const level = levelOf(service);
      at(this.#of.placements, placement).add(domain);
      this.#ownSet(this.#vocabulary.providerOf(placement))?.add(domain);
      at(this.#of.categories, this.#vocabulary.categoryOf(placement)).add(domain);
      at(this.#of.roles, this.#vocabulary.roleOf(placement)).add(domain);
      at(this.#of.categoryLevels, this.#vocabulary.categoryOf(placement) * LEVELS.length + level).add(domain);
      if (level > 0) at(this.#of.weaker, placement * 2 + level - 1).add(domain);
    }
  }

  /** Removes a domain from all sets. */
  remove(domain: number, before: Filing): void {
    this.move(domain, before, { facts: before.facts, services: [] });
    const { state, sector, country, score, posture } = before.facts;
    at(this.#of.states, state).delete(domain);
    at(this.#of.sectors, sector).delete(domain);
    at(this.#of.countries, country).delete(domain);
    at(this.#of.scores, score ?? SCORES - 1).delete(domain);
    for (let rest = posture; rest !== 0; rest &= rest - 1)
      at(this.#of.flags, 31 - Math.clz32(rest & -rest)).delete(domain);
  }

  /** Adds a domain to the sets of its new terms and removes it from those that no longer apply. */
  move(domain: number, before: Filing, after: Filing): void {
    this.#moveFacts(domain, before.facts, after.facts);
    const old = this.#termsOf(before.services);
    const now = this.#termsOf(after.services);
    moveBetween(domain, old.placements, now.placements, (n) => at(this.#of.placements, n));
    moveBetween(domain, old.providers, now.providers, (n) => this.#ownSet(n));
    moveBetween(domain, old.categories, now.categories, (n) => at(this.#of.categories, n));
    moveBetween(domain, old.roles, now.roles, (n) => at(this.#of.roles, n));
    moveBetween(domain, old.categoryLevels, now.categoryLevels, (n) => at(this.#of.categoryLevels, n));
    moveBetween(domain, old.weaker, now.weaker, (n) => at(this.#of.weaker, n));
  }

  /** The set of a provider with several placements, made from theirs, which are up to date, when it gets its second one. */
  #ownSet(provider: number): DomainSet | undefined {
    const placements = this.#vocabulary.placementsOf(provider);
    if (placements.length < 2) return undefined;
    this.#of.providers[provider] ??= DomainSet.of(this.provider(provider).toArray());
    return this.#of.providers[provider];
  }

  #moveFacts(domain: number, before: DomainFacts | undefined, after: DomainFacts): void {
    if (before?.state !== after.state) {
      if (before) at(this.#of.states, before.state).delete(domain);
      at(this.#of.states, after.state).add(domain);
    }
    if (before?.sector !== after.sector) {
      if (before) at(this.#of.sectors, before.sector).delete(domain);
      at(this.#of.sectors, after.sector).add(domain);
    }
    if (before?.country !== after.country) {
      if (before) at(this.#of.countries, before.country).delete(domain);
      at(this.#of.countries, after.country).add(domain);
    }
    if (before === undefined || before.score !== after.score) {
      if (before) at(this.#of.scores, before.score ?? SCORES - 1).delete(domain);
      at(this.#of.scores, after.score ?? SCORES - 1).add(domain);
    }
    for (let changed = (before?.posture ?? 0) ^ after.posture; changed !== 0; changed &= changed - 1) {
      const flag = 31 - Math.clz32(changed & -changed);
      if ((after.posture >>> flag) & 1) at(this.#of.flags, flag).add(domain);
      else at(this.#of.flags, flag).delete(domain);
    }
  }

  #termsOf(services: ArrayLike<PackedService>) {
    const terms = {
      providers: [] as number[],
      placements: [] as number[],
      categories: [] as number[],
      roles: [] as number[],
      categoryLevels: [] as number[],
      weaker: [] as number[],
    };
    for (let i = 0; i < services.length; i += 1) {
      const service = services[i] as PackedService;
      const placement = this.#vocabulary.placementAt(placementOf(service));
      const level = levelOf(service);
      terms.placements.push(placement.number);
      if (!terms.providers.includes(placement.provider)) terms.providers.push(placement.provider);
      if (!terms.categories.includes(placement.category)) terms.categories.push(placement.category);
      if (!terms.roles.includes(placement.role)) terms.roles.push(placement.role);
      const categoryLevel = placement.category * LEVELS.length + level;
      if (!terms.categoryLevels.includes(categoryLevel)) terms.categoryLevels.push(categoryLevel);
      if (level > 0) terms.weaker.push(placement.number * 2 + level - 1);
    }
    return terms;
  }
}

/** Allocates consecutive ranges of numbers. */
class Runs {
  end = 0;

  /** The start of the next range, which has this length. */
  next(length: number): number {
    const begin = this.end;
    this.end += length;
    return begin;
  }
}

function scoreTerm(score: number): number {
  return score === NO_SCORE ? SCORES - 1 : score;
}

function at(sets: Sets, number: number): DomainSet {
  let set = sets[number];
  if (!set) {
    set = new DomainSet();
    sets[number] = set;
  }
  return set;
}

function moveBetween(
  domain: number,
  before: readonly number[],
  after: readonly number[],
  setOf: (term: number) => DomainSet | undefined,
): void {
  for (const term of before) if (!after.includes(term)) setOf(term)?.delete(domain);
  for (const term of after) if (!before.includes(term)) setOf(term)?.add(domain);
}
