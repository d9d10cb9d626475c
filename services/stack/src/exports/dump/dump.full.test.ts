// The queries of docs/dumps.md, run by DuckDB on the dumps of two days, against what the API answers.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createInternet } from '@strata/testnet';
import { temporaryDirectory } from '../../../../../tests/support/temporary-directory.ts';
import { completeTables } from '../../routes/exports/tables.ts';
import { moveDnsOf, startHarness } from '../../test/harness.ts';
import { DumpUrl } from './dump-url.ts';
import { dumpToday } from './nightly.ts';

const ROOT = path.join(import.meta.dirname, '../../../../..');
/** 70 MB, and asked for by no other test: not among the dependencies. MIT. */
const DUCKDB = '@duckdb/node-api@1.5.4-r.1';
const CACHE = path.join(ROOT, 'node_modules/.cache/duckdb');

interface DuckDb {
  readonly DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> };
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowsJson(): (string | number)[][] }>;
}

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of these bodies
type Answer = any;

/** Installed once; undefined where the registry cannot be reached. */
async function duckDb(): Promise<DuckDb | undefined> {
  const installed = path.join(CACHE, 'node_modules/@duckdb/node-api/package.json');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--fetch-retries=1'];
  try {
    await access(installed).catch(() =>
      promisify(execFile)('npm', ['install', '--prefix', CACHE, ...options, DUCKDB], { timeout: 180_000 }),
    );
    return createRequire(installed)('@duckdb/node-api') as DuckDb;
  } catch {
    return undefined;
  }
}

it('the queries of the documentation, run by DuckDB, answer as the API does', async (t) => {
  const duckdb = await duckDb();
  if (!duckdb) return t.skip(`${DUCKDB} is not installed and could not be fetched`);
  await using internet = await createInternet({ domains: 60, hasFaults: false });
  await using directory = await temporaryDirectory();
  let now = '2026-01-29T10:00:00Z';
  const settings = { STRATA_SCAN_OPTIONS: 'confirm-hours=0', STRATA_FEEDS: 'off' };
  await using service = await startHarness({ internet, settings, world: { now: () => new Date(now) } });
  const { app, updateLoop } = service.running;
  const ask = async (target: string): Promise<Answer> => (await service.get(`/stack/v1/${target}`)).body;
  const scan = async (at: string, domains: readonly string[]) => {
    now = at;
    await service.scan(...domains);
    await updateLoop.run();
  };
  const dumpOn = async (date: string) => {
    now = `${date}T00:00:05Z`;
    const address = DumpUrl.parse(pathToFileURL(directory.path).href);
    const deps = { address, scratch: path.join(directory.path, 'scratch'), store: app.store, now: () => new Date(now) };
    const { signal } = new AbortController();
    await dumpToday({ ...deps, tables: completeTables(app) }, { isReplaced: false, signal });
    const { results } = await ask('search?limit=1000');
    return Promise.all<Answer>(results.map(({ domain }: Answer) => ask(`domains/${domain}`)));
  };
  const [added, first] = [internet.domains().slice(40), internet.domains().slice(0, 40)];
  await scan(now, first);
  const before = await dumpOn('2026-01-30');
  const moved = moveDnsOf(internet, 5).map(({ domain }) => domain);
  for (const hour of ['10', '20']) await scan(`2026-01-30T${hour}:00:00Z`, [...moved, ...added]);
  const after = await dumpOn('2026-01-31');

  const mailboxesOf = ({ services }: Answer) =>
    services.filter((each: Answer) => each.role === 'mailbox' && each.confidence !== 'low');
  const count = (keys: readonly string[]) =>
    [...Map.groupBy(keys, (key) => key)].map(([key, { length }]) => [key, length]);
  const averages = (date: string, profiles: readonly Answer[]) =>
    [...Map.groupBy(profiles, ({ sector }) => sector)].map(([sector, own]) => {
      const scores = own.flatMap(({ security }) => security.score ?? []);
      const average = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      return [date, sector, scores.length === 0 ? null : Math.round(average * 10) / 10];
    });
  const dmarcOf = ({ status, effective_policy }: Answer) => (status === 'absent' ? 'missing' : effective_policy);
  const changes = await Promise.all(after.map(({ domain }) => ask(`domains/${domain}/changes?limit=100`)));
  const gained = changes.flatMap((answer) => answer.changes.filter(({ type }: Answer) => /added|migrated/.test(type)));
  const expected = [
    count(
      after.map((profile) =>
        mailboxesOf(profile)
          .map(({ provider_id }: Answer) => provider_id)
          .join(';'),
      ),
    ),
    [...averages('2026-01-30', before), ...averages('2026-01-31', after)],
    count(gained.map(({ to }) => to)).map((row) => ['2026-01-01 00:00:00', ...row]),
    after.flatMap((profile) => {
      const policy = dmarcOf(profile.security.dmarc);
      const rows = profile.services.filter(({ role }: Answer) => role === 'mailbox');
      return policy === 'reject' ? [] : rows.map(({ provider }: Answer) => [profile.domain, provider, policy]);
    }),
    added.map((domain) => [domain]),
  ];
  const page = await readFile(path.join(ROOT, 'docs/dumps.md'), 'utf8');
  const queries = (/```sql\n([^`]+)```/.exec(page)?.[1] ?? '').split(';').filter((query) => query.trim() !== '');
  assert.equal(queries.length, expected.length);
  const connection = await (await duckdb.DuckDBInstance.create()).connect();
  const sorted = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.join(' | ')).sort();
  for (const [i, query] of queries.entries()) {
    const result = await connection.runAndReadAll(query.replaceAll("'dumps/", `'${directory.path}/`));
    const rows = sorted(result.getRowsJson());
    assert.ok(rows.length > 0, query);
    assert.deepEqual(rows, sorted(expected[i] ?? []), query);
  }
});
