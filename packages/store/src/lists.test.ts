import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type StoredAlert, type StoredAnomaly } from './index.ts';
import { ListTable } from './lists.ts';
import { exec, kept, onEach, type Place } from './test/places.ts';
import { plansOf } from './test/plans.ts';

const DAY = 86_400_000;
const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** A store with changes of every kind, many of them at one moment, and what they should read as. */
async function filled(place: Place) {
  const url = await place.fresh();
  await (await openStore(url))[Symbol.asyncDispose]();
  const providers = ['x', 'y', 'z'];
  const changes = Array.from({ length: 400 }, (_, i) => ({
    domain: 1 + (i % 2),
    at: Math.floor((i * 7) % 40),
    // What was seen first need not be confirmed first.
    confirmedAt: 40 + Math.floor((i * 11) % 37),
    category: i % 3 === 0 ? 'email' : 'dns',
    type: i % 5 === 0 ? 'added' : 'migrated',
    from: i % 5 === 0 ? null : (providers[i % 3] as string),
    to: providers[(i + 1 + (i % 2)) % 3] as string,
  }));
  const values = changes.map(({ domain, at, confirmedAt, category, type, from, to }) => {
    const left = from === null ? 'null' : `'${from}'`;
    return `(${domain}, 1, ${at}, ${confirmedAt}, '${category}', 'dns', '${type}', ${left}, '${to}', 'high', 'high')`;
  });
  await exec(
    url,
    `INSERT INTO domains (id, name, source, created_at, next_due_at)
       VALUES (1, 'a.com', 't', 0, 0), (2, 'b.com', 't', 0, 0);
     INSERT INTO scans (id, domain_id, started_at, finished_at, state, rulebook, services, unmeasured)
       VALUES (1, 1, 0, 0, 'active', '1', 0, '');
     INSERT INTO changes (domain_id, scan_id, at, confirmed_at, category, role, type, from_provider, to_provider, confidence, importance)
       VALUES ${values.join(',')}`,
  );
  return { url, changes: changes.map((row, i) => ({ ...row, id: `ch_${String(i + 1).padStart(10, '0')}` })) };
}

onEach(kept, 'the list of changes', (place) => {
  it('is newest first and total, for each filter, in pages that neither skip nor repeat', async () => {
    const { url, changes } = await filled(place);
    await using store = await openStore(url);
    const domains = new Map(changes.map(({ id, domain }) => [id, domain]));
    for (const type of ['migrated', 'added'] as const)
      for (const provider of [undefined, 'x', 'nobody'])
        for (const direction of [undefined, 'in', 'out'] as const)
          for (const [category, since, other] of [
            [undefined, undefined, undefined],
            ['email', undefined, undefined],
            [undefined, 55, undefined],
            ['email', 55, 'y'],
            [undefined, undefined, 'y'],
          ] as const) {
            const time = since === undefined ? 'at' : 'confirmedAt';
            const fits = changes
              .filter((row) => row.type === type && (!category || row.category === category))
              .filter((row) => since === undefined || row.confirmedAt >= since)
              .filter(
                (row) =>
                  !provider ||
                  (direction !== 'out' && row.to === provider && (other ?? row.from) === row.from) ||
                  (direction !== 'in' && row.from === provider && (other ?? row.to) === row.to),
              )
              .sort((a, b) => b[time] - a[time] || (a.id < b.id ? 1 : -1))
              .map(({ id }) => id);
            const filter = {
              type,
              ...(provider ? { provider } : {}),
              ...(direction ? { direction } : {}),
              ...(category ? { category } : {}),
              ...(since ? { since: new Date(since) } : {}),
              ...(other ? { other } : {}),
            };
            const found = [];
            for (let offset = 0; offset < 400; offset += 37)
              found.push(...(await store.lists.changes(filter, { limit: 37, offset })));
            assert.deepEqual(idsOf(found), fits, JSON.stringify(filter));
            assert.ok(found.every(({ id, domainId }) => domainId === domains.get(id)));
          }
  });

  it('is read from an index, without sorting more than a page of each side', async () => {
    const { url } = await filled(place);
    const plans = await plansOf(url, async (db) => {
      const lists = new ListTable(db);
      const page = { limit: 50, offset: 0 };
      const since = new Date(55);
      for (const filter of [
        ...[{}, { category: 'cdn' }, { provider: 'x', direction: 'in' }, { provider: 'x', direction: 'out' }],
        ...[{ provider: 'x' }, { since }, { since, category: 'cdn' }, { since, provider: 'x', direction: 'out' }],
      ] as const)
        await lists.changes({ type: 'migrated', ...filter }, page);
      for (const direction of ['out', 'in'] as const) await lists.customers({ provider: 'x', direction, since }, page);
    });
    const both = ['changes_to', 'changes_from'];
    const expected = [
      ...[['changes_type'], ['changes_category'], ['changes_to'], ['changes_from'], both],
      ...[['changes_confirmed'], ['changes_category_confirmed'], ['changes_from_confirmed']],
      ...[['changes_exits'], ['changes_entries']],
    ];
    assert.equal(plans.length, 2 * expected.length);
    for (const [at, { sql, scans, indexes, isSorted, text }] of plans.entries()) {
      assert.ok(!scans.includes('changes'), `${sql}\n${text}`);
      const uses = expected[at % expected.length] ?? [];
      if (uses !== both) assert.equal(isSorted, false, `${sql}\n${text}`);
      assert.ok(indexes.length > 0, `${sql}\n${text}`);
      // Of several that fit a window PostgreSQL takes the one that its statistics favour.
      if (place.name === 'PostgreSQL' && at % expected.length >= 5) continue;
      for (const index of uses) assert.ok(indexes.includes(index), `${index}: ${sql}\n${text}`);
    }
  });

  it('has the names of the domains apart', async () => {
    const { url } = await filled(place);
    await using store = await openStore(url);
    assert.deepEqual(Object.fromEntries(await store.lists.namesOf([2, 1, 2, 77])), { 1: 'a.com', 2: 'b.com' });
    assert.equal((await store.lists.namesOf([])).size, 0);
  });
});

