// Every number of an answer that a page links has its list: asked for with its filters, the list has exactly as many.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import { DAY_MS, liveThrough, type Row, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
before(async () => {
  timeline = await liveThrough({ domains: 150 });
});
after(() => timeline?.[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
const get = (path: string): Promise<any> => timeline.get(path);
/** How many domains a search finds. */
const found = async (query: Readonly<Record<string, string>>): Promise<number> =>
  (await get(`search?${new URLSearchParams({ ...query, limit: '1' })}`)).total;
const firstDay = (days: number) => (Math.floor(timeline.end / DAY_MS) - days + 1) * DAY_MS;

/** Providers that some domain left or joined, with how many did by hand. */
const movers = () =>
  timeline
    .sql(
      'SELECT DISTINCT p FROM (SELECT to_provider AS p FROM changes UNION SELECT from_provider FROM changes) WHERE p IS NOT NULL ORDER BY p',
    )
    .map(({ p }) => String(p));

describe('the list behind', () => {
  it('domains of a provider in a market are those that the search finds with medium confidence and more', async () => {
    let compared = 0;
    for (const category of CATEGORIES)
      for (const [state, isParkedIn] of [
        ['active', 'false'],
        ['live', 'true'],
      ] as const) {
        const path = `intelligence/market-share?category=${category}&include_parked=${isParkedIn}`;
        const [market] = (await get(path)).categories;
        for (const { provider_id: provider, domains } of market.providers.slice(0, 6)) {
          assert.equal(await found({ provider, category, min_confidence: 'medium', state }), domains, provider);
          compared += 1;
        }
      }
    assert.ok(compared > 40);
  });

  it('each standard, what it was measured in, and both together, in all sectors and in one', async () => {
    const card = await get('intelligence/security-scorecard');
    const flags: Readonly<Record<string, readonly [string, string]>> = {
      spf: ['spf_valid', 'spf_measured'],
      dmarc: ['dmarc_valid', 'dmarc_measured'],
      dmarc_reject: ['dmarc_reject', 'dmarc_measured'],
      dnssec: ['dnssec', 'dnssec_measured'],
      tls_trusted: ['tls_trusted', 'tls_measured'],
    };
    const { sector } = card.by_sector.toSorted((a: Row, b: Row) => Number(b.domains) - Number(a.domains))[0];
    for (const [of, more] of [
      [card, {}],
      [card.by_sector.find((row: Row) => row.sector === sector), { sector }],
    ] as const) {
      assert.equal(await found({ state: 'live', ...more }), of.domains);
      for (const [standard, [flag, measured]] of Object.entries(flags)) {
        const adoption = of.adoption[standard];
        assert.equal(await found({ state: 'live', flag, ...more }), adoption.domains, standard);
        assert.equal(await found({ state: 'live', flag: measured, ...more }), adoption.measured, measured);
        const missing = { state: 'live', flag: measured, without: flag, ...more };
        assert.equal(await found(missing), adoption.measured - adoption.domains, `without ${standard}`);
      }
    }
    assert.equal(await found({ state: 'live', flag: 'spf_valid,dmarc_valid' }), card.both.domains);
    assert.equal(await found({ state: 'live', flag: 'spf_measured,dmarc_measured' }), card.both.measured);
  });

  it('each grade, and all that were scored', async () => {
    const { grades, scored } = await get('intelligence/security-scorecard');
    for (const { grade, domains } of grades) assert.equal(await found({ state: 'live', grade }), domains, grade);
    assert.ok(grades.filter(({ domains }: Row) => Number(domains) > 0).length > 2);
    assert.equal(await found({ state: 'live', score_gte: '0' }), scored);
    assert.equal(await found({ state: 'live', grade: 'F', score_gte: '100' }), 0);
  });

  it('domains that two providers have in common', async () => {
    const { upstream } = await get('intelligence/supply-chain/cloudflare');
    assert.ok(upstream.length > 0);
    for (const { provider_id, domains } of upstream)
      assert.equal(await found({ provider: 'cloudflare', with: provider_id }), domains, provider_id);
  });

  it('migrations of a window, newest confirmation first, by provider, side and other end', async () => {
    const mover = movers().find(
      (id) =>
        timeline.value(
          "SELECT count(*) FROM changes WHERE type = 'migrated' AND from_provider = ? AND confirmed_at >= ?",
          id,
          firstDay(30),
        ) > 2,
    );
    assert.ok(mover);
    const provider: string = mover;
    const asked: readonly (readonly [string, number])[] = [
      ['days=1', firstDay(1)],
      ['days=7', firstDay(7)],
      ['days=30', firstDay(30)],
      ['hours=24', timeline.end - DAY_MS + 1],
      ['hours=720', timeline.end - 30 * DAY_MS + 1],
    ];
    for (const [window, since] of asked)
      for (const [filter, where] of [
        ['', '1'],
        ['&category=dns', "category = 'dns'"],
        [`&provider=${provider}`, `'${provider}' IN (from_provider, to_provider)`],
        [`&provider=${provider}&direction=out`, `from_provider = '${provider}'`],
        [`&provider=${provider}&direction=in`, `to_provider = '${provider}'`],
      ] as const) {
        const rows = timeline.sql(
          `SELECT id FROM changes WHERE type = 'migrated' AND ${where} AND confirmed_at >= ? ORDER BY confirmed_at DESC, id DESC`,
          since,
        );
        const path = `stats/migrations?${window}${filter}`;
        const { total, migrations, has_more, flows, flows_total } = await get(`${path}&limit=1000`);
        const ids = migrations.map(({ id }: Row) => Number(String(id).slice(3)));
        assert.deepEqual(
          ids,
          rows.map(({ id }) => id),
          path,
        );
        assert.deepEqual([total, has_more, flows_total], [rows.length, false, flows.length], path);
        const sum = flows.reduce((all: number, { domains }: Row) => all + Number(domains), 0);
        assert.equal(sum, total, path);
        assert.equal((await timeline.rows(`migrations/export.csv?${window}${filter}`)).length, total, path);
        const pages: number[] = [];
        for (let offset = 0; offset < total; offset += 3) {
          const page = await get(`${path}&limit=3&offset=${offset}`);
          assert.equal(page.has_more, offset + 3 < total);
          pages.push(...page.migrations.map(({ id }: Row) => Number(String(id).slice(3))));
        }
        assert.deepEqual(pages, ids);
      }
    const { flows } = await get(`stats/migrations?provider=${provider}&direction=out&days=30`);
    for (const { to_id, category, domains } of flows) {
      const path = `stats/migrations?provider=${provider}&direction=out&other=${to_id}&category=${category}&days=30`;
      assert.equal((await get(path)).migrations.length, domains, to_id);
    }
    const { migrations } = await get('stats');
    for (const [hours, n] of [
      [24, migrations.last_24h],
      [168, migrations.last_7d],
      [720, migrations.last_30d],
    ])
      assert.equal((await get(`stats/migrations?hours=${hours}&limit=1000`)).migrations.length, n, `${hours} hours`);
  });

  it('gains and losses: each domain once, with where it went, in pages and as CSV', async () => {
    let moved = 0;
    for (const id of movers()) {
      const { gained_30d, lost_30d, moves_30d } = await get(`providers/${id}`);
      for (const [direction, count, end] of [
        ['in', gained_30d, 'from_id'],
        ['out', lost_30d, 'to_id'],
      ] as const) {
        const path = `providers/${id}/customers?direction=${direction}`;
        const { total, customers } = await get(`${path}&limit=1000`);
        assert.deepEqual([total, customers.length], [count, count], path);
        for (const customer of customers) {
          const { state } = await get(`domains/${customer.domain}`);
          const used = (await get(`search?q=${customer.domain}&provider=${id}`)).results;
          if (direction === 'out' && state === 'active')
            assert.ok(!used.some(({ domain }: Row) => domain === customer.domain), customer.domain);
          const own = customer.moves.find(({ category }: Row) => category === customer.category);
          if (customer.type === 'migrated') assert.equal(own.provider_id, customer[end]);
          moved += customer.moves.length;
        }
        const rows = await timeline.rows(`providers/${id}/customers.csv?direction=${direction}`);
        assert.deepEqual(
          rows.map(([domain]) => domain),
          customers.map(({ domain }: Row) => domain),
        );
        const [second] = customers.slice(1);
        if (second) assert.equal((await get(`${path}&limit=1&offset=1`)).customers[0].id, second.id);
        const flows = await get(`stats/migrations?provider=${id}&direction=${direction}&days=30`);
        assert.equal(moves_30d[direction], flows.total, id);
      }
    }
    assert.ok(moved > 0);
  });

  it('changes of a domain, by category', async () => {
    const { domain } = (await get('stats/migrations?limit=1')).migrations[0];
    const { total, by_category } = await get(`domains/${domain}/changes`);
    let sum = 0;
    for (const { category, changes } of by_category) {
      const own = await get(`domains/${domain}/changes?category=${category}&limit=1000`);
      assert.deepEqual([own.total, own.changes.length], [changes, changes]);
      assert.ok(own.changes.every((change: Row) => change.category === category));
      sum += changes;
    }
    assert.equal(sum, total);
    const unchanged = CATEGORIES.find((each) => !by_category.some(({ category }: Row) => category === each));
    assert.equal((await get(`domains/${domain}/changes?category=${unchanged}`)).total, 0);
  });
});
