// Several processes on one server, each with connections of its own, all writing at once: it comes out as if they had taken
// turns, and who follows a log meanwhile misses nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type Store, type StoredEvent } from './index.ts';
import { connect, untilWaiting } from './test/connections.ts';
import { assertCounts, later, subscribed, T0 } from './test/feed-store.ts';
import { onEach, postgres } from './test/places.ts';
import { poll } from './test/polls.ts';
import { assertAsOneAfterAnother } from './test/replay.ts';
import { confirm, day, exchangeOn, GOOGLE, scanOf } from './test/scans.ts';

const STORES = 3;

/** Opens so many stores on one database. */
async function openMany(url: string) {
  const stores = await Promise.all(Array.from({ length: STORES }, () => openStore(url, { poolSize: 4 })));
  return Object.assign(stores as [Store, Store, Store], {
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store[Symbol.asyncDispose]();
    },
  });
}

/** Reads on from the last number until all is written and read. */
async function follow<T>(
  read: (after: number) => Promise<readonly T[]>,
  numberOf: (one: T) => number,
  work: Promise<unknown>,
) {
  const seen: T[] = [];
  let isOver = false;
  const ending = work.finally(() => {
    isOver = true;
  });
  for (let isLast = false; ; ) {
    const last = seen.at(-1);
    const page = await read(last === undefined ? 0 : numberOf(last));
    seen.push(...page);
    if (isLast && page.length === 0) break;
    isLast = isOver;
  }
  await ending;
  return seen;
}

const followEvents = (store: Store, work: Promise<unknown>) =>
  follow<StoredEvent>(
    (seq) => store.eventsSince(seq, 3),
    ({ seq }) => seq,
    work,
  );

