// Several processes on one server that write at once, as if sequentially. Scans: scan-work.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BEGIN_WRITING, writeTransaction } from '@strata/db';
import { sql } from 'kysely';
import { connect, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { repeatDuring } from '../../../../tests/support/until.ts';
import { openStore, type Store, type StoredEvent } from './index.ts';
import { databaseOf, onEach, postgres, rows } from './test/backends.ts';
import { A, assertCounts, later, recordPoll, subscribed, T0 } from './test/feed-store.ts';
import { anomaly, poll } from './test/records.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from './test/scans.ts';

const STORES = 3;
const all = <T>(count: number, work: (n: number) => Promise<T> | undefined) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

async function openMany(url: string) {
  const stores = (await all(STORES, () => openStore(url, { poolSize: 4 }))) as [Store, Store, Store];
  const close = () => all(STORES, async (n) => stores[n]?.[Symbol.asyncDispose]());
  return Object.assign(stores, { [Symbol.asyncDispose]: async () => void (await close()) });
}

/** Reads page after page until all is written and read. */
async function follow<T>(read: (last: T | undefined) => Promise<readonly T[]>, work: Promise<unknown>) {
  const found: T[] = [];
  const readPage = async () => found.length < found.push(...(await read(found.at(-1))));
  await repeatDuring(work, readPage);
  while (await readPage());
  return found;
}

onEach([postgres], 'several stores', ({ fresh }, _test, onFresh) => {
  onFresh('write events, scans and mentions that a follower reads without a gap', async (url) => {
    await using stores = await openMany(url);
    const [reader] = stores;
    const feeds = stores.map((_, who) => `https://f${who}.example/`);
    const ids = await subscribed(reader, ...feeds);
    // Of half of the domains: those are recorded concurrently.
    await reader.domains.add(Array.from({ length: 6 }, (_, n) => stores.map((_, who) => `s${who}-${n}.com`)).flat(), {
      source: 't',
    });
    const writing = Promise.all(
      stores.map((store, who) =>
        all(12, async (n) => {
          await store.signals.addAnomaly(anomaly(`an_${n}`, 0, `d${n}.com`));
          await recordScan(store, scanOf(`s${who}-${n}.com`, day(n), GOOGLE), confirm);
          const items = [{ key: String(n), domains: ['everybodys.com', `d${n}.com`] }];
          await recordPoll(store, ids[who] ?? 0, poll(feeds[who] ?? '', items));
          const payload = { advisoryId: `CVE-${n}`, reason: 'published' } as const;
          await store.advisories.addEvent(`CVE-${n}`, { at: T0, domain: '', kind: 'advisory-touched', payload });
        }),
      ),
    );
    const { mentions } = reader.feeds;
    const [events, scans, named] = await Promise.all([
      follow<StoredEvent>((last) => reader.events.since(last?.seq ?? 0, 3), writing),
      follow<{ readonly id: number }>((last) => reader.feed.scansSince(last?.id ?? 0, 3), writing),
      follow<{ readonly id: number }>((last) => mentions.since(last?.id ?? 0, 3), writing),
    ]);
    assert.deepEqual([events, scans], [await reader.events.since(0, 10_000), await reader.feed.scansSince(0, 10_000)]);
    assert.deepEqual([named, named.length], [await mentions.since(0, 10_000), 2 * 12 * STORES]);
    await assertCounts(url);
    // What several stores published was published once.
    const kinds = Map.groupBy(events, ({ kind }) => kind);
    const counts = Object.fromEntries([...kinds].map(([kind, some]) => [kind, some.length]));
    assert.deepEqual(counts, { 'advisory-touched': 12, 'anomaly-found': 12, 'domain-changed': 12 * STORES });
  });

  it('count to a limit exactly: keys of an address, names a day', async () => {
    await using stores = await openMany(await fresh());
    const keys = await all(75, (n) => stores[n % 3]?.keys.issue([{ name: '192.0.2.1', times: 1 }], { perDay: 7 }));
    assert.equal(keys.filter((key) => key !== undefined).length, 7);
    const limit = { day: '2026-01-01', perDay: 31 };
    const names = await all(75, (n) => stores[n % 3]?.feeds.offers.take(['a.com', 'b.com'], limit));
    assert.equal(names.flat().length, 31);
  });

  it('claim a feed, each for one of them alone', async () => {
    await using stores = await openMany(await fresh());
    const ids = await subscribed(stores[0], ...Array.from({ length: 20 }, (_, n) => `https://f${n}.example/`));
    const until = { now: T0, until: later(1) };
    const claimed = await Promise.all(ids.flatMap((id) => stores.map(({ feeds }) => feeds.schedule.claim(id, until))));
    assert.deepEqual(claimed.flatMap((feed) => feed?.id ?? []).sort(), ids.toSorted());
  });

  onFresh('add the same names in another order without a deadlock', async (url) => {
    await using stores = await openMany(url);
    const [one, two] = stores;
    const columns = 'domains (name, source, created_at, next_due_at)';
    await using beside = await connect(url, `begin; insert into ${columns} values ('middle.com', 't', 0, 0)`);
    const names = ['first.com', 'middle.com', 'last.com'];
    const adding = [one.domains.add(names, { source: 'a' }), two.domains.add(names.toReversed(), { source: 'b' })];
    await untilWaiting(url, 2);
    await beside.query('rollback');
    const added = (await Promise.all(adding)).map((each) => each.added);
    assert.equal((added[0] ?? 0) + (added[1] ?? 0), 3);
    assert.deepEqual((await one.domains.due(new Date(), 10)).toSorted(), names.toSorted());
  });
});

/** In a connection that never finds out by itself that it is in a deadlock. */
const PATIENTLY = "set deadlock_timeout = '5min'; begin";

onEach([postgres], 'a transaction that writes', ({ fresh }, test) => {
  test('is run again after a deadlock, and has recorded once', async (store, url) => {
    const both = (n: number, exchange: string) => ['a.com', 'b.com'].map((name) => scanOf(name, day(n), exchange));
    const lastId = async () => Number((await rows(url, 'select max(id) as id from scans'))[0]?.id);
    await store.recordScans([...both(0, GOOGLE), ...both(1, MICROSOFT)], confirm);
    const before = await lastId();
    await using other = await connect(url, `${PATIENTLY}; update domains set failures = 0 where name = 'b.com'`);
    const recording = store.recordScans(both(2, MICROSOFT), confirm);
    await untilWaiting(url);
    // The lock of those that write is granted in the order of the requests: what is run again gets it after this one.
    await other.query(BEGIN_WRITING.replace('begin;', ''));
    await other.query('commit');
    const changes = (await recording).map((each) => (each.status === 'fulfilled' ? each.value.changes : []));
    const [types, counts] = [changes.map((some) => some.map(({ type }) => type)), await store.inspection.counts()];
    assert.deepEqual(types, [['migrated'], ['migrated']]);
    assert.deepEqual(counts, { domains: 2, scannedDomains: 2, services: 6, scans: 6, changes: 2 });
    // The other got the lock because the first run was rolled back, which had no numbers yet that would be gaps now.
    assert.equal(await lastId(), before + 2);
  });

  test('counts what it has added once, also when it was run twice', async (store, url) => {
    const [id = 0] = await subscribed(store, A);
    const record = (at: Date, ...keys: string[]) => {
      const items = keys.map((key) => ({ key, domains: ['x.com', `${key}.com`] }));
      return recordPoll(store, id, poll(A, items), at);
    };
    assert.equal((await record(T0, 'old')).items, 1);
    await using other = await connect(url, `${PATIENTLY}; select 1 from feed_items for update`);
    // It adds the new item, and waits to mark that the old one is still there.
    const recording = record(later(40 * 24), 'old', 'new');
    await untilWaiting(url);
    await other.query(BEGIN_WRITING.replace('begin;', ''));
    await other.query('commit');
    assert.deepEqual(await recording, { kind: 'recorded', items: 1, mentions: 2 });
    assert.equal((await store.feeds.summary()).items, 2);
  });

  it('is given up after three times', async () => {
    await using db = databaseOf(await fresh());
    let tries = 0;
    const failing = (text: string) => {
      tries = 0;
      return writeTransaction(db, async (tx) => {
        tries += 1;
        await tx.selectFrom('domains').select('id').execute();
        await sql.raw(text).execute(tx);
      });
    };
    const lost = failing("do $$ begin raise exception 'lost' using errcode = '40001'; end $$");
    await assert.rejects(lost, { code: 'conflict' });
    assert.equal(tries, 3);
    await assert.rejects(failing('select 1 / 0'));
    assert.equal(tries, 1, 'an error of its own');
  });
});
