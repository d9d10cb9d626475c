// The questions about sets of domains and their history. Two engines answer them, in memory and in ClickHouse; one suite of
// tests compares their complete answers (test/conformance.ts).
import type { Category, DomainState, Role } from '@strata/detect';
import type { IndexedService } from './columns/terms.ts';
import type { FlowFilter, Flows } from './history/migration-log.ts';
import type { IndexPosition } from './index/domain-index.ts';
import type { BuildCount, ProductBuild } from './query/product-builds.ts';
import type { Query } from './query/query.ts';
import type { CurvePoint } from './questions/adoption-curve.ts';
import type { Market, RoleMarket } from './questions/concentration.ts';
import type { DomainOrder, Facet, OrderKey } from './questions/domain-query.ts';
import type { Neighbourhood } from './questions/neighbours.ts';
import type { Leaders, LeadersOptions } from './questions/providers.ts';
import type { Scorecard } from './questions/scorecard.ts';
import type { DomainFilter } from './questions/search.ts';
import type { Statistics } from './questions/statistics.ts';

/** A restriction to the domains of a query. The text identifies it: the times in it may be relative to when it was read. */
export interface Selection {
  readonly text: string;
  readonly query: Query;
}

/** What the engines know about a domain. */
export interface DomainRow {
  /** The store's number of it. */
  readonly id: number;
  readonly name: string;
  /** Milliseconds since the epoch; `changedAt` is 0 without a change. */
  readonly scannedAt: number;
  readonly firstSeen: number;
  readonly changedAt: number;
  readonly state: DomainState;
  readonly sector: string;
  /** Flags of detection's `packPosture`. */
  readonly posture: number;
  readonly score: number | null;
  /** By category, then by provider; without versions. */
  readonly services: readonly IndexedService[];
  /** Those with a version, by product; of a search for builds. */
  readonly builds?: readonly ProductBuild[];
}

export interface Search {
  readonly filter: DomainFilter;
  /** By default in the order of names, those that begin with the first word of `filter.part` first. */
  readonly order?: DomainOrder | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Only domains after this one, whether it still exists or not; in the order of names its value is null. */
  readonly after?: OrderKey | undefined;
  /** Each with its most frequent values, at most `MAX_FACET_VALUES`. */
  readonly facets?: readonly Facet[];
  /** The limit of each statement of another server: it rejects as unavailable. */
  readonly timeoutMs?: number;
}

export interface FacetCounts {
  readonly facet: Facet;
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

export const MAX_FACET_VALUES = 20;

export interface SearchAnswer {
  /** Number of all matches. */
  readonly total: number;
  readonly domains: readonly DomainRow[];
  /** In the requested order. */
  readonly facets: readonly FacetCounts[];
}

/** Of all domains, or of those of a query. */
export interface Within {
  readonly within?: Selection | undefined;
}

export interface MarketsOptions extends Within {
  readonly categories: readonly Category[];
  readonly roles: readonly Role[];
  readonly includeParked?: boolean;
  readonly ownerOf: (provider: string) => string;
  /** Of all domains, the first so many providers of each market have the change of the 30 days up to a day number. */
  readonly changes?: { readonly today: number; readonly first: number };
}

export interface Markets {
  readonly categories: readonly Market[];
  readonly roles: readonly RoleMarket[];
}

export interface NeighboursOptions extends Within {
  /** Other brands of the same owner are left out. */
  readonly ownerOf: (provider: string) => string;
}

export interface AdoptionHistory {
  /** Every day of the window. */
  readonly curve: readonly CurvePoint[];
  /** Days of the window with scans that resolved at least one record. */
  readonly scannedDays: readonly number[];
  /** The first of all such days. */
  readonly firstScannedDay: number | undefined;
}

/** Migrations confirmed from `since` to `until`, both ends included; milliseconds. */
export interface FlowsOptions extends Omit<FlowFilter, 'within'> {
  readonly since: number;
  readonly until: number;
  readonly within?: Query | undefined;
}

/** How far an engine has followed the store. */
export interface AnswersOf {
  /** The events of the store that every later answer includes. */
  asOf(): Promise<IndexPosition>;
}

/**
 * Every answer is complete and in a total order. An engine that is away, or that exceeds its time or memory, throws; no
 * answer is partial. A question without domains has an empty answer.
 */
export interface Analytics extends AnswersOf {
  /** The domains for which all conditions hold: their number, one page, and counts by value. */
  search(search: Search): Promise<SearchAnswer>;
  /** Numbers of domains, services, providers and migrations. `now`: milliseconds. */
  statistics(options: Within & { readonly now: number }): Promise<Statistics>;
  /** Providers by number of domains. */
  leaders(options: LeadersOptions & Within): Promise<Leaders>;
  /** Shares and concentration of the given categories and roles. */
  markets(options: MarketsOptions): Promise<Markets>;
  /** Providers used together with a provider: see `coAdoption` and `supplyChain`. */
  neighbours(provider: string, options: NeighboursOptions): Promise<Neighbourhood>;
  /** Adoption of the standards of security, and the grades. */
  scorecard(options: Within): Promise<Scorecard>;
  /** Domains of a provider by day, of all domains; days since the epoch, both ends included. */
  adoption(provider: string, days: { readonly from: number; readonly to: number }): Promise<AdoptionHistory>;
  /** The builds of these products that domains show: one of each product that a domain uses with more than low confidence. */
  builds(products: readonly string[]): Promise<readonly BuildCount[]>;
  /** Migrations by previous and new provider. */
  flows(options: FlowsOptions): Promise<Flows>;
}

/** Domains of one search: some milliseconds. */
const MAX_LISTED = 5_000;

/** All domains for which the conditions hold, in the order of a search, some at a time; each once, also while they change. */
export async function* listDomains(
  analytics: Analytics,
  filter: DomainFilter,
  atOnce: number,
): AsyncGenerator<readonly DomainRow[]> {
  let after: OrderKey | undefined;
  do {
    const { domains } = await analytics.search({ filter, limit: MAX_LISTED, offset: 0, after });
    for (let from = 0; from < domains.length; from += atOnce) yield domains.slice(from, from + atOnce);
    const last = domains.at(-1);
    after = last && domains.length === MAX_LISTED ? [null, last.name] : undefined;
  } while (after);
}
