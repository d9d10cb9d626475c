// Market shares and concentration of a category or a role. docs/metrics.md has the sources.
import { CATEGORIES, type Category, HOLDERS, ROLE_FACTS, ROLE_LIST, type Role } from '@strata/detect';
import { categoryNumber, roleNumber, stateNumber } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { Population } from './population.ts';

/**
 * DOJ and FTC merger guidelines of 2023, guideline 1: above 1,800 highly concentrated. Moderate as in those of 1992.
 */
export type Band = 'unconcentrated' | 'moderate' | 'high' | 'insufficient_data';
const HIGH_FROM = 1_800;
const MODERATE_FROM = 1_000;
/** With fewer domains, or a smaller attributed part of them, a band would not be reliable. */
const MIN_DOMAINS = 200;
const MIN_ATTRIBUTED = 0.5;

export interface MarketProvider {
  readonly provider: string;
  /** Domains that use it in the market with high or medium confidence. */
  readonly domains: number;
  /** The same, where a domain with k such providers counts 1/k for each. */
  readonly weight: number;
  /** Of the denominator, 0–1. */
  readonly share: number;
  /** Domains gained minus domains lost in the category within 30 days, if it was asked for. */
  readonly change30d?: number;
}

export interface Market {
  readonly category: Category;
  /** Null for all roles of the category. */
  readonly role: Role | null;
  /** Domains whose role has a holder: attributed, self-hosted and unknown. */
  readonly domains: number;
  readonly attributed: number;
  readonly selfHosted: number;
  readonly unknown: number;
  /** Domains whose role could not be measured; not included in any other number. */
  readonly unmeasured: number;
  /** The base of shares and HHI: attributed and self-hosted domains. */
  readonly denominator: number;
  /** 0–10,000; null without a denominator. */
  readonly hhi: number | null;
  readonly hhiByOwner: number | null;
  readonly band: Band;
  /** Share of the four largest. */
  readonly cr4: number | null;
  /** The number of equal providers with the same HHI. */
  readonly effectiveProviders: number | null;
  /** Largest first. */
  readonly providers: readonly MarketProvider[];
}

/** The market with the changes of its first so many providers. */
export function withChanges<Of extends Market>(of: Of, first: number, changeOf: (provider: string) => number): Of {
  const changed = of.providers.slice(0, first).map((each) => ({ ...each, change30d: changeOf(each.provider) }));
  return { ...of, providers: [...changed, ...of.providers.slice(first)] };
}

export interface RoleMarket extends Market {
  readonly role: Role;
}

export interface MarketOptions {
  readonly includeParked?: boolean;
  /** The owner of a brand. */
  readonly ownerOf: (provider: string) => string;
}

/** The market of a category: all of its roles. */
export function market(population: Population, category: Category, options: MarketOptions): Market {
  return marketOf({ category, role: null }, countsIn(population, { category, role: null }, options), options);
}

export function roleMarket(population: Population, role: Role, options: MarketOptions): RoleMarket {
  const of = { category: ROLE_FACTS[role].category, role };
  return { ...marketOf(of, countsIn(population, of, options), options), role };
}

type MarketName = Pick<Market, 'category' | 'role'>;
type Holder = (typeof HOLDERS)[number];

/** What a market is computed from, of the domains in the states that it includes. */
export interface MarketBase {
  readonly held: (holder: Holder) => number;
  /** In any order. */
  readonly users: readonly Pick<MarketProvider, 'provider' | 'domains' | 'weight'>[];
}

/** The shares and the concentration of counts. */
export function marketOf(
  { category, role }: MarketName,
  { held, users }: MarketBase,
  { ownerOf }: Pick<MarketOptions, 'ownerOf'>,
): Market {
  const attributed = held('provider');
  const selfHosted = held('self');
  const unknown = held('unknown');
  const denominator = attributed + selfHosted;
  const providers = users
    .map((each) => ({ ...each, share: each.weight / denominator }))
    .sort((a, b) => b.weight - a.weight || compareText(a.provider, b.provider));
  const domains = denominator + unknown;
  const hhi = herfindahl(
    providers.map(({ weight }) => weight),
    { denominator, selfHosted },
  );
  const largest = providers.slice(0, 4).reduce((sum, { weight }) => sum + weight, 0);
  const isEnough = domains >= MIN_DOMAINS && attributed / domains >= MIN_ATTRIBUTED;
  return {
    category,
    role,
    domains,
    attributed,
    selfHosted,
    unknown,
    unmeasured: held('unmeasured'),
    denominator,
    hhi,
    hhiByOwner: herfindahl([...byOwner(providers, ownerOf).values()], { denominator, selfHosted }),
    band: hhi === null || !isEnough ? 'insufficient_data' : bandOf(hhi),
    cr4: denominator === 0 ? null : Math.min(1, largest / denominator),
    effectiveProviders: hhi === null || hhi === 0 ? null : 10_000 / hhi,
    providers,
  };
}

export function markets(population: Population, options: MarketOptions): Market[] {
  return CATEGORIES.map((category) => market(population, category, options));
}

export function roleMarkets(population: Population, options: MarketOptions): RoleMarket[] {
  return ROLE_LIST.map((role) => roleMarket(population, role, options));
}

/**
 * Herfindahl–Hirschman index, 0–10,000: the sum of squared shares in percent. Each self-hosted domain counts as one firm.
 */
export function herfindahl(
  weights: readonly number[],
  { denominator, selfHosted }: { readonly denominator: number; readonly selfHosted: number },
): number | null {
  if (denominator === 0) return null;
  const squares = weights.reduce((sum, weight) => sum + (weight / denominator) ** 2, 0);
  // Thirds and sevenths do not add up to exactly 1 in binary: a monopoly must not exceed the maximum.
  return Math.min(10_000, (squares + selfHosted * (1 / denominator) ** 2) * 10_000);
}

export function bandOf(hhi: number): Band {
  if (hhi > HIGH_FROM) return 'high';
  return hhi >= MODERATE_FROM ? 'moderate' : 'unconcentrated';
}

function countsIn(
  { tallies, vocabulary }: Population,
  { category, role }: MarketName,
  { includeParked = false }: MarketOptions,
): MarketBase {
  const number = role === null ? categoryNumber(category) : roleNumber(role);
  const counts = role === null ? tallies.categories : tallies.roles;
  const states = includeParked ? [stateNumber('active'), stateNumber('parked')] : [stateNumber('active')];
  const users: { provider: string; domains: number; weight: number }[] = [];
  for (const placement of vocabulary.placements) {
    if ((role === null ? placement.category : placement.role) !== number) continue;
    const { domains, weight } = counts.users(placement.number, states);
    if (domains > 0) users.push({ provider: vocabulary.providers.word(placement.provider), domains, weight });
  }
  return { held: (holder) => counts.holders(number, HOLDERS.indexOf(holder), states), users };
}

function byOwner(providers: readonly MarketProvider[], ownerOf: (provider: string) => string): Map<string, number> {
  const owners = new Map<string, number>();
  for (const { provider, weight } of providers) {
    const owner = ownerOf(provider);
    owners.set(owner, (owners.get(owner) ?? 0) + weight);
  }
  return owners;
}
