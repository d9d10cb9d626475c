// What counts by time, under a clock that moves: windows, flows, gains, curves, each worked out again from the change table.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS, liveThrough, type Row, type Timeline } from '../test/timeline.ts';

let timeline: Timeline;
before(async () => {
  timeline = await liveThrough({ domains: 150 });
});
after(() => timeline?.[Symbol.asyncDispose]());

const dayOf = (at: number) => Math.floor(at / DAY_MS);
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
/** Providers that changed hands at all, and one that never did. */
const movers = () =>
  timeline
    .sql(
      'SELECT p FROM (SELECT to_provider AS p FROM changes UNION SELECT from_provider FROM changes) WHERE p IS NOT NULL ORDER BY p',
    )
    .map(({ p }) => String(p));

interface Use {
  readonly domain: number;
  readonly day: number;
  /** The scan that confirmed it: what one scan says is one step. */
  readonly scan: number;
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
}

/** The providers that each domain used before and after each scan that changed any, walked back from what it uses now. */
function uses(): Use[] {
  const steps: Use[] = [];
  for (const { id } of timeline.sql('SELECT id FROM domains')) {
    const services = timeline.sql(
      "SELECT category, provider FROM services WHERE domain_id = ? AND valid_to IS NULL AND status <> 'pending'",
      Number(id),
    );
    const held = new Set(services.map(({ category, provider }) => `${category} ${provider}`));
    const providers = () => new Set([...held].map((key) => key.split(' ')[1] ?? ''));
    const scans = Map.groupBy(
      timeline.sql('SELECT * FROM changes WHERE domain_id = ? ORDER BY id DESC', Number(id)),
      (change) => Number(change.scan_id),
    );
    for (const [scan, changes] of scans) {
      const after = providers();
      for (const { category, from_provider, to_provider } of changes) {
        if (to_provider !== null) held.delete(`${category} ${to_provider}`);
        if (from_provider !== null) held.add(`${category} ${from_provider}`);
      }
      const day = dayOf(Number(changes[0]?.confirmed_at));
      steps.push({ domain: Number(id), day, scan, before: providers(), after });
    }
  }
  return steps;
}

