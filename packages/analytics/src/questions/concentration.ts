// Market shares and concentration of a category or a role. docs/metrics.md has the sources.
import { CATEGORIES, type Category, HOLDERS, ROLE_FACTS, ROLE_LIST, type Role } from '@strata/detect';
import { categoryNumber, roleNumber, stateNumber } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { MarketCounts } from '../index/market-counts.ts';
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
  return marketOf(population, { category, role: null }, options);
}

export function roleMarket(population: Population, role: Role, options: MarketOptions): RoleMarket {
  return { ...marketOf(population, { category: ROLE_FACTS[role].category, role }, options), role };
}

function marketOf(
  population: Population,
  { category, role }: Pick<Market, 'category' | 'role'>,
  { includeParked = false, ownerOf }: MarketOptions,
): Market {
  const number = role === null ? categoryNumber(category) : roleNumber(role);
  const counts = role === null ? population.tallies.categories : population.tallies.roles;
  const states = includeParked ? [stateNumber('active'), stateNumber('parked')] : [stateNumber('active')];
  const held = (holder: (typeof HOLDERS)[number]) => counts.holders(number, HOLDERS.indexOf(holder), states);
  const attributed = held('provider');
  const selfHosted = held('self');
  const unknown = held('unknown');
  const denominator = attributed + selfHosted;
  const providers = marketProviders(population, { number, role, counts }, { states, denominator });
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

function marketProviders(
  population: Population,
  { number, role, counts }: { readonly number: number; readonly role: Role | null; readonly counts: MarketCounts },
  { states, denominator }: { readonly states: readonly number[]; readonly denominator: number },
): MarketProvider[] {
  const providers: MarketProvider[] = [];
  for (const placement of population.vocabulary.placements) {
    if ((role === null ? placement.category : placement.role) !== number) continue;
    const { domains, weight } = counts.users(placement.number, states);
    if (domains === 0) continue;
    const provider = population.vocabulary.providers.word(placement.provider);
    providers.push({ provider, domains, weight, share: weight / denominator });
  }
  return providers.sort((a, b) => b.weight - a.weight || compareText(a.provider, b.provider));
}

function byOwner(providers: readonly MarketProvider[], ownerOf: (provider: string) => string): Map<string, number> {
  const owners = new Map<string, number>();
  for (const { provider, weight } of providers) {
    const owner = ownerOf(provider);
    owners.set(owner, (owners.get(owner) ?? 0) + weight);
  }
  return owners;
}