onEach([postgres], 'several stores', ({ fresh }) => {
  it('record the same and different domains at once as if one after another', async () => {
    const url = await fresh();
    await using stores = await openMany(url);
    const [reader] = stores;
    const scans = Array.from({ length: 8 }, (_, n) =>
      ['same.com', `d${n % 3}.com`].map((name) => ({ name, n })),
    ).flat();
    const writing = Promise.all(
      stores.map((store, at) =>
        Promise.all(
          // Each in another order.
          [...scans.slice(at * 5), ...scans.slice(0, at * 5)].map(({ name, n }) =>
            store.recordScan(scanOf(name, day(n), exchangeOn(n)), confirm),
          ),
        ),
      ),
    );
    const followed = await followEvents(reader, writing);
    assert.deepEqual(followed, await reader.eventsSince(0, 10_000), 'nothing was skipped, nothing came twice');
    assert.equal((await reader.counts()).scans, STORES * scans.length);
    await assertAsOneAfterAnother(url, reader);
  });

  it('tell events, scans and mentions that a follower sees without a gap', async () => {
    const url = await fresh();
    await using stores = await openMany(url);
    const [reader] = stores;
    const at = T0;
    const feeds = stores.map((_, who) => `https://f${who}.example/`);
    const ids = await subscribed(reader, ...feeds);
    const keepFrom = new Date(0);
    const writing = Promise.all(
      stores.flatMap((store, who) =>
        Array.from({ length: 12 }, async (_, n) => {
          const facts = { value: 1, mean: 1, stddev: 1, sigma: 1, window_days: 1, samples: 1, chance: 1 };
          const anomaly = { at, subjectKind: 'domain', metric: 'm', severity: 'low' } as const;
          await store.signals.addAnomaly({
            ...anomaly,
            ...{ id: `an_${n}`, subject: `d${n}.com`, facts: { ...facts, direction: 'up' } },
          });
          await store.recordScan(scanOf(`s${who}-${n}.com`, day(n), GOOGLE), confirm);
          const items = [{ key: String(n), domains: ['everybodys.com', `d${n}.com`] }];
          await store.feeds.record(ids[who] ?? 0, poll(feeds[who] ?? '', items), { at, keepFrom });
          const payload = { advisoryId: `CVE-${n}`, reason: 'published' } as const;
          await store.advisories.tell(`CVE-${n}`, { at, domain: '', kind: 'advisory-touched', payload });
        }),
      ),
    );
    const events = followEvents(reader, writing);
    const idOf = ({ id }: { readonly id: number }) => id;
    const scans = follow((id) => reader.feed.scansSince(id, 3), idOf, writing);
    const mentions = follow((id) => reader.feeds.mentions.since(id, 3), idOf, writing);
    assert.deepEqual(await events, await reader.eventsSince(0, 10_000));
    assert.deepEqual(await mentions, await reader.feeds.mentions.since(0, 10_000));
    assert.equal((await mentions).length, 2 * 12 * STORES);
    await assertCounts(url);
    assert.deepEqual(await scans, await reader.feed.scansSince(0, 10_000));
    // What several said was told once.
    const kinds = Map.groupBy(await events, ({ kind }) => kind);
    const counts = Object.fromEntries([...kinds].map(([kind, some]) => [kind, some.length]));
    assert.deepEqual(counts, { 'advisory-touched': 12, 'anomaly-found': 12, 'domain-changed': 12 * STORES });
  });

  it('count to a limit exactly: keys of an address, names a day', async () => {
    await using stores = await openMany(await fresh());
    const many = <T>(ask: (store: Store) => Promise<T>) =>
      Promise.all(stores.flatMap((store) => Array.from({ length: 25 }, () => ask(store))));
    const keys = await many((store) => store.keys.issue('192.0.2.1', { perDay: 7 }));
    assert.equal(keys.filter((key) => key !== undefined).length, 7);
    const names = await many((store) => store.feeds.offers.take(['a.com', 'b.com'], { day: '2026-01-01', perDay: 31 }));
    assert.equal(names.flat().length, 31);
  });

  it('claim a feed, or lease a source, each for one of them alone', async () => {
    await using stores = await openMany(await fresh());
    const [one] = stores;
    const ids = await subscribed(one, ...Array.from({ length: 20 }, (_, n) => `https://f${n}.example/`));
    const claims = await Promise.all(
      ids.flatMap((id) => stores.map((store, who) => store.feeds.claim(id, { now: T0, until: later(1 + who) }))),
    );
    assert.deepEqual(
      claims.flatMap((feed) => feed?.id ?? []).sort((a, b) => a - b),
      ids.toSorted((a, b) => a - b),
    );
    const owners = await Promise.all(
      stores.map((store, who) =>
        store.sources.begin('nvd', { startedAt: T0, now: T0, lease: { owner: `o${who}`, until: later(1) } }),
      ),
    );
    assert.equal(owners.filter((source) => source !== undefined).length, 1);
  });

  it('enter no receipt that was not seen, however many are kept meanwhile', async () => {
    await using stores = await openMany(await fresh());
    const [one] = stores;
    let isOver = false;
    const keeping = Promise.all(
      stores.flatMap((store, who) =>
        Array.from({ length: 20 }, (_, n) => {
          const receipts = Array.from({ length: 1 + (n % 2) }, (_, i) => `rwr_${who}-${n}-${i}`);
          return store.answers.keep(receipts.map((id) => ({ id, keyId: 'key_a', body: '{}' })));
        }),
      ),
    ).finally(() => {
      isOver = true;
    });
    const entered: string[] = [];
    for (let isLast = false; ; ) {
      const some = await one.answers.unentered(7);
      entered.push(...some.map(({ id }) => id));
      const last = some.at(-1);
      if (last) await one.answers.enter(last.seq, []);
      else if (isLast) break;
      isLast = isOver;
    }
    await keeping;
    assert.equal(entered.length, STORES * 30);
    assert.equal(new Set(entered).size, STORES * 30);
    assert.deepEqual(await one.answers.unentered(1), []);
  });

  it('show no receipt before one that has a smaller number', async () => {
    const url = await fresh();
    await using stores = await openMany(url);
    const [one, two] = stores;
    const receipt = (id: string) => ({ id, keyId: 'key_a', body: '{}' });
    await one.answers.keep([receipt('rwr_1')]);
    // Its number is given, and it waits to see whether there is another with its id.
    await using beside = await connect(url);
    await beside.query("begin; insert into answer_receipts (id, key_id, body) values ('rwr_2', 'key_a', '{}')");
    const slow = one.answers.keep([receipt('rwr_2')]);
    await untilWaiting(url, 1);
    const fast = two.answers.keep([receipt('rwr_3')]);
    await Promise.race([fast, untilWaiting(url, 2)]);
    const seen = await one.answers.unentered(10);
    const entering = two.answers.enter(seen.at(-1)?.seq ?? 0, []);
    await beside.query('rollback');
    await Promise.all([slow, fast, entering]);
    const rest = await one.answers.unentered(10);
    assert.deepEqual([...seen, ...rest].map(({ id }) => id).sort(), ['rwr_1', 'rwr_2', 'rwr_3']);
  });

  it('add the same names in another order without standing in one another’s way', async () => {
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
    const added = await Promise.all(adding);
    assert.equal(added[0]?.added ?? 0, 3 - (added[1]?.added ?? 0));
    assert.deepEqual((await one.due(new Date(), 10)).toSorted(), ['first.com', 'last.com', 'middle.com']);
  });
});
