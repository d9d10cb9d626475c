// Numbers of domains, services, providers and migrations.
import { CATEGORIES, type Category, type DomainState } from '@strata/detect';
import { STATES } from '../columns/terms.ts';
import { DAY_MS } from '../history/daily-series.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import type { Population } from './population.ts';
import { categorySize, providersInUse } from './providers.ts';

export interface Statistics {
  readonly domains: number;
  readonly byState: Readonly<Record<DomainState, number>>;
  /** With any confidence. */
  readonly services: number;
  /** With at least one domain. */
  readonly providers: number;
  /** By time of confirmation. */
  readonly migrations: { readonly last24h: number; readonly last7d: number; readonly last30d: number };
  readonly byCategory: readonly {
    readonly category: Category;
    readonly domains: number;
    readonly providers: number;
  }[];
  /** Of all domains. */
  readonly scans: number;
}

/** Of a population of the index. `now`: milliseconds. */
export function statistics({ history }: DomainIndex, population: Population, now: number): Statistics {
  const { within } = population;
  const migrations = (days: number) => {
    const since = now - days * DAY_MS;
    return within
      ? history.migrationLog.flowsBetween(since, now, { within, limit: 1 }).total
      : history.migrationLog.countBetween(since, now);
  };
  return {
    domains: population.size,
    byState: Object.fromEntries(STATES.map((state, number) => [state, population.tallies.domains([number])])) as Record<
      DomainState,
      number
    >,
    services: population.tallies.services,
    providers: providersInUse(population),
    migrations: { last24h: migrations(1), last7d: migrations(7), last30d: migrations(30) },
    byCategory: CATEGORIES.map((category) => ({ category, ...categorySize(population, category) })),
    scans: history.scans.total,
  };
}