const anomaly = (id: string, at: number, domain?: string): StoredAnomaly => ({
  ...{ id, at: new Date(at), metric: 'losses', severity: 'high' },
  ...{ subjectKind: domain ? 'domain' : 'provider', subject: domain ?? 'x' },
  facts: { value: 9, mean: 1, stddev: 1, sigma: 8, direction: 'up', window_days: 28, samples: 20, chance: 1e-6 },
});

const alert = (subject: string, at: number, more: Partial<StoredAlert> = {}): StoredAlert => ({
  ...{ id: `al_${subject}_${at}`, at: new Date(at), kind: 'anomaly', severity: 'medium', subject },
  ...{ domain: null, provider: 'x', title: subject, detail: 'd', ref: '/' },
  ...more,
});

onEach(kept, 'what stands out', (place) => {
  it('is an anomaly written once, with one event', async () => {
    await using store = await openStore(await place.fresh());
    assert.equal(await store.signals.addAnomaly(anomaly('an_1', 5)), true);
    assert.equal(await store.signals.addAnomaly(anomaly('an_1', 5)), false);
    assert.equal(await store.signals.addAnomaly(anomaly('an_2', 7, 'a.com')), true);
    const published = (await store.eventsSince(0, 10)).map(({ kind, domain, payload }) => ({
      kind,
      domain,
      ...payload,
    }));
    const found = (domain: string, anomalyId: string) => ({ kind: 'anomaly-found', domain, anomalyId });
    assert.deepEqual(published, [found('', 'an_1'), found('a.com', 'an_2')]);
    assert.deepEqual(idsOf((await store.signals.anomalies({}, 10)).anomalies), ['an_2', 'an_1']);
    const ofDomain = { total: 1, anomalies: [anomaly('an_2', 7, 'a.com')] };
    assert.deepEqual(await store.signals.anomalies({ domain: 'a.com' }, 10), ofDomain);
    assert.deepEqual(idsOf(await store.signals.anomaliesSince(new Date(6))), ['an_2']);
    assert.equal(await store.signals.anomaly('an_3'), undefined);
  });

  it('is an alert told once for its subject, with its latest figures, and again when it has been quiet', async () => {
    await using store = await openStore(await place.fresh());
    const quiet = { quietMs: 7 * DAY };
    const add = (more: Partial<StoredAlert>, at: number) => store.signals.addAlert(alert('s', at, more), quiet);
    assert.equal(await add({}, DAY), true);
    assert.equal(await add({}, 2 * DAY), false, 'nothing else is known');
    assert.equal(await add({ detail: 'more', severity: 'high' }, 3 * DAY), true);
    assert.equal(await add({ detail: 'less', severity: 'low' }, 3 * DAY), false, 'it does not become milder');
    const merged = alert('s', DAY, { detail: 'more', severity: 'high' });
    assert.deepEqual(await store.signals.alerts(10), { total: 1, alerts: [merged] });
    assert.equal(await add({}, 9 * DAY), true);
    assert.equal((await store.signals.alerts(10)).total, 2);
  });

  it('lists alerts by day, within it by kind, then gravity; whatever the limit', async () => {
    await using store = await openStore(await place.fresh());
    const kinds = ['security', 'anomaly', 'migration'] as const;
    const severities = ['low', 'medium', 'high', 'critical'] as const;
    for (let i = 0; i < 60; i += 1) {
      const more = { kind: kinds[i % 3] ?? 'anomaly', severity: severities[i % 4] ?? 'low' };
      await store.signals.addAlert(alert(`s${i}`, Math.floor(i / 12) * DAY + i, more), { quietMs: 0 });
    }
    const { alerts: all } = await store.signals.alerts(1_000);
    const rank = ({ at, kind, severity, id }: StoredAlert) => [
      -Math.floor(at.getTime() / DAY),
      ['migration', 'anomaly', 'security'].indexOf(kind),
      -severities.indexOf(severity as 'low'),
      -at.getTime(),
      id,
    ];
    const sorted = all.toSorted((a, b) => {
      const [x, y] = [rank(a), rank(b)];
      const at = x.findIndex((value, i) => value !== y[i]);
      return at < 0 ? 0 : (x[at] as number) < (y[at] as number) ? -1 : 1;
    });
    assert.deepEqual(idsOf(all), idsOf(sorted));
    for (const limit of [1, 5, 12, 13, 59, 60])
      assert.deepEqual(await store.signals.alerts(limit), { total: 60, alerts: all.slice(0, limit) });
  });

  it('remembers how far the watch came', async () => {
    await using store = await openStore(await place.fresh());
    assert.equal(await store.signals.watched(), undefined);
    for (const seq of [1, 3]) {
      await store.signals.setWatched({ seq, day: seq + 1 });
      assert.deepEqual(await store.signals.watched(), { seq, day: seq + 1 });
    }
  });
});
