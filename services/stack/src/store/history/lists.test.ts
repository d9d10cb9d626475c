// Lists of changes, anomalies and alerts, and the public stream.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChangeType } from '@strata/detect';
import { sql } from 'kysely';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { alertKey, type ChangeFilter, isWanted, type ListedChange, openStore, type StoredAlert } from '../index.ts';
import { mailRoles } from '../migrations/changes.ts';
import { exec, kept, onEach, plansOf, rows } from '../test/backends.ts';
import { alert, anomaly, streamEvent } from '../test/records.ts';
import { countChangeDays } from './day-counts.ts';
import { ListTable } from './lists.ts';

const [DAY, SINCE] = [86_400_000, new Date(55)];
const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Of every type, many at one time; the order of observation and of confirmation differ. */
const CHANGES = Array.from({ length: 400 }, (_, i) => ({
  id: `ch_${String(i + 1).padStart(10, '0')}`,
  domain: 1 + (i % 2),
  at: (i * 7) % 40,
  confirmedAt: 40 + ((i * 11) % 37),
  category: i % 3 === 0 ? 'email' : 'dns',
  type: i % 5 === 0 ? 'added' : 'migrated',
  from: i % 5 === 0 ? null : ['x', 'y', 'z'][i % 3],
  to: ['x', 'y', 'z'][(i + 1 + (i % 2)) % 3],
}));

type Inserted = Omit<(typeof CHANGES)[number], 'id'>;
function insertChanges(url: string, changes: readonly Inserted[] = CHANGES): Promise<void> {
  const values = changes.map(({ domain, at, confirmedAt, category, type, from, to }) => {
    const left = from === null ? 'null' : `'${from}'`;
    return `(${domain}, 1, ${at}, ${confirmedAt}, '${category}', 'dns', '${type}', ${left}, '${to}', 'high', 'high')`;
  });
  return exec(
    url,
    `INSERT INTO domains (id, name, source, created_at, next_due_at)
       VALUES (1, 'a.com', 't', 0, 0), (2, 'b.com', 't', 0, 0);
     INSERT INTO scans (id, domain_id, started_at, finished_at, state, rulebook, services, unmeasured)
       VALUES (1, 1, 0, 0, 'active', '1', 0, '');
     INSERT INTO changes (domain_id, scan_id, at, confirmed_at, category, role, type, from_provider, to_provider, confidence, importance)
       VALUES ${values.join(',')}`,
  );
}

function expectedOf({ type, provider, direction, other, category, since }: ChangeFilter): string[] {
  const isBetween = (from: string | null | undefined, to: string | null | undefined) =>
    (direction !== 'out' && to === provider && (other ?? from) === from) ||
    (direction !== 'in' && from === provider && (other ?? to) === to);
  const time = since === undefined ? 'at' : 'confirmedAt';
  const fits = CHANGES.filter((row) => row.type === type && (category ?? row.category) === row.category)
    .filter((row) => since === undefined || row.confirmedAt >= since.getTime())
    .filter(({ from, to }) => provider === undefined || isBetween(from, to));
  return idsOf(fits.sort((a, b) => b[time] - a[time] || (a.id < b.id ? 1 : -1)));
}

