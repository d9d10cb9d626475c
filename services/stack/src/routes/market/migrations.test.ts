// Migrations, gains and losses under a clock that moves: windows, flows and lists, compared with the table of changes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dayOf } from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { DAY_MS, dateOf, type Row, sharedTimeline } from '../../test/timeline.ts';

const timeline = await sharedTimeline();
const { get } = timeline;
const firstDay = (days: number) => (dayOf(timeline.end) - days + 1) * DAY_MS;
const idsOf = (changes: readonly Row[]) => changes.map(({ id }) => Number(String(id).replace('ch_', '')));
const MIGRATED = "FROM changes WHERE type = 'migrated'";
/** The provider that most domains left within thirty days. */
const mover = () => {
  const query = `SELECT from_provider AS p ${MIGRATED} AND confirmed_at >= ? GROUP BY 1 ORDER BY count(*) DESC, 1`;
  return String(timeline.sql(query, firstDay(30))[0]?.p);
};

it('migrations are counted by when they were confirmed: within 24 hours, 7 and 30 × 24 hours, and as listed', async () => {
  const { end, value } = timeline;
  const { migrations, computed_at, scans, domains, domains_by_state } = await get('stats');
  assert.equal(computed_at, new Date(end).toISOString());
  const within = (days: number) =>
    value(`SELECT count(*) ${MIGRATED} AND confirmed_at > ? AND confirmed_at <= ?`, end - days * DAY_MS, end);
  assert.deepEqual(migrations, { last_24h: within(1), last_7d: within(7), last_30d: within(30) });
  assert.ok(migrations.last_24h < migrations.last_7d && migrations.last_7d < migrations.last_30d);
  for (const days of [1, 7, 30]) {
    const listed = (await get(`stats/migrations?hours=${24 * days}&limit=1000`)).migrations;
    assert.equal(listed.length, within(days), `${days} days`);
  }
  assert.ok(value(`SELECT count(*) ${MIGRATED} AND at / ${DAY_MS} < confirmed_at / ${DAY_MS}`) > 0, 'over midnight');

  const scanned = 'FROM domains WHERE last_scanned_at IS NOT NULL';
  assert.deepEqual([scans, domains], [value('SELECT count(*) FROM scans'), value(`SELECT count(*) ${scanned}`)]);
  const byState = timeline.sql(`SELECT state, count(*) AS n ${scanned} GROUP BY 1`).map(({ state, n }) => [state, n]);
  const reported = Object.entries(domains_by_state).filter(([, n]) => n !== 0);
  assert.deepEqual(reported.sort(), byState.sort());
});

it('queries find the domains that changed since a time, and those first measured on a day, as the tables have them', async () => {
  const found = async (query: string) =>
    (await get(`search?limit=1000&query=${query}`)).results.map(({ domain }: Row) => domain);
  const names = (rows: readonly Row[]) => rows.map(({ name }) => name);
  const changed = `SELECT DISTINCT name FROM changes JOIN domains ON domains.id = domain_id
    WHERE type <> 'reclassified' AND confirmed_at >= ? ORDER BY name`;
  for (const days of [1, 7, 30])
    assert.deepEqual(await found(`since:${days}d`), names(timeline.sql(changed, timeline.end - days * DAY_MS)));
  const first = `SELECT name, min(observed_at) AS day FROM scans JOIN domains ON domains.id = domain_id
    WHERE scans.state <> 'unmeasured' GROUP BY name ORDER BY name`;
  const byDay = Map.groupBy(timeline.sql(first), ({ day }) => dateOf(Number(day)));
  for (const [day, rows] of byDay) assert.deepEqual(await found(`first_seen:${day}`), names(rows));
});

it('migrations without a window: the list of any age by when they were observed, the flows of thirty days', async () => {
  for (const category of ['', 'dns', 'email']) {
    const from = category ? `${MIGRATED} AND category = '${category}'` : MIGRATED;
    const path = `stats/migrations?limit=1000${category ? `&category=${category}` : ''}`;
    const { total, window_days, migrations, flows } = await get(path);
    const all = timeline.sql(`SELECT id ${from} ORDER BY at DESC, id DESC`).map(({ id }) => id);
    assert.deepEqual([idsOf(migrations), window_days], [all, 30]);
    const columns = 'category, from_provider AS from_id, to_provider AS to_id, count(*) AS domains';
    const query = `SELECT ${columns} ${from} AND confirmed_at >= ? GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3`;
    const pairs = timeline.sql(query, firstDay(30));
    const reported = flows.map((flow: Row) => [flow.category, flow.from_id, flow.to_id, flow.domains]);
    const expected = pairs.slice(0, 100).map((row) => Object.values(row));
    assert.deepEqual(reported, expected);
    const sum = pairs.reduce((domains, pair) => domains + Number(pair.domains), 0);
    assert.equal(total, sum);
    assert.ok(total < all.length, 'the oldest are in the list and in no window');
  }
});

