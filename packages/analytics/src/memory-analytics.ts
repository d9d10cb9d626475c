// Answers the questions from the index in memory.
import { SECTORS } from '@strata/detect';
import type { Analytics, DomainRow, FacetCounts, MarketsOptions, Search, SearchAnswer } from './analytics.ts';
import { MAX_FACET_VALUES, type Selection } from './analytics.ts';
import { STATES } from './columns/terms.ts';
import { DAY_MS } from './history/daily-series.ts';
import type { DomainIndex } from './index/domain-index.ts';
import { allDomains, evaluateQuery } from './query/evaluate-query.ts';
import { buildsIn, productBuilds } from './query/product-builds.ts';
import { adoptionCurve } from './questions/adoption-curve.ts';
import { type Market, market, roleMarket, withChanges } from './questions/concentration.ts';
import { facetOf, inOrder } from './questions/domain-query.ts';
import { neighbourhood } from './questions/neighbours.ts';
import { countDomains, type Population } from './questions/population.ts';
import { leaders, netMovement } from './questions/providers.ts';
import { scorecard } from './questions/scorecard.ts';
import { matchingDomains, namePage } from './questions/search.ts';
import { statistics } from './questions/statistics.ts';

/** How the work over many domains is divided; by default everything is computed at once. */
export interface MemoryDeps {
  /** Counts the domains of a selection. */
  readonly populationOf?: (selection: Selection) => Promise<Population>;
  readonly yieldToEventLoop?: () => Promise<unknown>;
}

/** The index as an engine. It may be replaced by another one between two questions. */
export function memoryAnalytics(index: DomainIndex, deps: MemoryDeps = {}): Analytics {
  const { populationOf = (selection) => countedAtOnce(index, selection), yieldToEventLoop = async () => {} } = deps;
  const population = async (within: Selection | undefined) => (within ? populationOf(within) : index);
  return {
    asOf: async () => index.position,
    search: (search) => searched(index, search, yieldToEventLoop),
    statistics: async ({ within, now }) => statistics(index, await population(within), now),
    leaders: async ({ within, ...options }) =>
      leaders(index, { ...options, within: within && evaluateQuery(index, within.query) }),
    markets: async (options) => marketsOf(index, await population(options.within), options),
    neighbours: async (provider, { within, ownerOf }) => neighbourhood(await population(within), provider, { ownerOf }),
    scorecard: async ({ within }) => scorecard(await population(within)),
    async adoption(provider, { from, to }) {
      const days = index.history.scans.days().map(({ day }) => day);
      const scannedDays = days.filter((day) => day >= from && day <= to);
      return { curve: adoptionCurve(index, { provider }, { from, to }), scannedDays, firstScannedDay: days[0] };
    },
    builds: async (products) => productBuilds(index, products),
    async flows({ since, until, within, ...filter }) {
      const log = index.history.migrationLog;
      const of = { ...filter, within: within && evaluateQuery(index, within) };
      // The sums of complete days are kept.
      return since % DAY_MS === 0 && (until + 1) % DAY_MS === 0
        ? log.flows(since / DAY_MS, (until + 1) / DAY_MS - 1, of)
        : log.flowsBetween(since - 1, until, of);
    },
  };
}

async function countedAtOnce(index: DomainIndex, { query }: Selection): Promise<Population> {
  const counting = countDomains(index, evaluateQuery(index, query));
  for (;;) {
    const { done, value } = counting.next();
    if (done) return value;
  }
}

async function searched(
  index: DomainIndex,
  { filter, order, limit, offset, after, facets = [] }: Search,
  yieldToEventLoop: () => Promise<unknown>,
): Promise<SearchAnswer> {
  const set = matchingDomains(index, filter);
  const page =
    limit === 0
      ? []
      : order
        ? inOrder(index, set ?? allDomains(index), order, { limit: limit + offset, ...(after && { after }) }).slice(
            offset,
          )
        : namePage(index, set, { limit, offset, part: filter.part, ...(after && { after: after[1] }) });
  // The index, and a set that it keeps, may change while other requests run.
  const total = set?.size ?? index.size;
  const domains = page.map((domain) => {
    const row = domainRow(index, domain);
    return filter.builds ? { ...row, builds: buildsIn(index, domain) } : row;
  });
  const counts: FacetCounts[] = [];
  for (const facet of facets) {
    await yieldToEventLoop();
    counts.push({ facet, values: facetOf(index, set ?? allDomains(index), facet, MAX_FACET_VALUES) });
  }
  return { total, domains, facets: counts };
}

/** What the index knows about a domain. */
export function domainRow(index: DomainIndex, id: number): DomainRow {
  const { scannedAt, firstSeen, changedAt, state, sector, posture, score } = index.columns.facts(id);
  return {
    ...{ id, name: index.names.name(id), scannedAt, firstSeen, changedAt, posture, score },
    state: STATES[state] ?? 'unmeasured',
    sector: SECTORS[sector] ?? 'unknown',
    services: index.services(id),
  };
}

function marketsOf(
  index: DomainIndex,
  population: Population,
  { categories, roles, within, changes, ...options }: MarketsOptions,
) {
  const moved = <Of extends Market>(of: Of): Of => {
    if (!changes || within) return of;
    const { today, first } = changes;
    return withChanges(of, first, (provider) => netMovement(index, { provider, category: of.category }, today));
  };
  return {
    categories: categories.map((category) => moved(market(population, category, options))),
    roles: roles.map((role) => moved(roleMarket(population, role, options))),
  };
}
