// Several processes on one server, each with connections of its own, all writing at once: the result is that of writing sequentially,
// and a follower of a log misses nothing. Scans: record-scans.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type Store, type StoredEvent } from './index.ts';
import { connect, untilWaiting } from './test/connections.ts';
import { assertCounts, later, recordPoll, subscribed, T0 } from './test/feed-store.ts';
import { anomaly } from './test/notifications.ts';
import { onEach, postgres } from './test/places.ts';
import { poll } from './test/polls.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const STORES = 3;
const receipt = (id: string) => ({ id, keyId: 'key_a', body: '{}' });
const all = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

/** Opens so many stores on one database. */
async function openMany(url: string) {
  const stores = await all(STORES, () => openStore(url, { poolSize: 4 }));
  return Object.assign(stores as [Store, Store, Store], {
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store[Symbol.asyncDispose]();
    },
  });
}

/** Reads page after page until all is written and read. */
async function follow<T>(read: (last: T | undefined) => Promise<readonly T[]>, work: Promise<unknown>) {
  const found: T[] = [];
  let isOver = false;
  const ending = work.finally(() => {
    isOver = true;
  });
  for (let isLast = false; ; ) {
    const page = await read(found.at(-1));
    found.push(...page);
    if (isLast && page.length === 0) break;
    isLast = isOver;
  }
  await ending;
  return found;
}

onEach([postgres], 'several stores', ({ fresh }) => {
  it('write events, scans and mentions that a follower reads without a gap', async () => {
    const url = await fresh();
    await using stores = await openMany(url);
    const [reader] = stores;
    const feeds = stores.map((_, who) => `https://f${who}.example/`);
    const ids = await subscribed(reader, ...feeds);
    const writing = Promise.all(
      stores.map((store, who) =>
        all(12, async (n) => {
          await store.signals.addAnomaly(anomaly(`an_${n}`, 0, `d${n}.com`));
          await store.recordScan(scanOf(`s${who}-${n}.com`, day(n), GOOGLE), confirm);
          const items = [{ key: String(n), domains: ['everybodys.com', `d${n}.com`] }];
          await recordPoll(store, ids[who] ?? 0, poll(feeds[who] ?? '', items));
          const payload = { advisoryId: `CVE-${n}`, reason: 'published' } as const;
          await store.advisories.tell(`CVE-${n}`, { at: T0, domain: '', kind: 'advisory-touched', payload });
        }),
      ),
    );
    const { mentions } = reader.feeds;
    const [events, scans, named] = await Promise.all([
      follow<StoredEvent>((last) => reader.eventsSince(last?.seq ?? 0, 3), writing),
      follow<{ readonly id: number }>((last) => reader.feed.scansSince(last?.id ?? 0, 3), writing),
      follow<{ readonly id: number }>((last) => mentions.since(last?.id ?? 0, 3), writing),
    ]);
    assert.deepEqual(events, await reader.eventsSince(0, 10_000));
    assert.deepEqual(scans, await reader.feed.scansSince(0, 10_000));
    assert.deepEqual(named, await mentions.since(0, 10_000));
    assert.equal(named.length, 2 * 12 * STORES);
    await assertCounts(url);
    // What several stores published was published once.
    const kinds = Map.groupBy(events, ({ kind }) => kind);
    const counts = Object.fromEntries([...kinds].map(([kind, some]) => [kind, some.length]));
    assert.deepEqual(counts, { 'advisory-touched': 12, 'anomaly-found': 12, 'domain-changed': 12 * STORES });
  });

  it('count to a limit exactly: keys of an address, names a day', async () => {
    await using stores = await openMany(await fresh());
    const many = <T>(ask: (store: Store) => Promise<T>) =>
      Promise.all(stores.map((store) => all(25, () => ask(store))));
    const keys = await many((store) => store.keys.issue('192.0.2.1', { perDay: 7 }));
    assert.equal(keys.flat().filter((key) => key !== undefined).length, 7);
    const names = await many((store) => store.feeds.offers.take(['a.com', 'b.com'], { day: '2026-01-01', perDay: 31 }));
    assert.equal(names.flat(2).length, 31);
  });

  it('claim a feed, each for one of them alone', async () => {
    await using stores = await openMany(await fresh());
    const urls = Array.from({ length: 20 }, (_, n) => `https://f${n}.example/`);
    const ids = await subscribed(stores[0], ...urls);
    const claims = await Promise.all(
      ids.flatMap((id) => stores.map((store, who) => store.feeds.claim(id, { now: T0, until: later(1 + who) }))),
    );
    assert.deepEqual(claims.flatMap((feed) => feed?.id ?? []).sort(), ids.toSorted());
  });

  it('enter no receipt that was not read, however many are stored at the same time', async () => {
    await using stores = await openMany(await fresh());
    const [{ answers }] = stores;
    const keeping = Promise.all(
      stores.map((store, who) =>
        all(20, (n) => {
          const receipts = [`rwr_${who}-${n}-0`, `rwr_${who}-${n}-1`].slice(0, 1 + (n % 2));
          return store.answers.keep(receipts.map(receipt));
        }),
      ),
    );
    const entered = await follow(async () => {
      const some = await answers.unentered(7);
      const last = some.at(-1);
      if (last) await answers.enter(last.seq, []);
      return some;
    }, keeping);
    assert.equal(entered.length, STORES * 30);
    assert.equal(new Set(entered.map(({ id }) => id)).size, STORES * 30);
    assert.deepEqual(await answers.unentered(1), []);
  });

  it('show no receipt before one that has a smaller number', async () => {
    const url = await fresh();
    await using stores = await openMany(url);
    const [one, two] = stores;
    await one.answers.keep([receipt('rwr_1')]);
    // Its number is given, and it waits for another transaction with its id.
    await using beside = await connect(url);
    await beside.query("begin; insert into answer_receipts (id, key_id, body) values ('rwr_2', 'key_a', '{}')");
    const slow = one.answers.keep([receipt('rwr_2')]);
    await untilWaiting(url, 1);
    const fast = two.answers.keep([receipt('rwr_3')]);
    await Promise.race([fast, untilWaiting(url, 2)]);
    const shown = await one.answers.unentered(10);
    const entering = two.answers.enter(shown.at(-1)?.seq ?? 0, []);
    await beside.query('rollback');
    await Promise.all([slow, fast, entering]);
    const later = await one.answers.unentered(10);
    assert.deepEqual([...shown, ...later].map(({ id }) => id).sort(), ['rwr_1', 'rwr_2', 'rwr_3']);
  });

  it('add the same names in another order without a deadlock', async () => {
    const url = await fresh();
    await using stores = await openMany(url);
    const [one, two] = stores;
    await using beside = await connect(url);
    await beside.query(
      "begin; insert into domains (name, source, created_at, next_due_at) values ('middle.com', 't', 0, 0)",
    );
    const adding = [
      one.addDomains(['first.com', 'middle.com', 'last.com'], { source: 'test' }),
      two.addDomains(['last.com', 'middle.com', 'first.com'], { source: 'test' }),
    ];
    await untilWaiting(url, 2);
    await beside.query('rollback');
    const [first, second] = await Promise.all(adding);
    assert.equal((first?.added ?? 0) + (second?.added ?? 0), 3);
    assert.deepEqual((await one.due(new Date(), 10)).toSorted(), ['first.com', 'last.com', 'middle.com']);
  });
});
