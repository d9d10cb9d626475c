// The index over all domains: columns, sets, counts and history. It is built from the store, is updated from the store's
// logs, and can be rebuilt at any time. One writer, many readers: all methods are synchronous, so a reader never sees a
// partial change.
import { type ConfidenceLevel, type DomainState, SECTORS } from '@strata/detect';
import { type Build, Builds } from '../columns/builds.ts';
import { DomainColumns, type DomainFacts, levelOf, MAX_SERVICES, placementOf } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import {
  categoryAt,
  categoryNumber,
  countryNumber,
  type IndexedService,
  LEVELS,
  LOW,
  STATES,
  sectorNumber,
  stateNumber,
  Vocabulary,
} from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import { ChangeHistory } from '../history/change-history.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { FirstInTime } from './first-in-time.ts';
import { NameGrams } from './name-grams.ts';
import { PairCounts } from './pair-counts.ts';
import { Tallies } from './tallies.ts';
import { TermSets } from './term-sets.ts';
import { TldSets } from './tld-sets.ts';

/** The indexed data of a domain. */
export interface IndexedDomain {
  /** The store's number of it. Dense, because sets and columns are as long as the largest number. */
  readonly id: number;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly scannedAt: number;
  /** Of the first scan that measured it. Absent: as before, and for a new domain that of its scan. */
  readonly firstSeen?: number;
  /** Confirmation of its last change, except of reclassifications; 0: never. Absent: as before, for a new domain 0. */
  readonly changedAt?: number;
  readonly state: DomainState;
  readonly sector: string;
  /** Results of detection's `packPosture` and `packHolders`. */
  readonly posture: number;
  readonly holders: number;
  /** Of the network of its address: `DE`. Absent in events of earlier versions: as before. */
  readonly country?: string | null;
  readonly score: number | null;
  readonly services: readonly IndexedService[];
}

/** Positions in the store's two logs: everything up to them is in the index. */
export interface IndexPosition {
  readonly seq: number;
  readonly scanId: number;
}

/** The terms of a domain before and after a change. */
export interface Touched {
  readonly isNew: boolean;
  readonly providers: readonly string[];
  readonly categories: readonly string[];
  /** Builds that no domain showed before. */
  readonly newBuilds: readonly (Build & { readonly provider: string })[];
}

/** What follows from the columns. */
export interface DerivedParts {
  readonly sets: TermSets;
  readonly grams: NameGrams;
  readonly tlds: TldSets;
  readonly tallies: Tallies;
}

interface IndexParts {
  readonly names: NameTable;
  readonly columns: DomainColumns;
  readonly vocabulary: Vocabulary;
  readonly builds: Builds;
  readonly history: ChangeHistory;
}

export class DomainIndex {
  readonly names: NameTable;
  readonly columns: DomainColumns;
  readonly vocabulary: Vocabulary;
  readonly builds: Builds;
  readonly history: ChangeHistory;
  readonly sets: TermSets;
  readonly tallies: Tallies;
  readonly grams: NameGrams;
  readonly tlds: TldSets;
  readonly firstInTime: FirstInTime;
  position: IndexPosition = { seq: 0, scanId: 0 };

  /** Computes the sets and counts of the columns unless they are given. */
  constructor(parts: Partial<IndexParts> = {}, derived: Partial<DerivedParts> = {}) {
    this.names = parts.names ?? new NameTable();
    this.columns = parts.columns ?? new DomainColumns();
    this.vocabulary = parts.vocabulary ?? new Vocabulary();
    this.builds = parts.builds ?? new Builds();
    this.history = parts.history ?? new ChangeHistory();
    this.sets = derived.sets ?? TermSets.of(this.vocabulary, this.names, this.columns);
    this.builds.fill(this.names, this.columns);
    this.grams = derived.grams ?? NameGrams.of(this.names);
    this.tlds = derived.tlds ?? TldSets.of(this.names);
    this.firstInTime = new FirstInTime(this.columns);
    // Sorts the names now, so that the first query does not have to.
    this.names.sorted.ranks();
    this.tallies = derived.tallies ?? new Tallies(this.vocabulary, new PairCounts());
    if (derived.tallies) return;
    this.names.each((id) => this.tallies.count(this.columns.facts(id), this.columns.services(id), 1));
  }

