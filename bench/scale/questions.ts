// The questions of the suite, each about several subjects, and their goals.
import { type Analytics, type Query, readQuery } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { ENDS_AT, MARKETS, TODAY } from './world-sql.ts';

export interface ScaleQuestion {
  readonly what: string;
  readonly goal?: { readonly ms: number; readonly of: 'again' | 'first' };
  /** Subjects, one after the other. */
  readonly of: readonly string[];
  readonly ask: (engine: Analytics, of: string) => Promise<unknown>;
  /** The same of DuckDB. */
  readonly sql?: (of: string) => string;
}

const market = (category: string) => MARKETS[category as keyof typeof MARKETS] ?? [];
const LARGE = CATEGORIES.map((category) => market(category)[0] ?? '').slice(0, 7);
const MIDDLE = CATEGORIES.map((category) => market(category)[40] ?? '').slice(0, 7);
const SMALL = CATEGORIES.map((category) => market(category)[240] ?? '').slice(0, 7);
const SAME = Array<string>(7).fill('');
const ownerOf = (provider: string) => provider;
const PAGE = { limit: 50, offset: 0 };

const names = {
  providerId: (text: string) => text,
  nearestProvider: () => undefined,
  providersOfKind: () => [],
  nearest: () => undefined,
  asciiPart: (text: string) => text,
  segment: (): Query => ({ kind: 'and', of: [] }),
  momentOf: (text: string) => ENDS_AT - Number.parseInt(text, 10) * 3_600_000,
};
const query = (text: string) => readQuery(text, names);
const pageOf = (
  provider: string,
) => `SELECT name, (SELECT count(DISTINCT id) FROM services WHERE provider = '${provider}') AS n FROM names
  WHERE id IN (SELECT id FROM services WHERE provider = '${provider}') ORDER BY name LIMIT 50`;
const page = {
  ask: (engine: Analytics, provider: string) => engine.search({ filter: { provider }, ...PAGE }),
  sql: pageOf,
};
const three = LARGE.map(
  (provider, i) => `${provider} ${market('verified_service')[i + 1]} ${market('web_platform')[i + 2]}`,
);

/** Milliseconds. */
const GOALS = { page: 100, query: 500, counts: 100, first: 10_000, again: 50 } as const;
const again = (ms: number) => ({ ms, of: 'again' as const });

export const SCALE_QUESTIONS: readonly ScaleQuestion[] = [
  { what: 'first 50 domains of a large provider', goal: again(GOALS.page), of: LARGE, ...page },
  { what: 'first 50 of one with a hundredth of its domains', goal: again(GOALS.page), of: MIDDLE, ...page },
  { what: 'first 50 of a small one', goal: again(GOALS.page), of: SMALL, ...page },
  {
    what: 'number of domains of a provider',
    goal: again(GOALS.page),
    of: LARGE,
    ask: (engine, provider) => engine.search({ filter: { provider }, limit: 0, offset: 0 }),
    sql: (provider) => `SELECT count(DISTINCT id) AS n FROM services WHERE provider = '${provider}'`,
  },
  {
    what: 'a AND b NOT c: number and first 50',
    goal: again(GOALS.query),
    of: three,
    ask: (engine, of) => {
      const [a, b, c] = of.split(' ');
      return engine.search({ filter: { query: query(`provider:${a} provider:${b} -provider:${c}`) }, ...PAGE });
    },
    sql: (of) => {
      const [a, b, c] = of.split(' ').map((provider) => `(SELECT id FROM services WHERE provider = '${provider}')`);
      return `SELECT name, count(*) OVER () AS n FROM names WHERE id IN ${a} AND id IN ${b} AND id NOT IN ${c} ORDER BY name LIMIT 50`;
    },
  },
  {
    what: 'eight conditions: number and first 50',
    goal: again(GOALS.query),
    of: LARGE,
    ask: (engine, provider) =>
      engine.search({
        filter: {
          query: query(
            `provider:${provider} state:live spf:valid -dmarc:reject tld:(com OR de) dns:* score:>=40 tls:trusted`,
          ),
        },
        ...PAGE,
      }),
  },
  {
    what: 'leaders',
    goal: again(GOALS.counts),
    of: SAME,
    ask: (engine) => engine.leaders({ today: TODAY, limit: 50 }),
    sql: () =>
      'SELECT provider, count(DISTINCT id) AS n FROM services GROUP BY provider ORDER BY n DESC, provider LIMIT 50',
  },
  {
    what: 'market share of a category',
    goal: again(GOALS.counts),
    of: CATEGORIES.slice(0, 7),
    ask: (engine, category) =>
      engine.markets({ categories: [category as (typeof CATEGORIES)[number]], roles: [], ownerOf }),
    sql: (category) => `SELECT provider, sum(1.0 / k) AS w FROM (
      SELECT provider, count(*) OVER (PARTITION BY s.id) AS k FROM services s JOIN domains d ON d.id = s.id
      WHERE category = '${category}' AND level <> 'low' AND d.state = 'active') AS firm GROUP BY provider`,
  },
  {
    what: 'co-adoption of a large provider',
    goal: again(GOALS.again),
    of: LARGE,
    ask: (engine, provider) => engine.neighbours(provider, { ownerOf }),
    sql: (own) => `SELECT provider, count(DISTINCT id) AS n FROM services
      WHERE id IN (SELECT id FROM services WHERE provider = '${own}') AND provider <> '${own}' GROUP BY provider HAVING count(DISTINCT id) >= 20`,
  },
  {
    what: 'co-adoption within a query',
    goal: { ms: GOALS.first, of: 'first' },
    of: LARGE.slice(0, 3),
    ask: (engine, provider) =>
      engine.neighbours(provider, { ownerOf, within: { text: 'com', query: query('tld:com') } }),
  },
  { what: 'scorecard', of: SAME, ask: (engine) => engine.scorecard({}) },
  { what: 'statistics', of: SAME, ask: (engine) => engine.statistics({ now: ENDS_AT }) },
  {
    what: 'adoption of a provider, a year',
    of: LARGE,
    ask: (engine, provider) => engine.adoption(provider, { from: TODAY - 365, to: TODAY }),
  },
  {
    what: 'migrations of a provider, 30 days',
    of: LARGE,
    ask: (engine, provider) => engine.flows({ provider, since: ENDS_AT - 30 * 86_400_000, until: ENDS_AT, limit: 50 }),
  },
  {
    what: 'a part of the name: number and first 50',
    of: ['breldelmar', 'stoxan', 'zelkan', 'yorva', 'wilzanper', 'qualen', 'norhal'],
    ask: (engine, part) => engine.search({ filter: { part }, ...PAGE }),
  },
  {
    what: 'by score, first 50 of a large provider',
    of: LARGE.slice(0, 3),
    ask: (engine, provider) =>
      engine.search({ filter: { provider }, order: { by: 'score', isDescending: true }, ...PAGE }),
  },
  {
    what: 'by last scan, first 50 of a large provider',
    of: LARGE.slice(0, 3),
    ask: (engine, provider) =>
      engine.search({ filter: { provider }, order: { by: 'scanned_at', isDescending: true }, ...PAGE }),
  },
  {
    what: 'providers of a query (facet)',
    of: LARGE.slice(0, 3),
    ask: (engine, provider) => engine.search({ filter: { provider }, limit: 0, offset: 0, facets: ['provider'] }),
  },
];
