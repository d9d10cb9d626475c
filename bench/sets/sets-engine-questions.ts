// Questions that SQL and the index answer alike, and how to bring both answers into one form.
import {
  COUNTED_STANDARDS,
  coAdoption,
  type DomainIndex,
  leaders,
  market,
  neighbourhood,
  scorecard,
  searchDomains,
} from '@strata/analytics';
import { type Category, POSTURE_FLAGS } from '@strata/detect';

export type Row = Record<string, unknown>;

export interface EngineQuestion {
  readonly what: string;
  /** Its subjects, one after the other, so that no engine answers from a cache. */
  readonly of: readonly string[];
  /** For DuckDB and SQLite: of the ways to ask it, one that both are quick at. */
  readonly sql: (of: string) => string;
  /** The complete answer, in a form that `theirs` makes of the rows too. */
  readonly ours: (index: DomainIndex, of: string) => unknown;
  readonly theirs: (rows: readonly Row[]) => unknown;
}

/** The largest of six markets. */
const LARGE = ['0001', '0002', '0003', '0004', '0008', '0010'].map((id) => `provider-${id}`);
const PARTS = ['brea', 'stox', 'grum', 'clix', 'pran', 'slay'];
const MARKETS = [
  'email_sending',
  'dns',
  'verified_service',
  'web_platform',
  'hosting',
  'certificate_authority',
] as const;
/** Nothing to choose; the index keeps no answers either. */
const SAME = ['', '', '', '', '', ''];
/** Below it a pair of providers is no neighbourhood. */
const MIN_SUPPORT = 20;
const PAGE = { limit: 50, offset: 0 };
const alone = { ownerOf: (provider: string) => provider };

const names = (index: DomainIndex, { total, domains }: ReturnType<typeof searchDomains>) => ({
  total,
  names: domains.map((domain) => index.names.name(domain)),
});
const namesOf = (rows: readonly Row[]) => ({ total: Number(rows[0]?.n ?? 0), names: rows.map(({ name }) => name) });
const countsOf = (rows: readonly Row[]) => rows.map(({ provider, n }) => [provider, Number(n)]);
/** Sums of thirds differ in the last digits with the order of the summands. */
const rounded = (weight: unknown) => Math.round(Number(weight) * 1e6) / 1e6;
const byName = ([a]: readonly [string, number], [b]: readonly [string, number]) => (a < b ? -1 : 1);

export const ENGINE_QUESTIONS: readonly EngineQuestion[] = [
  {
    what: 'domains of a large provider, count and first 50 names',
    of: LARGE,
    sql: (provider) => `SELECT name, count(*) OVER () AS n FROM domains
          WHERE id IN (SELECT domain_id FROM services WHERE provider = '${provider}') ORDER BY name LIMIT 50`,
    ours: (index, provider) => names(index, searchDomains(index, { provider }, PAGE)),
    theirs: namesOf,
  },
  {
    what: 'leaders: top 50 providers by domains',
    of: SAME,
    sql: () =>
      'SELECT provider, count(DISTINCT domain_id) AS n FROM services GROUP BY provider ORDER BY n DESC, provider LIMIT 50',
    ours: (index) =>
      leaders(index, { today: 0, limit: 50 }).leaders.map(({ provider, domains }) => [provider, domains]),
    theirs: countsOf,
  },
  {
    what: 'market share of a category, a domain with k providers counting 1/k for each',
    of: MARKETS,
    sql: (category) => `SELECT provider, sum(1.0 / k) AS w FROM (
            SELECT s.provider, count(*) OVER (PARTITION BY s.domain_id) AS k FROM services s JOIN domains d ON d.id = s.domain_id
            WHERE s.category = '${category}' AND s.confidence <> 'low' AND d.state = 'active') AS firm
          GROUP BY provider`,
    ours: (index, category) =>
      market(index, category as Category, alone)
        .providers.map(({ provider, weight }) => [provider, rounded(weight)] as const)
        .toSorted(byName),
    theirs: (rows) => rows.map(({ provider, w }) => [String(provider), rounded(w)] as const).toSorted(byName),
  },
  {
    what: 'co-adoption of a large provider with all other providers',
    of: LARGE,
    sql: (own) => `SELECT provider, count(DISTINCT domain_id) AS n FROM services
          WHERE domain_id IN (SELECT domain_id FROM services WHERE provider = '${own}') AND provider <> '${own}'
          GROUP BY provider HAVING count(DISTINCT domain_id) >= ${MIN_SUPPORT} ORDER BY provider`,
    ours: (index, own) =>
      coAdoption(neighbourhood(index, own, alone), 10_000)
        .map(({ provider, domains }) => [provider, domains] as const)
        .toSorted(byName),
    theirs: countsOf,
  },
  {
    what: 'names that hold four given letters, count and first 50',
    of: PARTS,
    sql: (part) => `SELECT name, count(*) OVER () AS n FROM domains WHERE name LIKE '%${part}%'
          ORDER BY CASE WHEN name LIKE '${part}%' THEN 0 ELSE 1 END, name LIMIT 50`,
    ours: (index, part) => names(index, searchDomains(index, { part }, PAGE)),
    theirs: namesOf,
  },
  {
    what: 'scorecard: each standard, by sector',
    of: SAME,
    sql: () => `SELECT sector, count(*) AS n, ${POSTURE_FLAGS.map((flag, bit) => `sum((posture_bits >> ${bit}) & 1) AS ${flag}`).join(', ')}
          FROM domains GROUP BY sector ORDER BY sector`,
    ours: (index) =>
      scorecard(index)
        .bySector.map(({ sector, domains, adoption }) => ({
          sector,
          domains,
          flags: COUNTED_STANDARDS.map((standard) => adoption[standard]?.domains),
        }))
        .toSorted((a, b) => (a.sector < b.sector ? -1 : 1)),
    theirs: (rows) =>
      rows
        .map((row) => ({
          sector: String(row.sector),
          domains: Number(row.n),
          flags: COUNTED_STANDARDS.map((standard) => Number(row[FLAG_OF[standard] ?? standard])),
        }))
        .toSorted((a, b) => (a.sector < b.sector ? -1 : 1)),
  },
];

/** Standards that are counted by a flag of another name. */
const FLAG_OF: Readonly<Record<string, string>> = { spf: 'spf_valid', dmarc: 'dmarc_valid' };