it('migrations of the domains of a query: in the list to its end, in totals, flows and CSV', async () => {
  const all = (await get('stats/migrations?limit=1000&days=30')).migrations as Row[];
  const byTld = Map.groupBy(all, ({ domain }) => String(domain).replace(/.*\./, ''));
  const isSome = (rows: readonly Row[]) => rows.length > 1 && rows.length < all.length;
  const [tld, own] = [...byTld].find(([, rows]) => isSome(rows)) ?? assert.fail();
  const of = `days=30&query=tld:${tld}`;
  const paged: Row[] = [];
  for (let cursor = ''; ; ) {
    const page = await get(`stats/migrations?${of}&limit=2${cursor && `&cursor=${cursor}`}`);
    assert.equal(page.total, own.length);
    const sum = page.flows.reduce((sum: number, { domains }: Row) => sum + Number(domains), 0);
    assert.equal(sum, own.length);
    paged.push(...page.migrations);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  assert.deepEqual(paged, own);
  const rows = await timeline.rows(`migrations/export.csv?${of}`);
  const [ids, expected] = [rows.map(([id]) => id), own.map(({ id }) => id)];
  assert.deepEqual(ids, expected);
});

it('migrations of a window: by provider, side and category, newest confirmation first, in pages and as CSV', async () => {
  const provider = mover();
  for (const [window, since, windowDays] of [
    ...[1, 7, 30].map((days) => [`days=${days}`, firstDay(days), days] as const),
    ...[1, 30].map((days) => [`hours=${days * 24}`, timeline.end - days * DAY_MS + 1, days] as const),
  ] as const)
    for (const [filter, where] of [
      ['', '1'],
      ['&category=dns', "category = 'dns'"],
      [`&provider=${provider}`, `'${provider}' IN (from_provider, to_provider)`],
      [`&provider=${provider}&direction=out`, `from_provider = '${provider}'`],
      [`&provider=${provider}&direction=in`, `to_provider = '${provider}'`],
    ] as const) {
      const query = `SELECT id ${MIGRATED} AND ${where} AND confirmed_at >= ? ORDER BY confirmed_at DESC, id DESC`;
      const rows = timeline.sql(query, since).map(({ id }) => id);
      const path = `stats/migrations?${window}${filter}`;
      const { migrations, flows, ...page } = await get(`${path}&limit=1000`);
      const sum = flows.reduce((all: number, { domains }: Row) => all + Number(domains), 0);
      assert.deepEqual([idsOf(migrations), page.total, sum], [rows, rows.length, rows.length], path);
      assert.deepEqual([page.has_more, page.flows_total, page.window_days], [false, flows.length, windowDays], path);
      assert.equal((await timeline.rows(`migrations/export.csv?${window}${filter}`)).length, rows.length, path);
      const second = await get(`${path}&limit=3&offset=2`);
      assert.deepEqual([idsOf(second.migrations), second.has_more], [rows.slice(2, 5), rows.length > 5], path);
      if (rows.length > 2) assert.equal((await get(`${path}&limit=${rows.length - 1}`)).has_more, true);
    }
  const { flows } = await get(`stats/migrations?provider=${provider}&direction=out&days=30`);
  assert.ok(flows.length > 0);
  for (const { to_id, category, domains } of flows) {
    const path = `stats/migrations?provider=${provider}&direction=out&other=${to_id}&category=${category}&days=30`;
    assert.equal((await get(path)).migrations.length, domains, to_id);
  }
});

it('migrations as CSV: each side, newest first, the cells as the change has them', async () => {
  const provider = mover();
  const { names } = timeline.service.running.app;
  const timeOf = (value: unknown) => new Date(Number(value)).toISOString();
  for (const [direction, where] of [
    ['', `'${provider}' IN (from_provider, to_provider)`],
    ['&direction=in', `to_provider = '${provider}'`],
    ['&direction=out', `from_provider = '${provider}'`],
  ] as const) {
    const changes = 'SELECT c.*, d.name FROM changes c JOIN domains d ON d.id = c.domain_id';
    const rows = timeline.sql(`${changes} WHERE type = 'migrated' AND ${where} ORDER BY at DESC, c.id DESC`);
    const cells = rows.map((row) => {
      const sides = [row.from_provider, row.to_provider];
      const times = [timeOf(row.at), timeOf(row.confirmed_at)];
      const named = [row.name, row.category, ...sides.map((id) => names.nameOf(String(id))), ...sides];
      return [`ch_${String(row.id).padStart(10, '0')}`, ...times, ...named, row.confidence, row.importance];
    });
    assert.deepEqual(await timeline.rows(`migrations/export.csv?provider=${provider}${direction}`), cells);
  }
});

it('gains and losses of a provider are listed, each domain once with where it went, in pages and as CSV', async () => {
  const { index = assert.fail(), app } = timeline.service.running;
  const { names, store } = app;
  const totals = { in: 0, out: 0, moves: 0 };
  const sides = 'SELECT to_provider AS p FROM changes UNION SELECT from_provider FROM changes';
  const movers = timeline.sql(`SELECT p FROM (${sides}) WHERE p IS NOT NULL ORDER BY p`).map(({ p }) => String(p));
  for (const id of movers.filter((_, i) => i % 3 === 0)) {
    const today = dayOf(timeline.end);
    const { gained, lost } = index.history.movement({ provider: id }, today - 29, today);
    const page = await get(`providers/${id}`);
    assert.deepEqual([page.gained_30d, page.lost_30d, page.market.change_30d], [gained, lost, gained - lost]);
    for (const [direction, count, end] of [['in', gained, 'from_id'] as const, ['out', lost, 'to_id'] as const]) {
      const path = `providers/${id}/customers?direction=${direction}`;
      const { total, customers, since } = await get(`${path}&limit=1000`);
      assert.deepEqual([total, customers.length, since], [count, count, dateOf(firstDay(30))], path);
      for (const { domain, type, category, moves, ...customer } of customers) {
        const { services, state } = (await store.domains.profile(domain)) ?? assert.fail();
        if (direction === 'out' && state === 'active')
          assert.ok(!services.some(({ provider }) => provider === id), domain);
        const own = moves.find((move: Row) => move.category === category);
        if (type === 'migrated') assert.equal(own.provider_id, customer[end]);
        totals.moves += moves.length;
      }
      const cells = customers.map((each: Row & { moves: Row[] }) => {
        const moves = each.moves.map((move) => `${move.category}: ${names.nameOf(String(move.provider_id))}`);
        return [each.domain, each.confirmed_at, each.at, moves.join('; '), each.confidence];
      });
      assert.deepEqual(await timeline.rows(`providers/${id}/customers.csv?direction=${direction}`), cells);
      if (count > 1) assert.equal((await get(`${path}&limit=1&offset=1`)).customers[0].id, customers[1].id);
      assert.equal((await get(`${path}&days=1`)).total <= count, true);
      const flows = await get(`stats/migrations?provider=${id}&direction=${direction}&days=30`);
      assert.equal(page.moves_30d[direction], flows.total, id);
      totals[direction] += count;
    }
    assert.deepEqual(page.flows_30d, (await get(`stats/migrations?provider=${id}`)).flows.slice(0, 50));
  }
  assert.ok(!Object.values(totals).includes(0), JSON.stringify(totals));
});

it('the history of a domain is counted and listed by category', async () => {
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

it('windows move on while nothing happens, also over a restart', async () => {
  const before = await get('stats');
  await timeline.sleep(3);
  try {
    const after = await get('stats');
    assert.equal(after.migrations.last_24h, 0);
    assert.equal(after.migrations.last_7d, before.migrations.last_24h, 'those of day 45 are older than a week now');
    assert.ok(after.migrations.last_30d < before.migrations.last_30d);
    assert.deepEqual([after.domains, after.services, after.scans], [before.domains, before.services, before.scans]);
    const last = (await get('intelligence/adoption/cloudflare')).curve.at(-1);
    assert.partialDeepStrictEqual(last, { date: dateOf(timeline.end + 3 * DAY_MS), added: 0, removed: 0 });
  } finally {
    await timeline.sleep(-3);
  }
});