  /** Takes over the state of another index, which must not be used afterwards; references to this index stay valid. */
  replaceWith(other: DomainIndex): void {
    Object.assign(this, other);
  }

  /** Number of scanned domains. */
  get size(): number {
    return this.names.sorted.count;
  }

  put(domain: IndexedDomain): Touched {
    const { id, name } = domain;
    const isNew = !this.names.has(id);
    const { services, builds } = packServices(domain.services, this);
    const facts = factsOf(domain, isNew ? undefined : this.columns.facts(id));
    if (isNew) {
      this.names.add(id, name);
      this.grams.add(id, name);
      this.tlds.add(id, name);
      this.columns.set(id, facts, services, builds);
      this.firstInTime.move(id);
      this.sets.file(id, { facts, services });
      this.tallies.count(facts, services, 1);
      return this.#touched(services, { isNew, newBuilds: this.builds.move(id, [], builds) });
    }
    const before = { facts: this.columns.facts(id), services: this.columns.services(id).slice() };
    this.tallies.count(before.facts, before.services, -1);
    this.sets.move(id, before, { facts, services });
    const newBuilds = this.builds.move(id, this.#buildsOf(id), builds);
    // An event may be older than a scan that is already counted: the time of the last scan never decreases.
    const scannedAt = Math.max(facts.scannedAt, before.facts.scannedAt);
    this.columns.set(id, { ...facts, scannedAt }, services, builds);
    this.firstInTime.move(id);
    this.tallies.count(facts, services, 1);
    return this.#touched([...before.services, ...services], { isNew, newBuilds });
  }

  /** Removes an unfollowed domain. Its changes stay counted. Undefined if it is unknown. */
  remove(id: number): Touched | undefined {
    if (!this.names.has(id)) return undefined;
    const before = { facts: this.columns.facts(id), services: this.columns.services(id).slice() };
    this.tallies.count(before.facts, before.services, -1);
    this.sets.remove(id, before);
    this.builds.move(id, this.#buildsOf(id), []);
    this.grams.remove(id, this.names.name(id));
    this.tlds.remove(id, this.names.name(id));
    const isLastOfPage = this.names.remove(id);
    this.columns.remove(id, { isLastOfPage });
    return this.#touched([...before.services], { isNew: false, newBuilds: [] });
  }

  /** Records a scan without changes, or the confirmation of a change. */
  touch(id: number, time: { readonly scannedAt: number } | { readonly changedAt: number }): void {
    if (!this.names.has(id)) return;
    if ('scannedAt' in time) this.columns.touch(id, 'scanned_at', time.scannedAt);
    else this.columns.touch(id, 'changed_at', time.changedAt);
    this.firstInTime.move(id);
  }

  /** Services of a domain, by category, then by provider. */
  services(id: number): IndexedService[] {
    const { pool, from, to } = this.columns.servicesIn(id);
    const services: IndexedService[] = [];
    for (let at = from; at < to; at += 1) {
      const service = pool[at] as number;
      const { category, provider } = this.vocabulary.placementAt(placementOf(service));
      const level = LEVELS[levelOf(service)] as ConfidenceLevel;
      services.push([categoryAt(category), this.vocabulary.providers.word(provider), level]);
    }
    return services;
  }

  /** The observed versions of a provider's product with their domains; services of low confidence do not count. */
  buildsOf(providerId: string): readonly (Build & { readonly domains: DomainSet })[] {
    const provider = this.vocabulary.providers.find(providerId);
    if (provider === undefined) return [];
    return [...this.builds.of(provider)].map((number) => {
      const [, version, platform] = this.builds.word(number);
      return { version, platform, domains: this.builds.domains(number) };
    });
  }

  /** What a domain shows of a provider's product. */
  buildOf(id: number, providerId: string): Build | null {
    const provider = this.vocabulary.providers.find(providerId);
    if (provider === undefined || !this.names.has(id)) return null;
    for (const number of this.#buildsOf(id)) {
      const [of, version, platform] = this.builds.word(number);
      if (of === provider) return { version, platform };
    }
    return null;
  }

  sector(id: number): string {
    return SECTORS[this.columns.facts(id).sector] ?? 'unknown';
  }

  state(id: number): DomainState {
    return STATES[this.columns.facts(id).state] as DomainState;
  }

  /** Bytes by part. */
  get memory(): Readonly<Record<string, number>> {
    return {
      ...this.names.memory,
      ...this.columns.memory,
      ...this.sets.memory,
      'runs of characters': this.grams.byteLength,
      'top-level domains': this.tlds.byteLength,
      'first domains by time': this.firstInTime.byteLength,
      builds: this.builds.byteLength,
      tallies: this.tallies.byteLength,
      ...this.history.memory,
    };
  }

  #buildsOf(id: number): readonly number[] {
    const { pool, from, to } = this.columns.buildsIn(id);
    return Array.from(pool.subarray(from, to));
  }

  #touched(
    services: readonly number[],
    { isNew, newBuilds }: { readonly isNew: boolean; readonly newBuilds: readonly number[] },
  ): Touched {
    const providers = new Set<string>();
    const categories = new Set<string>();
    for (const service of services) {
      const { category, provider } = this.vocabulary.placementAt(placementOf(service));
      providers.add(this.vocabulary.providers.word(provider));
      categories.add(categoryAt(category));
    }
    const builds = newBuilds.map((number) => {
      const [provider, version, platform] = this.builds.word(number);
      return { provider: this.vocabulary.providers.word(provider), version, platform };
    });
    return { isNew, providers: [...providers], categories: [...categories], newBuilds: builds };
  }
}

