// Tables that grow with time: no start and no response reads them completely.

import assert from 'node:assert/strict';
import { checkStore, inspectStore, KeyTable, QuotaTable } from '@strata/db';
import { detect, type Rulebook } from '@strata/detect';
import { ledgerTablesIn } from '@strata/log';
import { rulebook, rulebookWithout } from '../../../../../tests/support/rulebook.ts';
import { DomainTable } from '../domains/domains.ts';
import { EventTable } from '../events/events.ts';
import { readHeads } from '../events/heads.ts';
import { IndexFeed } from '../events/index-feed.ts';
import { SignalTable } from '../events/signals.ts';
import { StreamTable } from '../events/stream.ts';
import { type HistoryTable, stackSchema } from '../index.ts';
import { createRecorder } from '../scans/record-scan.ts';
import { exec, kept, onEach, pathOf, plansOf, rows } from '../test/backends.ts';
import { alert, anomaly, streamEvent } from '../test/records.ts';
import * as scans from '../test/scans.ts';
import { ListTable } from './lists.ts';
import { RetentionTable } from './retention.ts';

const { confirm, day, exchangeOn, GOOGLE, MICROSOFT, readFeed, scanOf } = scans;
const NAMES = Array.from({ length: 30 }, (_, n) => `d${n}.com`);
const scansOn = (n: number, names = NAMES) => names.map((name) => scanOf(name, day(n), exchangeOn(n)));
const reader = { domains() {}, changeDays() {}, migrations() {}, scanDays() {} };
const GROWING = [
  ...['scans', 'changes', 'events', 'stream_events', 'alerts', 'anomalies', 'evidence', 'quota_usage'],
  ...['ledger_leaves', 'ledger_subtrees'],
];
/** Operator commands, which may read complete tables; and methods without a query. */
const EXEMPT = ['KeyTable.list', 'KeyTable.saltedHash'];