onEach(kept, 'the list of changes', (backend, test) => {
  test('has no migration of a report service after the upgrade, nor its alerts', async ({ lists, signals }, url) => {
    const moves = ['dmarcian valimail', 'proofpoint mimecast', 'improvmx forward-email', 'proofpoint improvmx'];
    const of = { domain: 1, at: 0, confirmedAt: DAY, category: 'email_security', type: 'migrated' };
    const changes = moves.map((move) => ({ ...of, from: move.split(' ')[0], to: move.split(' ')[1] }));
    await insertChanges(url, changes);
    const count = () => plansOf(url, async (db) => void (await countChangeDays(sql`changes`).execute(db)));
    const days = () => rows(url, 'select * from change_days order by provider');
    const found = async (type: ChangeType) => idsOf(await lists.changes({ type }, { limit: 9, offset: 0 }));
    await count();
    const left = ['dmarcian', 'proofpoint'].map((id) =>
      alert(`migration email_security ${id}`, 0, { kind: 'migration' }),
    );
    for (const each of left) await signals.addAlert(each, { quietMs: 0 });
    await plansOf(url, (db) => mailRoles(db as never));
    assert.deepEqual(await signals.alerts(9), { total: 1, alerts: left.slice(1) });
    const ids = [3, 2, 4, 1].map((i) => CHANGES[i - 1]?.id);
    assert.deepEqual([...(await found('migrated')), ...(await found('reclassified'))], ids);
    const upgraded = await days();
    await exec(url, 'delete from change_days');
    await count();
    assert.deepEqual(upgraded, await days());
  });
  test('is newest first and total, for each filter, in pages that neither skip nor repeat', async ({ lists }, url) => {
    await insertChanges(url);
    const domains = new Map(CHANGES.map(({ id, domain }) => [id, domain]));
    const sides = [undefined, 'x', 'unknown'].flatMap((provider) =>
      [undefined, 'in', 'out'].map((direction) => ({ ...(provider && { provider }), ...(direction && { direction }) })),
    );
    const email = { category: 'email' };
    for (const type of ['migrated', 'added'])
      for (const side of sides)
        for (const more of [{}, email, { since: SINCE }, { ...email, since: SINCE, other: 'y' }, { other: 'y' }]) {
          const filter = { type, ...side, ...more } as ChangeFilter;
          const found: ListedChange[] = [];
          const paged: ListedChange[] = [];
          for (let offset = 0; offset < 400; offset += 37)
            found.push(...(await lists.changes(filter, { limit: 37, offset })));
          assert.deepEqual(idsOf(found), expectedOf(filter), JSON.stringify(filter));
          for (let after: ListedChange | undefined, size = 1; paged.length < size; after = paged.at(-1)) {
            const time = filter.since ? after?.confirmedAt : after?.at;
            const key = after && time && { after: [time.getTime(), after.id] as const };
            paged.push(...(await lists.changes(filter, { limit: 37, offset: 0, ...key })));
            size = found.length;
          }
          assert.deepEqual(idsOf(paged), expectedOf(filter), JSON.stringify(filter));
          assert.ok(found.every(({ id, domainId }) => domainId === domains.get(id)));
        }
    assert.deepEqual(Object.fromEntries(await lists.namesOf([2, 1, 2, 77])), { 1: 'a.com', 2: 'b.com' });
    assert.equal((await lists.namesOf([])).size, 0);
  });
  test('is read from an index, without sorting more than a page of each side', async (_store, url) => {
    await insertChanges(url);
    type Case = readonly [
      filter: Omit<Partial<ChangeFilter>, 'since'> & { readonly since?: string },
      indexes: readonly string[],
    ];
    const expected = casesOf<Case[]>('stack', 'indexes of lists of changes');
    const indexesOf = [...expected.map(([, indexes]) => indexes), ['changes_exits'], ['changes_entries']];
    const isTwoSided = (at: number) => at === 4 || at === 6;
    const firstFree = expected.findIndex(([{ since, other, category }]) => since ?? (other && category));
    const plans = await plansOf(url, async (db) => {
      const [lists, page] = [new ListTable(db), { limit: 50, offset: 0 }];
      for (const [{ since, ...filter }] of expected)
        await lists.changes({ type: 'migrated', ...filter, ...(since && { since: new Date(since) }) }, page);
      for (const direction of ['out', 'in'] as const)
        await lists.customers({ provider: 'x', direction, since: SINCE }, page);
    });
    assert.equal(plans.length, 2 * indexesOf.length);
    for (const [n, { sql, scans, indexes, isSorted, text }] of plans.entries()) {
      const at = n % indexesOf.length;
      const uses = indexesOf[at] ?? [];
      const why = `${uses}: ${sql}\n${text}`;
      assert.ok(!scans.includes('changes') && indexes.length > 0 && (isTwoSided(at) || !isSorted), why);
      // Of several that fit PostgreSQL takes the one that its statistics favour.
      const isFree = backend.name === 'PostgreSQL' && at >= firstFree;
      assert.ok(isFree || uses.every((index) => indexes.includes(index)), why);
    }
  });
});

