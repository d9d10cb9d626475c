// The views of PostgreSQL for people with SQL tools of their own: the same figures as the API, in native types, by a user who may
// read nothing else.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import pg from 'pg';
import { exec, postgres } from '../../services/stack/src/store/test/backends.ts';
import { type Harness, moveDns, smallInternet, startHarness } from '../../services/stack/src/test/harness.ts';

const HOUR_MS = 3_600_000;
// biome-ignore lint/suspicious/noExplicitAny: bodies whose shape is what is compared
type Loose = any;

describe('the report views', { skip: postgres.skip }, () => {
  let internet: Internet;
  let harness: Harness;
  let analyst: pg.Client;
  let now = Date.parse('2026-03-01T00:00:00Z');
  let url = '';
  before(async () => {
    internet = await smallInternet();
    url = await postgres.fresh();
    const world = { now: () => new Date(now) };
    harness = await startHarness({ internet, settings: { STRATA_DATABASE_URL: url }, world });
    const domains = internet.domains().slice(0, 12);
    for (let round = 0; round < 2; round += 1) {
      for (const hours of [24, 7]) {
        now += hours * HOUR_MS;
        await harness.scan(...domains);
        await harness.running.updateLoop.run();
      }
      const { domain } = moveDns(internet);
      if (!domains.includes(domain)) domains.push(domain);
    }
    // Roles are those of the entire cluster; see docs/operations.md.
    const username = `analyst_${randomBytes(6).toString('hex')}`;
    await exec(
      url,
      `create role ${username} login password 'x';
       do $$ declare name text; begin
         for name in select table_name from information_schema.views where table_schema = 'public' and table_name like 'report\\_%' loop
           execute format('grant select on %I to ${username}', name);
         end loop;
       end $$`,
    );
    analyst = new pg.Client({ connectionString: Object.assign(new URL(url), { username }).href });
    await analyst.connect();
  });
  after(async () => {
    await analyst?.end();
    await harness?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });
  const ask = async (text: string, values: unknown[] = []) => (await analyst.query(text, values)).rows;
  const get = async (path: string): Promise<Loose> => (await harness.get(path)).body;

  it('count as the API does', async () => {
    const { domains, services, scans } = await get('/stack/v1/stats');
    const [counted] = await ask(`
      select (select count(*) from report_domains where last_scanned_at is not null)::int as domains,
             (select count(*) from report_services where is_current)::int as services,
             (select count(*) from report_scans)::int as scans`);
    assert.deepEqual(counted, { domains, services, scans: scans.total ?? scans });
    const { providers } = await get('/stack/v1/stats/providers');
    assert.ok(providers.length > 3);
    const rows = await ask(
      'select provider, count(distinct domain)::int as domains from report_services where is_current group by provider',
    );
    const byProvider = new Map(rows.map(({ provider, domains }) => [provider, domains]));
    for (const { id, provider_id, provider, domains } of providers)
      assert.equal(byProvider.get(provider_id ?? id ?? provider), domains, provider);
  });

  it('return the same data as the API, in native types', async () => {
    const [first] = await ask("select domain from report_changes where type = 'migrated' limit 1");
    const { domain } = first;
    const profile = await get(`/stack/v1/domains/${domain}`);
    const [row] = await ask('select * from report_domains where name = $1', [domain]);
    assert.ok(row.last_scanned_at instanceof Date && Array.isArray(row.measured) && typeof row.summary === 'object');
    const wanted = [profile.scanned_at, profile.state, profile.sector, profile.security.score];
    assert.deepEqual([row.last_scanned_at.toISOString(), row.state, row.sector, row.score], wanted);
    const services = await ask(
      `select category, valid_from as first_seen, last_seen, evidence from report_services
       where domain = $1 and is_current order by id`,
      [domain],
    );
    const lineOf = ({ category, first_seen, last_seen, evidence }: Loose) =>
      `${category} ${new Date(first_seen).toISOString()} ${new Date(last_seen).toISOString()} ${evidence.length > 0}`;
    assert.ok(services.every(({ first_seen, last_seen }) => first_seen instanceof Date && last_seen instanceof Date));
    assert.deepEqual(services.map(lineOf).sort(), profile.services.map(lineOf).sort());
    const { changes } = await get(`/stack/v1/domains/${domain}/changes`);
    const newestFirst = 'select id, at, type from report_changes where domain = $1 order by at desc, id desc';
    const changed = (await ask(newestFirst, [domain])).map((row) => ({ ...row, at: row.at.toISOString() }));
    const expected = changes.map(({ id, at, type }: Loose) => ({ id, at, type }));
    assert.deepEqual(changed, expected);
    const stream = await get('/stack/v1/stream/json?since=2020-01-01T00:00:00Z');
    const events = await ask('select published_at, providers, body from report_stream order by seq');
    const idsOf = (all: Loose[]) => all.map(({ id }) => id);
    assert.deepEqual(idsOf(events.map(({ body }) => body)), idsOf(stream.events));
    assert.ok(events.every(({ providers }) => Array.isArray(providers)));
  });

  it('can all be read, and nothing beside them', async () => {
    const schema = 'from information_schema';
    const views = await ask(`select table_name as name ${schema}.views where table_name like 'report\\_%'`);
    assert.ok(views.length >= 9);
    for (const { name } of views) await ask(`select * from ${name} limit 5`);
    for (const table of ['api_keys', 'domains', 'settings'])
      await assert.rejects(ask(`select * from ${table}`), /permission denied/);
    await assert.rejects(ask('delete from report_alerts'), /permission denied/);
    const columns = await ask(`select column_name as name ${schema}.columns where table_name = 'report_quotas'`);
    assert.ok(!columns.some(({ name }) => ['hash', 'origin'].includes(name)), 'no key is exposed');
  });

  it('are not broken by untrusted texts', async () => {
    const hostile = JSON.stringify({ text: 'a\0b\ud800c \\u0000 \u{1f600}' });
    const values = `(0, 'domain-changed', 'x.com', '${hostile}')`;
    await exec(url, `insert into events (at, kind, domain, payload) values ${values}`);
    const [{ payload } = assert.fail()] = await ask("select payload from report_events where domain = 'x.com'");
    assert.equal(payload.text, 'a\ufffdb\ufffdc \\ufffd \u{1f600}');
  });
});