/** Wraps tables, and removes each called method from `uncalled`. */
function noting(uncalled: Set<string>) {
  return <T extends object>(table: T): T => {
    const { name, prototype } = table.constructor;
    const methods = Object.getOwnPropertyNames(prototype).filter((method) => method !== 'constructor');
    for (const method of methods) uncalled.add(`${name}.${method}`);
    return new Proxy(table, {
      get(target, key) {
        uncalled.delete(`${name}.${String(key)}`);
        const member = Reflect.get(target, key);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  };
}

onEach(kept, 'what grows with time', (_backend, test) => {
  test('is looked up at a start, in answers, when scans are recorded and when it is deleted', async (store, url) => {
    for (let n = 0; n < 8; n += 1) await store.recordScans(scansOn(n), confirm);
    for (let n = 0; n < 50; n += 1) {
      await store.signals.addAlert(alert(`s${n}`, n), { quietMs: 0 });
      await store.signals.addAnomaly(anomaly(`an_${n}`, n, NAMES[n % 30]));
    }
    const [since, page] = [new Date(day(3)), { limit: 5, offset: 5 }];
    const uncalled = new Set<string>();
    const noted = noting(uncalled);
    const plans = await plansOf(url, async (db) => {
      const feed = noted(new IndexFeed(db));
      await feed.storeId();
      await feed.readAll(reader, { migrationDays: 2 });
      await feed.domainsAfter(10, 10);
      await feed.scansSince(100, 10);
      await feed.daysSince(10, reader);
      await feed.reaches({ seq: 1, scanId: 1 });
      await readHeads(db);
      const events = noted(new EventTable(db));
      await events.latestSeq();
      await events.since(100, 10);
      const stream = noted(new StreamTable(db));
      await stream.begin(0, 1);
      for (const read of [stream.cursor, stream.beganUs, stream.prunedThrough, stream.latest]) await read();
      const published = Array.from({ length: 50 }, (_, n) => streamEvent(n));
      await stream.append(published, { from: 0, to: 1 });
      await stream.since(1, 10);
      await stream.seqAt(1);
      await stream.prune(2, 1);
      const domains = noted(new DomainTable(db, () => since));
      await domains.add(['d1.com', 'added.com'], { source: 'test' });
      await domains.isTracked('d1.com');
      await domains.isEmpty();
      await domains.namesFrom('d1', 8);
      await domains.due(new Date(8.64e15), 1);
      await domains.profile('d1.com');
      await domains.changes('d1.com', page);
      await domains.scannedSince(['d1.com'], new Date(1));
      const lists = noted(new ListTable(db));
      const customers = { provider: 'google-workspace', direction: 'in', since } as const;
      await lists.movesOf(customers, await lists.customers(customers, page));
      await lists.countCustomers(customers);
      for (const filter of [customers, { ...customers, other: 'x' }, { category: 'dns' } as const])
        await lists.changes({ type: 'migrated', ...filter }, page);
      await lists.namesOf([1]);
      await lists.scoresOf(['d1.com']);
      await lists.scansOf(1, { since, rulebook: 'x' });
      await lists.changesOf(1, since);
      await lists.incompleteScans('d1.com', 20);
      const signals = noted(new SignalTable(db));
      await signals.alerts(5);
      await signals.anomaly('an_1');
      await signals.anomalies({}, 5);
      await signals.anomalies({ domain: 'd1.com' }, 5);
      await signals.anomaliesSince(since);
      await signals.addAlert(alert('s1', 60), { quietMs: 5 });
      await signals.addAnomaly(anomaly('an_1'));
      await signals.setWatched({ seq: 9, day: 1 });
      await signals.watched();
      const retention = noted(new RetentionTable(db));
      for (const table of ['events', 'changes', 'scans', 'alerts', 'anomalies'] as const)
        await retention.prune(table, { before: new Date(day(3)), limit: 5 });
      await retention.forgetDomains({ before: since, limit: 2, now: since });
      await retention.acceptedTime();
      await retention.acceptTime(since);
      await retention.acceptedTime();
      await retention.recordSizes(since);
      const keys = noted(await KeyTable.open(db, { now: () => since, prefix: 'ssk_' }));
      const { key, stored } = await keys.create({ tier: 'free' });
      await keys.issue([{ name: '192.0.2.1', times: 1 }], { perDay: 1 });
      await keys.find(key);
      await keys.stillValid([stored.id]);
      const quota = noted(new QuotaTable(db));
      await quota.take(stored.id, '2026-01-01', 5);
      await quota.lease(stored.id, '2026-01-01', { limit: 5, count: 2 });
      await quota.refund(stored.id, '2026-01-01', 1);
      await quota.used(stored.id, '2026-01-01');
      await keys.revoke(stored.id);
      await createRecorder(db, { rescanAfterMs: 1 })(scansOn(8), confirm);
      if (pathOf(url)) return;
      // On SQLite the ledger is in a file of its own.
      const ledger = noted(ledgerTablesIn(db).log);
      const bytes = new Uint8Array(32);
      await ledger.begin({ origin: 'o', size: 0, root: bytes, edge: new Uint8Array(), note: '' });
      await ledger.head();
      await ledger.withHead(async () => {});
      for (const level of [0, 1]) await ledger.hashes(level, 0, 256);
      await ledger.leaves(0, 256);
      await ledger.find(bytes.subarray(0, 16));
      await ledger.close({ size: 0, root: bytes }, 'p');
    });
    // What is deleted stays in PostgreSQL's indexes until they are vacuumed: no log is read from its first row on.
    const fromStart = /"Forward",\s+"Index Name": "(?:events|scans)_pkey"(?![^{}]*"Index Cond")/;
    const readFromStart = plans.filter(({ text }) => fromStart.test(text)).map(({ sql }) => sql);
    assert.deepEqual(readFromStart, []);
    assert.deepEqual([...uncalled.difference(new Set(EXEMPT))], [], 'every query is asked');
    for (const { sql, scans, isSorted, text } of plans) {
      const read = scans.filter((name) => GROWING.includes(name.split(' ')[0] ?? ''));
      // From an end of an index on, as far as the limit: `max` has one of its own.
      const isBounded = / limit /.test(sql) || text.includes('"Node Type": "Limit"');
      assert.ok(read.length === 0 || (isBounded && !isSorted), `${read}: ${sql}\n${text}`);
    }
    assert.ok(plans.length > 200, String(plans.length));
  });
  test('is deleted oldest first, except for what is still needed; counts are kept', async (store, url) => {
    const { retention, signals, stream } = store;
    for (let n = 0; n < 8; n += 1) await store.recordScans(scansOn(n), confirm);
    const ids = async (sql: string) => (await rows(url, sql)).map(({ id }) => Number(id));
    const scanIds = () => ids('select id from scans order by id');
    const [all, named] = [await scanIds(), await ids('select scan_id as id from changes')];
    const reaches = (seq: number, scanId: number) => store.feed.reaches({ seq, scanId });
    const before = await readFeed(store);
    const prune = async (table: HistoryTable, to: number) => {
      while (await retention.prune(table, { before: new Date(day(to)), limit: 7 }));
    };
    // Events that the watch and the stream have not read are kept, however old.
    const latest = await store.events.latestSeq();
    const eventsKept = async () => (await store.events.since(0, 1_000)).length;
    const events = await eventsKept();
    await prune('events', 20);
    await signals.setWatched({ seq: latest, day: 0 });
    await stream.begin(0, 1);
    await prune('events', 20);
    assert.equal(await eventsKept(), events);
    await stream.append([], { from: 0, to: 40 });
    await prune('events', 20);
    assert.deepEqual([await reaches(39, 0), await reaches(40, 0)], [false, true]);
    await stream.append([], { from: 40, to: latest });
    await prune('events', 20);
    assert.deepEqual([await eventsKept(), await store.events.latestSeq()], [1, latest]);

    // During concurrent writes.
    const writing = store.recordScans(scansOn(8, ['new.com']), confirm);
    await prune('scans', 4);
    await writing;
    const ended = 4 * NAMES.length;
    const kept = [...all.filter((id) => id > ended || named.includes(id)), all.length + 1];
    assert.deepEqual(await scanIds(), kept);
    assert.deepEqual([await reaches(latest, ended - 1), await reaches(latest, ended)], [false, true]);
    await prune('changes', 4);
    assert.ok((await scanIds()).length < kept.length, 'a scan goes with the last change that names it');
    for (const table of ['changes', 'scans'] as const) await prune(table, 20);
    assert.deepEqual(await scanIds(), [all.length + 1], 'the newest stays');
    const after = await readFeed(store);
    assert.deepEqual(after.changeDays, before.changeDays);
    assert.deepEqual(after.scanDays.slice(0, -1), before.scanDays);
    assert.deepEqual([after.position.scanId, (await store.inspection.heads()).scans], [all.length + 1, all.length + 1]);
    assert.deepEqual((await checkStore(stackSchema, url)).findings, []);
  });
  test('is read in pages by a new index, in order, each row once', async (store, url) => {
    const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 10001)';
    await exec(
      url,
      `insert into domains (id, name, source, created_at, next_due_at) values (1, 'a.com', 't', 0, 0);
       insert into scans (id, domain_id, started_at, finished_at, state, rulebook, services, unmeasured)
         values (1, 1, 0, 0, 'active', '1', 0, '');
       ${numbers} insert into change_days (day, category, provider, gained, entered, lost, exited, migrated, reclassified)
         select i / 3, 'dns', 'p' || (i % 3), i, 0, 0, 0, 0, 0 from n;
       ${numbers} insert into changes
         (domain_id, scan_id, at, confirmed_at, category, role, type, from_provider, to_provider, confidence, importance)
         select 1, 1, 0, i / 3, 'dns', 'dns', 'migrated', 'x', 'p' || i, 'high', 'high' from n`,
    );
    const { changeDays, migrations } = await readFeed(store);
    const once = Array.from({ length: 10_001 }, (_, i) => i + 1);
    const days = changeDays.map(({ gained }) => gained);
    assert.deepEqual([days, migrations.map(({ to }) => Number(to.slice(1)))], [once, once]);
  });
  test('is counted where an answer says how many there are', async ({ signals, retention }) => {
    for (let n = 0; n < 9; n += 1) {
      await signals.addAlert(alert(`s${n}`, n), { quietMs: 0 });
      await signals.addAnomaly(anomaly(`an_${n}`, n));
    }
    const totals = async () => [(await signals.alerts(1)).total, (await signals.anomalies({}, 1)).total];
    assert.deepEqual(await totals(), [9, 9]);
    const batch = { before: new Date(5), limit: 3 };
    for (const [left, isMore] of [[6, true] as const, [4, true] as const, [4, false] as const]) {
      for (const table of ['alerts', 'anomalies'] as const) assert.equal(await retention.prune(table, batch), isMore);
      assert.deepEqual(await totals(), [left, left]);
    }
  });
  test('is measured: tables with their rows, and how many more there are a day', async (store, url) => {
    await store.recordScans(scansOn(0), confirm);
    await store.retention.recordSizes(new Date(day(0)));
    await store.recordScans(scansOn(1), confirm);
    for (const n of [2, 2]) await store.retention.recordSizes(new Date(day(n)));
    await exec(url, pathOf(url) ? 'analyze' : 'vacuum analyze');
    const scans = (await inspectStore(stackSchema, url)).sizes.find(({ table }) => table === 'scans');
    assert.equal(scans?.rows, 60);
    // PostgreSQL's statistics lag behind the rows.
    if (pathOf(url)) assert.deepEqual(scans, { table: 'scans', rows: 60, bytes: null, rowsPerDay: 15 });
    else assert.ok((scans.bytes ?? 0) > 8_192 && scans.rowsPerDay !== null);
  });
  test('has no event of a domain that a new release of the rulebook reads as the old one did', async (store) => {
    const names = [...NAMES, 'mail.com'];
    const read = (n: number, rules: Rulebook) => {
      const all = names.map((name) => scanOf(name, day(n), name === 'mail.com' ? GOOGLE : MICROSOFT, rules));
      return store.recordScans(all, { ...confirm, redetect: (evidence) => detect(evidence, rules) });
    };
    await read(0, rulebook);
    const [seq, released] = [await store.events.latestSeq(), rulebookWithout('google-workspace')];
    await read(1, released);
    const events = await store.events.since(seq, 100);
    const kinds = events.map(({ kind, domain }) => `${kind} ${domain}`);
    assert.deepEqual(kinds, ['change-confirmed mail.com', 'domain-changed mail.com']);
    assert.equal((await store.domains.changes('mail.com', { limit: 5, offset: 0 })).changes[0]?.type, 'reclassified');
    for (const name of ['d1.com', 'mail.com'])
      assert.equal((await store.domains.profile(name))?.rulebook, released.version);
    // What is kept to be read by the next release is of this one's scan.
    await read(2, rulebook);
    assert.equal((await store.events.since(seq, 100)).length, 2 * events.length);
  });
});