onEach(kept, 'signals', (_backend, test) => {
  test('store an anomaly once, with one event', async (store) => {
    const { signals } = store;
    assert.equal(await signals.addAnomaly(anomaly('an_1', 5)), true);
    assert.equal(await signals.addAnomaly(anomaly('an_1', 5)), false);
    assert.equal(await signals.addAnomaly(anomaly('an_2', 7, 'a.com')), true);
    const events = await store.events.since(0, 10);
    const published = events.map(({ kind, domain, payload }) => ({ kind, domain, ...payload }));
    const found = (domain: string, anomalyId: string) => ({ kind: 'anomaly-found', domain, anomalyId });
    assert.deepEqual(published, [found('', 'an_1'), found('a.com', 'an_2')]);
    assert.deepEqual(idsOf((await signals.anomalies({}, 10)).anomalies), ['an_2', 'an_1']);
    const ofDomain = { total: 1, anomalies: [anomaly('an_2', 7, 'a.com')] };
    assert.deepEqual(await signals.anomalies({ domain: 'a.com' }, 10), ofDomain);
    assert.deepEqual(idsOf(await signals.anomaliesSince(new Date(6))), ['an_2']);
    const dates = { since: new Date(5), until: new Date(6) };
    assert.deepEqual(await signals.anomalies(dates, 10), { total: 1, anomalies: [anomaly('an_1', 5)] });
    assert.equal((await signals.anomalies({ ...dates, domain: 'a.com' }, 10)).total, 0);
    assert.equal(await signals.anomaly('an_3'), undefined);
  });
  test('raise an alert once for its subject, with its latest figures, again after quiet time', async ({ signals }) => {
    const quiet = { quietMs: 7 * DAY };
    const add = (day: number, more: Partial<StoredAlert> = {}) => signals.addAlert(alert('s', day * DAY, more), quiet);
    assert.equal(await add(1), true);
    assert.equal(await add(2), false, 'nothing else is known');
    assert.equal(await add(3, { detail: 'more', severity: 'high' }), true);
    assert.equal(await add(3, { detail: 'less', severity: 'low' }), false, 'it does not become milder');
    const merged = alert('s', DAY, { detail: 'more', severity: 'high' });
    assert.deepEqual([await signals.alerts(10), await add(9)], [{ total: 1, alerts: [merged] }, true]);
    assert.equal((await signals.alerts(10)).total, 2);
  });
  test('list alerts by day, within it by kind, then severity; whatever the limit', async ({ signals }) => {
    const kinds = ['migration', 'anomaly', 'security'] as const;
    const severities = ['critical', 'high', 'medium', 'low'] as const;
    const added = Array.from({ length: 60 }, (_, i) => {
      const more = { kind: kinds[2 - (i % 3)] ?? 'anomaly', severity: severities[3 - (i % 4)] ?? 'low' };
      return alert(`s${i}`, Math.floor(i / 12) * DAY + i, more);
    });
    for (const each of added) await signals.addAlert(each, { quietMs: 0 });
    const sorted = added.toSorted(
      (a, b) =>
        Math.floor(b.at.getTime() / DAY) - Math.floor(a.at.getTime() / DAY) ||
        kinds.indexOf(a.kind as 'anomaly') - kinds.indexOf(b.kind as 'anomaly') ||
        severities.indexOf(a.severity as 'low') - severities.indexOf(b.severity as 'low') ||
        b.at.getTime() - a.at.getTime(),
    );
    for (const limit of [1, 5, 12, 13, 59, 60, 1_000])
      assert.deepEqual(await signals.alerts(limit), { total: 60, alerts: sorted.slice(0, limit) });
    const [since, until] = [new Date(DAY + 13), new Date(2 * DAY + 24)];
    const within = sorted.filter(({ at }) => at >= since && at <= until);
    assert.deepEqual(await signals.alerts(5, undefined, { since, until }), { total: 12, alerts: within.slice(0, 5) });
    // While alerts of each day are added, each of the first ones is in one page.
    const paged: StoredAlert[] = [];
    for (let i = 0, last: StoredAlert | undefined; i === 0 || last; i += 1) {
      const { alerts } = await signals.alerts(7, last && alertKey(last));
      paged.push(...alerts);
      last = alerts.at(-1);
      const more = { kind: kinds[i % 3] ?? 'anomaly', severity: severities[i % 4] ?? 'low' } as const;
      for (let day = 0; day < 5 && i < 20; day += 1)
        await signals.addAlert(alert(`new ${i} ${day}`, day * DAY + 3_600_000 + i, more), { quietMs: 0 });
    }
    assert.equal(new Set(idsOf(paged)).size, paged.length);
    const first = new Set(idsOf(added));
    const found = paged.filter(({ id }) => first.has(id));
    assert.deepEqual(found, sorted);
  });
});

