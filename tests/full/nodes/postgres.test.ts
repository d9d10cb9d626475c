// The stack service on PostgreSQL answers as it does on SQLite, and a store that grew on one goes on with the other.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { verifyBody } from '@strata/client';
import type { Internet } from '@strata/testnet';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import {
  type Harness,
  moveDns,
  smallInternet,
  startHarness,
  temporaryDirectory,
} from '../../../services/stack/src/test/harness.ts';

const HOUR_MS = 3_600_000;
const STRATA = path.join(import.meta.dirname, '../../../services/cli/src/main.ts');

/** Two services with one clock, one on each database. */
interface Pair extends AsyncDisposable {
  readonly sqlite: Harness;
  readonly postgres: Harness;
  readonly pass: (hours: number) => void;
}

async function startPair(internet: Internet, url: string): Promise<Pair> {
  await using stack = new AsyncDisposableStack();
  let now = Date.parse('2026-03-01T00:00:00Z');
  const world = { now: () => new Date(now) };
  const sqlite = stack.use(await startHarness({ internet, world }));
  const postgres = stack.use(await startHarness({ internet, world, settings: { STRATA_DATABASE_URL: url } }));
  const owned = stack.move();
  return {
    sqlite,
    postgres,
    pass: (hours) => {
      now += hours * HOUR_MS;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What an answer says, but for who signed it when, and how long a probe took. */
function saidBy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(saidBy);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !VARYING.has(name));
  return Object.fromEntries(kept.map(([name, each]) => [name, saidBy(each)]));
}
const VARYING: ReadonlySet<string> = new Set([
  'provenance',
  'uptime_seconds',
  'started_at',
  'duration_ms',
  'request_id',
]);

describe('the stack service on PostgreSQL', { skip: binaries ? false : notice }, () => {
  let internet: Internet;
  let server: PostgresCluster;
  before(async () => {
    internet = await smallInternet();
    server = await postgresServer();
  });
  after(async () => {
    await internet?.[Symbol.asyncDispose]();
  });

  it('answers every question as it does on SQLite, before and after a restart', async () => {
    await using pair = await startPair(internet, await server.fresh());
    const { sqlite, postgres } = pair;
    const domains = internet.domains().slice(0, 25);
    const scanAll = async () => {
      for (const each of [sqlite, postgres]) {
        for (const domain of domains) await each.scan(domain);
        await each.running.service.app.pulse.now();
      }
    };
    await scanAll();
    const moved = moveDns(internet);
    if (!domains.includes(moved.domain)) domains.push(moved.domain);
    for (const hours of [24, 7, 24]) {
      pair.pass(hours);
      await scanAll();
    }
    const paths = [
      ...domains.slice(0, 5).map((domain) => `/stack/v1/domains/${domain}`),
      `/stack/v1/domains/${moved.domain}`,
      `/stack/v1/domains/${moved.domain}/changes`,
      '/stack/v1/search?q=a&limit=10',
      `/stack/v1/search?provider=${moved.to}`,
      '/stack/v1/stats',
      '/stack/v1/stats/providers',
      '/stack/v1/stats/migrations',
      '/stack/v1/alerts',
      '/stack/v1/anomalies',
      '/stack/v1/intelligence/security-scorecard',
      '/stack/v1/intelligence/market-share?category=dns',
      `/stack/v1/intelligence/supply-chain/${moved.to}`,
      `/stack/v1/intelligence/risk/${moved.domain}`,
      `/stack/v1/providers/${moved.to}`,
      '/stack/v1/security/export.csv',
      '/stack/v1/migrations/export.csv',
      '/stack/v1/feeds/stats',
      '/stack/v1/enrichment/advisories',
    ];
    const compare = async () => {
      for (const each of paths) {
        const [expected, found] = [await sqlite.get(each), await postgres.get(each)];
        assert.deepEqual([found.status, saidBy(found.body)], [expected.status, saidBy(expected.body)], each);
        if (each.includes('.csv')) assert.equal(found.text, expected.text, each);
        assert.equal(found.status, 200, each);
      }
    };
    await compare();
    const { body } = await postgres.get(`/stack/v1/domains/${moved.domain}/changes`);
    assert.match(JSON.stringify(body), new RegExp(`"to_id":"${moved.to}"`), 'the move is told');
    await postgres.restart();
    await compare();
  });

  it('goes on with what a SQLite store had, by the command that copies it', async () => {
    const world = { now: () => new Date('2026-03-01T00:00:00Z') };
    await using harness = await startHarness({ internet, world });
    const domains = internet.domains().slice(0, 10);
    await harness.scan(...domains);
    const key = await harness.newKey('free');
    const asked = `/stack/v1/domains/${domains[0]}`;
    const before = await harness.get(asked);
    const url = await server.fresh();
    const command = async (...args: string[]) => {
      const child = spawn(process.execPath, [STRATA, 'stack', ...args], {
        env: { ...process.env, STRATA_DATA: harness.directory, STRATA_DATABASE_URL: '' },
        stdio: 'pipe',
      });
      child.stdin.end(`${url}\n`);
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      return { out, err, code };
    };
    const busy = await command('migrate-log', '-');
    assert.equal(busy.code, 1);
    assert.match(busy.err, /^strata: .*is held by process/m);
    await harness.running[Symbol.asyncDispose]();
    const copied = await command('migrate-store', '-', '--json');
    assert.equal(copied.code, 0, copied.err);
    const tables = JSON.parse(copied.out) as readonly { readonly table: string; readonly rows: number }[];
    assert.equal(tables.find(({ table }) => table === 'domains')?.rows, domains.length);
    const again = await command('migrate-store', '-');
    assert.deepEqual([again.code, again.out], [1, '']);
    assert.match(again.err, /strata: There is a store in the database already/);
    await assert.rejects(harness.restart({ STRATA_DATABASE_URL: url }), { name: 'LogError', code: 'not-moved' });
    const ledger = await command('migrate-log', '-', '--json');
    assert.equal(ledger.code, 0, ledger.err);
    const { size, added } = JSON.parse(ledger.out) as { readonly size: number; readonly added: number };
    assert.ok(size > 0 && added === size);
    const after = await command('migrate-log', '-');
    assert.deepEqual([after.code, after.out], [1, '']);
    assert.match(after.err, /nothing is left to bring over: the ledger of .+ in a database since an earlier run/);
    await assert.rejects(harness.restart(), { name: 'LogError', code: 'moved' });
    await harness.restart({ STRATA_DATABASE_URL: url });
    assert.deepEqual(saidBy((await harness.get(asked)).body), saidBy(before.body));
    const verified = await verifyBody(before.text, { baseUrl: harness.base });
    assert.ok(verified.ok, `a receipt from before: ${JSON.stringify(verified.steps.at(-1))}`);
    assert.equal((await harness.ask(asked, { headers: { 'x-stack-key': key } })).status, 200, 'keys hold');
  });

  it('gives out receipts at two nodes that hold at either, in one ledger', async () => {
    const settings = { STRATA_DATABASE_URL: await server.fresh() };
    await using directory = await temporaryDirectory();
    await using one = await startHarness({ internet, settings });
    await assert.rejects(startHarness({ internet, settings }), { name: 'LogError', code: 'wrong-key' });
    cpSync(path.join(one.directory, 'keys'), path.join(directory.path, 'keys'), { recursive: true });
    await using two = await startHarness({ internet, settings: { ...settings, STRATA_DATA: directory.path } });
    const asked = [
      [one, '/health'],
      [two, '/health'],
      [one, '/nowhere'],
      [two, '/stack/v1/stats'],
    ] as const;
    for (const [node, each] of asked) {
      const { text: answer } = await node.get(each);
      for (const { base } of [one, two]) {
        const verified = await verifyBody(answer, { baseUrl: base });
        assert.ok(verified.ok, `${each}: ${JSON.stringify(verified.steps.at(-1))}`);
      }
    }
    const keySets = await Promise.all([one, two].map((node) => node.get('/.well-known/stack-keys.json')));
    assert.deepEqual(saidBy(keySets[0]?.body), saidBy(keySets[1]?.body));
  });

  it('says in a line that the server is not there, without the password', async () => {
    const env = { ...process.env, STRATA_DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/none' };
    const child = spawn(process.execPath, [STRATA, 'stack', 'keys', 'list'], { env, stdio: 'pipe' });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    assert.deepEqual([out, code], ['', 1]);
    assert.match(err, /^strata: The database server does not answer/);
    assert.doesNotMatch(err, /secret|^ +at /m);
  });
});
