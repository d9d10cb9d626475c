// Migrations, gains and losses under a clock that moves: windows, flows and lists, compared with the table of changes.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { dayOf } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { DAY_MS, type Row, sharedTimeline, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
async function open(): Promise<void> {
  timeline = await sharedTimeline();
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
const get = (path: string): Promise<any> => timeline.get(path);
const firstDay = (days: number) => (dayOf(timeline.end) - days + 1) * DAY_MS;
const idsOf = (changes: readonly Row[]) => changes.map(({ id }) => Number(String(id).replace('ch_', '')));
const MIGRATED = "FROM changes WHERE type = 'migrated'";
/** Providers that some domain left or joined. */
const movers = () =>
  timeline
    .sql(
      'SELECT p FROM (SELECT to_provider AS p FROM changes UNION SELECT from_provider FROM changes) WHERE p IS NOT NULL ORDER BY p',
    )
    .map(({ p }) => String(p));
/** The one that most domains left within thirty days. */
const mover = () =>
  String(
    timeline.sql(
      `SELECT from_provider AS p ${MIGRATED} AND confirmed_at >= ? GROUP BY 1 ORDER BY count(*) DESC, 1`,
      firstDay(30),
    )[0]?.p,
  );

describe('migrations', () => {
  before(open);

  it('lie in each window, some observed on one day and confirmed on the next', () => {
    const days = timeline.sql(
      `SELECT confirmed_at / ${DAY_MS} AS day, count(*) AS n ${MIGRATED} GROUP BY 1 ORDER BY 1`,
    );
    assert.deepEqual(
      days.map(({ day }) => Number(day) - dayOf(timeline.begin)),
      [5, 20, 45, 50],
    );
    assert.ok(days.every(({ n }) => Number(n) >= 2));
    assert.ok(timeline.value(`SELECT count(*) ${MIGRATED} AND at / ${DAY_MS} < confirmed_at / ${DAY_MS}`) > 0);
  });

  it('are counted by when they were confirmed: within 24 hours, 7 and 30 × 24 hours, and as listed', async () => {
    const { migrations, computed_at, scans, domains, domains_by_state } = await get('stats');
    assert.equal(computed_at, new Date(timeline.end).toISOString());
    const within = (days: number) =>
      timeline.value(
        `SELECT count(*) ${MIGRATED} AND confirmed_at > ? AND confirmed_at <= ?`,
        timeline.end - days * DAY_MS,
        timeline.end,
      );
    assert.deepEqual(migrations, { last_24h: within(1), last_7d: within(7), last_30d: within(30) });
    assert.ok(migrations.last_24h < migrations.last_7d && migrations.last_7d < migrations.last_30d);
    for (const [hours, n] of [
      [24, migrations.last_24h],
      [168, migrations.last_7d],
      [720, migrations.last_30d],
    ])
      assert.equal((await get(`stats/migrations?hours=${hours}&limit=1000`)).migrations.length, n, `${hours} hours`);

    assert.equal(scans, timeline.value('SELECT count(*) FROM scans'));
    assert.equal(domains, timeline.value('SELECT count(*) FROM domains WHERE last_scanned_at IS NOT NULL'));
    const states = timeline.sql(
      'SELECT state, count(*) AS n FROM domains WHERE last_scanned_at IS NOT NULL GROUP BY 1',
    );
    assert.deepEqual(
      Object.entries(domains_by_state)
        .filter(([, n]) => n !== 0)
        .sort(),
      states.map(({ state, n }) => [state, n]).sort(),
    );
  });

  it('without a window: the list of any age by when they were observed, the flows of thirty days', async () => {
    for (const category of ['', 'dns', 'email']) {
      const only = category ? ` AND category = '${category}'` : '';
      const path = `stats/migrations?limit=1000${category ? `&category=${category}` : ''}`;
      const { total, window_days, migrations, flows } = await get(path);
      const all = timeline.sql(`SELECT id ${MIGRATED}${only} ORDER BY at DESC, id DESC`);
      assert.deepEqual(
        idsOf(migrations),
        all.map(({ id }) => id),
      );
      const pairs = timeline.sql(
        `SELECT category, from_provider AS from_id, to_provider AS to_id, count(*) AS domains ${MIGRATED}${only} AND confirmed_at >= ? GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3`,
        firstDay(30),
      );
      const reported = flows.map((flow: Row) => [flow.category, flow.from_id, flow.to_id, flow.domains]);
      assert.deepEqual(
        reported,
        pairs.slice(0, 100).map((row) => Object.values(row)),
      );
      assert.equal(window_days, 30);
      assert.equal(
        total,
        pairs.reduce((sum, pair) => sum + Number(pair.domains), 0),
      );
      assert.ok(total < all.length, 'the oldest are in the list and in no window');
    }
  });

  it('of a window: by provider, side and category, newest confirmation first, in pages and as CSV', async () => {
    const provider = mover();
    for (const [window, since, windowDays] of [
      ['days=1', firstDay(1), 1],
      ['days=7', firstDay(7), 7],
      ['days=30', firstDay(30), 30],
      ['hours=24', timeline.end - DAY_MS + 1, 1],
      ['hours=720', timeline.end - 30 * DAY_MS + 1, 30],
    ] as const)
      for (const [filter, where] of [
        ['', '1'],
        ['&category=dns', "category = 'dns'"],
        [`&provider=${provider}`, `'${provider}' IN (from_provider, to_provider)`],
        [`&provider=${provider}&direction=out`, `from_provider = '${provider}'`],
        [`&provider=${provider}&direction=in`, `to_provider = '${provider}'`],
      ] as const) {
        const rows = timeline
          .sql(`SELECT id ${MIGRATED} AND ${where} AND confirmed_at >= ? ORDER BY confirmed_at DESC, id DESC`, since)
          .map(({ id }) => id);
        const path = `stats/migrations?${window}${filter}`;
        const { total, migrations, has_more, window_days, flows, flows_total } = await get(`${path}&limit=1000`);
        assert.deepEqual(idsOf(migrations), rows, path);
        const sum = flows.reduce((all: number, { domains }: Row) => all + Number(domains), 0);
        assert.deepEqual(
          [total, sum, has_more, flows_total, window_days],
          [rows.length, rows.length, false, flows.length, windowDays],
          path,
        );
        assert.equal((await timeline.rows(`migrations/export.csv?${window}${filter}`)).length, total, path);
        const page = await get(`${path}&limit=3&offset=2`);
        assert.deepEqual([idsOf(page.migrations), page.has_more], [rows.slice(2, 5), rows.length > 5], path);
        if (rows.length > 2) assert.equal((await get(`${path}&limit=${rows.length - 1}`)).has_more, true);
      }
    const { flows } = await get(`stats/migrations?provider=${provider}&direction=out&days=30`);
    assert.ok(flows.length > 0);
    for (const { to_id, category, domains } of flows) {
      const path = `stats/migrations?provider=${provider}&direction=out&other=${to_id}&category=${category}&days=30`;
      assert.equal((await get(path)).migrations.length, domains, to_id);
    }
  });

  it('as CSV: each side, newest first, the cells as the change has them', async () => {
    const provider = mover();
    for (const [direction, where] of [
      ['', `'${provider}' IN (from_provider, to_provider)`],
      ['&direction=in', `to_provider = '${provider}'`],
      ['&direction=out', `from_provider = '${provider}'`],
    ] as const) {
      const rows = timeline.sql(
        `SELECT c.*, d.name FROM changes c JOIN domains d ON d.id = c.domain_id WHERE type = 'migrated' AND ${where} ORDER BY at DESC, c.id DESC`,
      );
      const { names } = timeline.service.running.service.app;
      const cells = rows.map((row) => [
        `ch_${String(row.id).padStart(10, '0')}`,
        new Date(Number(row.at)).toISOString(),
        new Date(Number(row.confirmed_at)).toISOString(),
        ...[row.name, row.category],
        ...[names.nameOf(String(row.from_provider)), names.nameOf(String(row.to_provider))],
        ...[row.from_provider, row.to_provider, row.confidence, row.importance],
      ]);
      assert.deepEqual(await timeline.rows(`migrations/export.csv?provider=${provider}${direction}`), cells);
    }
  });
});

describe('gains and losses of a provider', () => {
  before(open);

  it('are listed, each domain once with where it went, in pages and as CSV', async () => {
    const { index, names } = timeline.service.running.service.app;
    const totals = { in: 0, out: 0, moves: 0 };
    for (const id of movers().filter((_, i) => i % 3 === 0)) {
      const today = dayOf(timeline.end);
      const { gained, lost } = index.history.movement({ provider: id }, today - 29, today);
      const page = await get(`providers/${id}`);
      assert.deepEqual([page.gained_30d, page.lost_30d, page.market.change_30d], [gained, lost, gained - lost]);
      for (const [direction, count, end] of [
        ['in', gained, 'from_id'],
        ['out', lost, 'to_id'],
      ] as const) {
        const path = `providers/${id}/customers?direction=${direction}`;
        const { total, customers, since } = await get(`${path}&limit=1000`);
        assert.deepEqual([total, customers.length], [count, count], path);
        assert.equal(since, new Date(firstDay(30)).toISOString().slice(0, 10));
        for (const { domain, type, category, moves, ...customer } of customers) {
          const { services, state } =
            (await timeline.service.running.service.app.store.domain(domain)) ?? assert.fail();
          if (direction === 'out' && state === 'active')
            assert.ok(!services.some(({ provider }) => provider === id), domain);
          const own = moves.find((move: Row) => move.category === category);
          if (type === 'migrated') assert.equal(own.provider_id, customer[end]);
          totals.moves += moves.length;
        }
        const cells = customers.map((each: Row & { moves: Row[] }) => [
          ...[each.domain, each.confirmed_at, each.at],
          each.moves.map((move) => `${move.category}: ${names.nameOf(String(move.provider_id))}`).join('; '),
          each.confidence,
        ]);
        assert.deepEqual(await timeline.rows(`providers/${id}/customers.csv?direction=${direction}`), cells);
        if (count > 1) assert.equal((await get(`${path}&limit=1&offset=1`)).customers[0].id, customers[1].id);
        assert.equal((await get(`${path}&days=1`)).total <= count, true);
        const flows = await get(`stats/migrations?provider=${id}&direction=${direction}&days=30`);
        assert.equal(page.moves_30d[direction], flows.total, id);
        totals[direction] += count;
      }
      const { flows } = await get(`stats/migrations?provider=${id}`);
      assert.deepEqual(page.flows_30d, flows.slice(0, 50));
    }
    assert.ok(
      Object.values(totals).every((count) => count > 0),
      JSON.stringify(totals),
    );
  });
});

describe('the history of a domain', () => {
  before(open);

  it('is counted and listed by category', async () => {
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

describe('windows', () => {
  before(open);

  it('move on while nothing happens, also over a restart', async () => {
    const before = await get('stats');
    await timeline.sleep(3);
    try {
      const after = await get('stats');
      assert.equal(after.migrations.last_24h, 0);
      assert.equal(after.migrations.last_7d, before.migrations.last_24h, 'those of day 45 are older than a week now');
      assert.ok(after.migrations.last_30d < before.migrations.last_30d);
      assert.deepEqual([after.domains, after.services, after.scans], [before.domains, before.services, before.scans]);
      const { curve } = await get('intelligence/adoption/cloudflare');
      assert.equal(curve.at(-1).date, new Date(timeline.end + 3 * DAY_MS).toISOString().slice(0, 10));
      assert.deepEqual([curve.at(-1).added, curve.at(-1).removed], [0, 0]);
    } finally {
      await timeline.sleep(-3);
    }
  });
});