describe('numbers that go by time', () => {
  it('have something to count in each window', () => {
    const days = timeline.sql(
      `SELECT confirmed_at / ${DAY_MS} AS day, count(*) AS n FROM changes WHERE type = 'migrated' GROUP BY 1 ORDER BY 1`,
    );
    const first = dayOf(timeline.begin);
    assert.deepEqual(
      days.map(({ day }) => Number(day) - first),
      [5, 20, 45, 50],
    );
    for (const { n } of days) assert.ok(Number(n) >= 5, JSON.stringify(days));
    assert.ok(
      timeline.value(
        "SELECT count(*) FROM changes WHERE type = 'migrated' AND at / 86400000 < confirmed_at / 86400000",
      ) > 0,
      'some were seen on one day and confirmed on the next',
    );
  });

  it('stats: migrations of 24 hours, 7 and 30 × 24 hours, by when they were confirmed', async () => {
    const { migrations, computed_at } = await timeline.get('stats');
    assert.equal(computed_at, new Date(timeline.end).toISOString());
    const within = (days: number) =>
      timeline.value(
        "SELECT count(*) FROM changes WHERE type = 'migrated' AND confirmed_at > ? AND confirmed_at <= ?",
        timeline.end - days * DAY_MS,
        timeline.end,
      );
    assert.deepEqual(migrations, { last_24h: within(1), last_7d: within(7), last_30d: within(30) });
    assert.ok(migrations.last_24h < migrations.last_7d && migrations.last_7d < migrations.last_30d);
  });

  it('stats/migrations: the list of any age, its total and flows of thirty days', async () => {
    const since = (dayOf(timeline.end) - 29) * DAY_MS;
    for (const category of ['', 'dns', 'email', 'hosting']) {
      const only = category ? ` AND category = '${category}'` : '';
      const query = category ? `&category=${category}` : '';
      const { total, window_days, migrations, flows } = await timeline.get(`stats/migrations?limit=1000${query}`);
      const all = timeline.sql(`SELECT id FROM changes WHERE type = 'migrated'${only} ORDER BY at DESC, id DESC`);
      assert.deepEqual(
        migrations.map(({ id }: Row) => Number(String(id).replace('ch_', ''))),
        all.map(({ id }) => id),
      );
      const pairs = timeline.sql(
        `SELECT category, from_provider AS f, to_provider AS t, count(*) AS n FROM changes WHERE type = 'migrated'${only} AND confirmed_at >= ? GROUP BY 1, 2, 3 ORDER BY n DESC, 1, 2, 3`,
        since,
      );
      assert.equal(window_days, 30);
      assert.equal(
        total,
        pairs.reduce((sum, { n }) => sum + Number(n), 0),
        category,
      );
      assert.ok(total < all.length, 'the oldest are in the list and in no window');
      assert.deepEqual(
        flows.map((flow: Row) => [flow.category, flow.from_id, flow.to_id, flow.domains]),
        pairs.slice(0, 100).map(({ category, f, t, n }) => [category, f, t, n]),
      );
    }
  });

  it('gains and losses of thirty days, as the leaders and the pages of providers tell them', async () => {
    const since = dayOf(timeline.end) - 29;
    const recent = uses().filter(({ day }) => day >= since);
    const gained = (id: string) => recent.filter(({ before, after }) => !before.has(id) && after.has(id)).length;
    const lost = (id: string) => recent.filter(({ before, after }) => before.has(id) && !after.has(id)).length;
    const ids = movers();
    assert.ok(ids.some((id) => gained(id) > 0) && ids.some((id) => lost(id) > 0));
    for (const id of ids) {
      const page = await timeline.get(`providers/${id}`);
      assert.deepEqual([page.gained_30d, page.lost_30d], [gained(id), lost(id)], id);
      assert.equal(page.market.change_30d, gained(id) - lost(id), id);
      const flows = timeline.sql(
        "SELECT category, from_provider AS f, to_provider AS t, count(*) AS n FROM changes WHERE type = 'migrated' AND confirmed_at >= ?1 AND (from_provider = ?2 OR to_provider = ?2) GROUP BY 1, 2, 3 ORDER BY n DESC, 1, 2, 3 LIMIT 50",
        since * DAY_MS,
        id,
      );
      assert.deepEqual(
        page.flows_30d.map((flow: Row) => [flow.category, flow.from_id, flow.to_id, flow.domains]),
        flows.map(({ category, f, t, n }) => [category, f, t, n]),
        id,
      );
    }
    const { providers } = await timeline.get('stats/providers');
    for (const { provider_id, change_30d } of providers)
      assert.equal(change_30d, gained(provider_id) - lost(provider_id), provider_id);
  });

  it('adoption: every day of the curve, from a walk over the history of every domain', async () => {
    const steps = uses();
    const [first, last] = [dayOf(timeline.begin), dayOf(timeline.end)];
    const domains = timeline.sql('SELECT id FROM domains').map(({ id }) => Number(id));
    const byDomain = Map.groupBy(steps, ({ domain }) => domain);
    const now = new Map(
      domains.map((id) => [
        id,
        new Set(
          timeline
            .sql("SELECT provider FROM services WHERE domain_id = ? AND valid_to IS NULL AND status <> 'pending'", id)
            .map(({ provider }) => String(provider)),
        ),
      ]),
    );
    /** What a domain used at the end of a day: after its last step until then, or else before its first one. */
    const usedOn = (domain: number, day: number) => {
      const own = (byDomain.get(domain) ?? []).toSorted((a, b) => a.scan - b.scan);
      return own.findLast((step) => step.day <= day)?.after ?? own[0]?.before ?? now.get(domain);
    };
    const days = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const scanned = new Set(
      timeline
        .sql(`SELECT DISTINCT observed_at / ${DAY_MS} AS day FROM scans WHERE state <> 'unmeasured'`)
        .map(({ day }) => Number(day)),
    );
    assert.ok(scanned.size > 2 && days.some((day) => !scanned.has(day)), 'there are days on which nobody looked');
    const used = new Map(days.map((day) => [day, domains.map((domain) => usedOn(domain, day))]));
    for (const id of movers().filter((_, i) => i % 4 === 0)) {
      const { curve, domains: count, share } = await timeline.get(`intelligence/adoption/${id}`);
      assert.deepEqual(
        curve.map(({ date }: Row) => date),
        days.map(dateOf),
      );
      for (const [i, day] of days.entries()) {
        const today = steps.filter((step) => step.day === day);
        assert.deepEqual(
          curve[i],
          {
            date: dateOf(day),
            domains: used.get(day)?.filter((providers) => providers?.has(id)).length,
            added: today.filter(({ before, after }) => !before.has(id) && after.has(id)).length,
            removed: today.filter(({ before, after }) => before.has(id) && !after.has(id)).length,
            measured: scanned.has(day),
          },
          id,
        );
      }
      assert.equal(count, curve.at(-1).domains);
      assert.equal(share, count / domains.length);
    }
  });

  it('the export of migrations: each side, newest first, the cells as the change has them', async () => {
    for (const id of movers().slice(0, 20)) {
      for (const [direction, where] of [
        ['', '(to_provider = ?1 OR from_provider = ?1)'],
        ['&direction=in', 'to_provider = ?1'],
        ['&direction=out', 'from_provider = ?1'],
      ] as const) {
        const rows = timeline.sql(
          `SELECT c.*, d.name FROM changes c JOIN domains d ON d.id = c.domain_id WHERE type = 'migrated' AND ${where} ORDER BY at DESC, c.id DESC`,
          id,
        );
        assert.deepEqual(
          (await timeline.rows(`migrations/export.csv?provider=${id}${direction}`)).map(
            ([, at, confirmed, domain, category, , , from, to, confidence, importance]) =>
              [at, confirmed, domain, category, from, to, confidence, importance].join(),
          ),
          rows.map((row) =>
            [
              new Date(Number(row.at)).toISOString(),
              new Date(Number(row.confirmed_at)).toISOString(),
              row.name,
              row.category,
              row.from_provider,
              row.to_provider,
              row.confidence,
              row.importance,
            ].join(),
          ),
        );
      }
    }
  });

  it('scans and levels do not go by time at all', async () => {
    const stats = await timeline.get('stats');
    assert.equal(stats.scans, timeline.value('SELECT count(*) FROM scans'));
    assert.equal(stats.domains, timeline.value('SELECT count(*) FROM domains WHERE last_scanned_at IS NOT NULL'));
    assert.deepEqual(
      Object.entries(stats.domains_by_state)
        .filter(([, n]) => n !== 0)
        .sort(),
      timeline
        .sql('SELECT state, count(*) AS n FROM domains WHERE last_scanned_at IS NOT NULL GROUP BY 1 ORDER BY 1')
        .map(({ state, n }) => [state, n]),
    );
  });

  it('windows move on while nothing happens, also over a restart', async () => {
    const before = await timeline.get('stats');
    await timeline.sleep(3);
    const after = await timeline.get('stats');
    assert.equal(after.migrations.last_24h, 0);
    assert.equal(after.migrations.last_7d, before.migrations.last_24h, 'those of day 45 are older than a week now');
    assert.ok(after.migrations.last_30d < before.migrations.last_30d);
    assert.deepEqual([after.domains, after.services, after.scans], [before.domains, before.services, before.scans]);
    const { curve } = await timeline.get('intelligence/adoption/cloudflare');
    assert.equal(curve.at(-1).date, dateOf(dayOf(timeline.end) + 3));
    assert.deepEqual([curve.at(-1).added, curve.at(-1).removed], [0, 0]);
  });
});
