// The same answers by the index, by DuckDB in memory and by SQLite on the store's own file; the numbers must agree.
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  coAdoption,
  type DomainIndex,
  dayOf,
  IndexBuilder,
  leaders,
  market,
  scorecard,
  searchDomains,
} from '@strata/analytics';
import type { Category, ConfidenceLevel } from '@strata/detect';
import type { LoadedWorld } from '@strata/testnet';
import type { Figure } from './main.ts';
import { median } from './measure.ts';

const TOP = 'provider-0001';
const ROUNDS = 5;

interface Question {
  readonly what: string;
  readonly sql: string;
  /** SQLite where it differs. */
  readonly sqlite?: string;
  /** One number that all three must agree on, from the index and from the rows. */
  readonly ours: (index: DomainIndex) => number;
  readonly theirs: (rows: readonly Record<string, unknown>[]) => number;
}

const first = (name: string) => (rows: readonly Record<string, unknown>[]) => Number(rows[0]?.[name]);

const QUESTIONS: readonly Question[] = [
  {
    what: 'domains of the top provider, count and first 50 names',
    sql: `SELECT name, count(*) OVER () AS n FROM domains WHERE id IN (SELECT domain_id FROM services WHERE provider = '${TOP}') ORDER BY name LIMIT 50`,
    ours: (index) => searchDomains(index, { provider: TOP }, { limit: 50, offset: 0 }).total,
    theirs: first('n'),
  },
  {
    what: 'leaders: top 50 providers by domains',
    sql: 'SELECT provider, count(DISTINCT domain_id) AS n FROM services GROUP BY provider ORDER BY n DESC LIMIT 50',
    ours: (index) => leaders(index, { today: 0, limit: 50 })[0]?.domains ?? 0,
    theirs: first('n'),
  },
  {
    what: 'market share of senders, a domain with k providers counting 1/k for each',
    sql: `WITH firm AS (SELECT s.domain_id, s.provider FROM services s JOIN domains d ON d.id = s.domain_id
            WHERE s.category = 'email_sending' AND s.confidence <> 'low' AND d.state = 'active'),
          k AS (SELECT domain_id, count(*) AS k FROM firm GROUP BY domain_id)
          SELECT provider, sum(1.0 / k) AS w FROM firm JOIN k USING (domain_id) GROUP BY provider ORDER BY w DESC`,
    ours: (index) =>
      Math.round((market(index, 'email_sending', { ownerOf: (id) => id }).providers[0]?.weight ?? 0) * 1_000),
    theirs: (rows) => Math.round(Number(rows[0]?.w) * 1_000),
  },
  {
    what: 'co-adoption of the top provider with all others',
    sql: `SELECT provider, count(DISTINCT domain_id) AS n FROM services
          WHERE domain_id IN (SELECT domain_id FROM services WHERE provider = '${TOP}') AND provider <> '${TOP}'
          GROUP BY provider HAVING n >= 20 ORDER BY n DESC`,
    ours: (index) =>
      Math.max(...coAdoption(index, TOP, { ownerOf: (id) => id, limit: 10_000 }).map(({ domains }) => domains)),
    theirs: first('n'),
  },
  {
    what: 'names that hold "brea", count and first 50',
    sql: "SELECT name, count(*) OVER () AS n FROM domains WHERE name LIKE '%brea%' ORDER BY NOT (name LIKE 'brea%'), name LIMIT 50",
    ours: (index) => searchDomains(index, { part: 'brea' }, { limit: 50, offset: 0 }).total,
    theirs: first('n'),
  },
  {
    what: 'scorecard: each standard, by sector',
    sql: `SELECT sector, count(*) AS n, ${Array.from({ length: 29 }, (_, bit) => `sum((posture_bits >> ${bit}) & 1) AS f${bit}`).join(', ')} FROM domains GROUP BY sector ORDER BY sector`,
    ours: (index) => scorecard(index).adoption.dnssec?.domains ?? 0,
    theirs: (rows) => rows.reduce((sum, row) => sum + Number(row.f21), 0),
  },
];

export async function compareEngines(
  world: LoadedWorld,
  { file, size, endsAt }: { readonly file: string; readonly size: string; readonly endsAt: number },
): Promise<Figure[]> {
  const builder = new IndexBuilder();
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const duck = await instance.connect();
  await duck.run(
    'CREATE TABLE domains (id INTEGER, name VARCHAR, state VARCHAR, sector VARCHAR, posture_bits INTEGER)',
  );
  await duck.run('CREATE TABLE services (domain_id INTEGER, category VARCHAR, provider VARCHAR, confidence VARCHAR)');
  const domains = await duck.createAppender('domains');
  const services = await duck.createAppender('services');
  for (const domain of world.domains()) {
    const { id, name, state, sector, posture } = domain;
    domains.appendInteger(id);
    for (const text of [name, state, sector]) domains.appendVarchar(text);
    domains.appendInteger(posture);
    domains.endRow();
    for (const { category, provider, confidence } of domain.services) {
      services.appendInteger(id);
      for (const text of [category, provider, confidence]) services.appendVarchar(text);
      services.endRow();
    }
    builder.put({
      ...domain,
      services: domain.services.map(
        ({ category, provider, confidence }) =>
          [category as Category, provider, confidence as ConfidenceLevel] as const,
      ),
    });
  }
  domains.closeSync();
  services.closeSync();
  const index = builder.build({ seq: 0, scanId: dayOf(endsAt) });
  using sqlite = new DatabaseSync(file);
  sqlite.exec('CREATE INDEX IF NOT EXISTS bench_provider ON services (provider, domain_id)');

  const figures: Figure[] = [];
  for (const { what, sql, sqlite: own = sql, ours, theirs } of QUESTIONS) {
    const statement = sqlite.prepare(own);
    const [firstMs, mine] = timed(() => ours(index));
    const mineMs = median(Array.from({ length: ROUNDS }, () => timed(() => ours(index))[0]));
    const duckTimes: number[] = [];
    let duckSays = Number.NaN;
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now();
      const rows = (await duck.runAndReadAll(sql)).getRowObjects() as Record<string, unknown>[];
      duckTimes.push(performance.now() - startedAt);
      duckSays = theirs(rows);
    }
    const [sqliteMs, rows] = timed(() => statement.all());
    const sqliteSays = theirs(rows);
    if (mine !== duckSays || mine !== sqliteSays)
      throw new Error(`${what}: ${mine}, DuckDB ${duckSays}, SQLite ${sqliteSays}`);
    const duckMs = median(duckTimes);
    figures.push({
      what: `${size}: ${what}`,
      value: `${mineMs.toFixed(2)} ms (first time ${firstMs.toFixed(2)} ms)`,
      against: `DuckDB ${duckMs.toFixed(1)} ms: ${Math.round(duckMs / mineMs).toLocaleString('en-US')} × (first time ${(duckMs / firstMs).toFixed(1)} ×); SQLite ${sqliteMs.toFixed(0)} ms`,
    });
  }
  duck.closeSync();
  return figures;
}

function timed<T>(work: () => T): [ms: number, result: T] {
  const startedAt = performance.now();
  const result = work();
  return [performance.now() - startedAt, result];
}