onEach(kept, 'the public stream', (_backend, test) => {
  test('begins once, keeps its order, and is found by number and by time', async ({ stream }) => {
    assert.deepEqual([await stream.cursor(), await stream.beganUs(), await stream.latest()], [undefined, 0, undefined]);
    await stream.begin(7, 1_000);
    await stream.begin(9, 2_000);
    assert.deepEqual([await stream.cursor(), await stream.beganUs()], [7, 1_000]);
    const events = [streamEvent(1_001), streamEvent(1_002, { providers: [], category: null, domain: null })];
    const appended = (await stream.append(events, { from: 7, to: 12 })) ?? [];
    assert.deepEqual([...appended.map(({ seq }) => seq), await stream.cursor()], [1, 2, 12]);
    assert.deepEqual(await stream.since(0, 10), appended, 'read back as written');
    assert.deepEqual(await stream.latest(), appended[1]);
    assert.deepEqual([await stream.seqAt(1_000), await stream.seqAt(1_001), await stream.seqAt(9_999)], [0, 1, 2]);
  });
  test('is written by one process: a second one with an old position writes nothing', async ({ stream }, url) => {
    await using other = await openStore(url);
    await stream.begin(0, 1);
    await stream.append([streamEvent(10)], { from: 0, to: 5 });
    assert.equal(await other.stream.append([streamEvent(11)], { from: 0, to: 5 }), undefined);
    // Its position and its events move together, or neither: a time names one event.
    await assert.rejects(stream.append([streamEvent(11), streamEvent(10)], { from: 5, to: 6 }));
    assert.deepEqual([await stream.cursor(), (await other.stream.since(0, 10)).length], [5, 1]);
  });
  test('deletes old events in batches, and never reuses a number', async ({ stream }) => {
    await stream.begin(0, 1);
    const events = Array.from({ length: 10 }, (_, i) => streamEvent(100 + i));
    await stream.append(events, { from: 0, to: 1 });
    assert.equal(await stream.prune(105, 3), 3);
    assert.deepEqual([await stream.prunedThrough(), (await stream.since(0, 1))[0]?.seq], [3, 4]);
    assert.deepEqual([await stream.prune(105, 100), await stream.prune(105, 100)], [2, 0]);
    assert.equal(await stream.prune(1_000, 100), 5);
    const [next] = (await stream.append([streamEvent(200)], { from: 1, to: 2 })) ?? [];
    assert.deepEqual([next?.seq, await stream.prunedThrough()], [11, 10]);
  });
});
it('an event of the public stream passes the filters that it matches', () => {
  const event = { seq: 1, ...streamEvent(1) };
  const both = { category: 'dns', provider: 'x' };
  const [own, other] = [{ domains: new Set(['a.com', 'b.com']) }, { domains: new Set(['b.com']) }];
  for (const filter of [{}, { types: ['migration'] }, { domain: 'a.com' }, { provider: 'y' }, both, own])
    assert.ok(isWanted(event, filter));
  assert.ok(!isWanted({ ...event, domain: null }, own));
  const mismatches = [{ domain: 'b.com' }, { provider: 'z' }, { category: 'cdn' }, { ...both, provider: 'z' }, other];
  for (const filter of [{ types: ['anomaly'] }, ...mismatches]) assert.ok(!isWanted(event, filter));
});