/** In a fixed order, so that an incrementally updated index and a rebuilt one list services equally. */
export function packServices(
  services: readonly IndexedService[],
  { vocabulary, builds }: { readonly vocabulary: Vocabulary; readonly builds: Builds },
): { readonly services: readonly number[]; readonly builds: readonly number[] } {
  const kept = services
    .toSorted((a, b) => categoryNumber(a[0]) - categoryNumber(b[0]) || compareText(a[1], b[1]))
    .slice(0, MAX_SERVICES);
  return {
    services: kept.map((service) => vocabulary.pack(service)),
    builds: shownBy(kept).map(([, provider, , version, platform]) =>
      builds.number([vocabulary.providers.number(provider), version ?? '', platform ?? null]),
    ),
  };
}

/** For each provider the service with the highest confidence that shows a version, the first of equal ones. */
export function shownBy(services: readonly IndexedService[]): IndexedService[] {
  if (!services.some((service) => service[3])) return [];
  const shown = new Map<string, IndexedService>();
  for (const service of services) {
    const [, provider, confidence, version] = service;
    if (!version || LEVELS.indexOf(confidence) === LOW) continue;
    const other = shown.get(provider);
    if (!other || LEVELS.indexOf(confidence) < LEVELS.indexOf(other[2])) shown.set(provider, service);
  }
  return [...shown.values()];
}

export function factsOf(domain: IndexedDomain, before?: DomainFacts): DomainFacts {
  return {
    scannedAt: domain.scannedAt,
    firstSeen: domain.firstSeen ?? before?.firstSeen ?? domain.scannedAt,
    changedAt: domain.changedAt ?? before?.changedAt ?? 0,
    state: stateNumber(domain.state),
    sector: sectorNumber(domain.sector),
    posture: domain.posture,
    holders: domain.holders,
    country: domain.country === undefined ? (before?.country ?? 0) : countryNumber(domain.country),
    score: domain.score,
  };
}
