// Feeds in the store: what is kept of a poll, what is read of it again, and that every read goes by an index.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FeedTable } from './feeds.ts';
import { openStore } from './index.ts';
import { A, B, keepFrom, later, subscribed, T0 } from './test/feed-store.ts';
import { databases, file, kept, onEach } from './test/places.ts';
import { plansOf } from './test/plans.ts';
import { poll } from './test/polls.ts';

onEach(databases, 'feeds', (place) => {
  it('are subscribed once, due at once, and asked again when they were given up', async () => {
    await using store = await openStore(await place.fresh());
    const due = async (at: Date) => (await store.feeds.due(at, { limit: 10 })).map(({ url }) => url);
    const added = await store.feeds.add([{ url: A, title: 'A' }, { url: B }, { url: A }], T0);
    assert.deepEqual(added, { added: 2, known: 1, revived: 0, refused: 0 });
    assert.deepEqual(await due(T0), [A, B]);
    const [first] = await store.feeds.list({ after: 0, limit: 1 });
    assert.equal(first?.state.title, 'A');
    const rest = await store.feeds.list({ after: first?.id ?? 0, limit: 5 });
    assert.deepEqual(
      rest.map(({ state }) => state.url),
      [B],
    );
    await store.feeds.record(first?.id ?? 0, poll(A, null, { status: 'gone', error: 'gone' }), { at: T0, keepFrom });
    assert.deepEqual(await due(later(100)), [B]);
    assert.equal((await store.feeds.add([{ url: A }], later(1))).revived, 1);
    assert.equal((await store.feeds.find(A))?.state.error, null);
  });

  it('keep the state of a poll, its new items and what they name', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    const state = {
      ...{ etag: '"x"', title: 'T', nextPollAt: later(1).getTime(), failures: 0, lastNewAt: T0.getTime() },
      ...{ readAt: T0.getTime(), ttlMs: 60_000, skipHours: [0, 7, 23], skipDays: [0, 6] },
    };
    const read = poll(A, [{ key: '1', at: '2026-02-28T00:00:00Z', domains: ['x.com', 'y.com'] }, { key: '2' }], state);
    const recorded = await store.feeds.record(a, read, { at: T0, keepFrom });
    assert.deepEqual(recorded, { kind: 'recorded', items: 2, mentions: 2 });
    assert.deepEqual((await store.feeds.find(A))?.state, read.state);
    const { lastPollAt, ...summary } = await store.feeds.summary();
    assert.deepEqual(summary, { active: 1, gone: 0, polled: 1, failing: 0, items: 2, mentions: 2 });
    assert.deepEqual(lastPollAt, T0);
    const [mention] = await store.feeds.mentions.since(0, 1);
    assert.deepEqual([mention?.domain, mention?.at, mention?.feedId], ['x.com', Date.parse('2026-02-28'), a]);
  });

  it('are named at the item’s date, when it was found where it has none, and never in the future', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    const items = [
      { key: 'past', at: '2026-02-01T00:00:00Z', domains: ['past.com'] },
      { key: 'none', domains: ['none.com'] },
      { key: 'future', at: '2031-01-01T00:00:00Z', domains: ['future.com'] },
      { key: 'ancient', at: '1999-01-01T00:00:00Z', domains: ['ancient.com'] },
    ];
    await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
    const at = new Map((await store.feeds.mentions.since(0, 10)).map((mention) => [mention.domain, mention.at]));
    assert.deepEqual(Object.fromEntries(at), {
      'past.com': Date.parse('2026-02-01'),
      'none.com': T0.getTime(),
      'future.com': T0.getTime(),
    });
  });

  it('take hostile texts within their bounds', async () => {
    await using store = await openStore(await place.fresh());
    assert.equal((await store.feeds.add([{ url: `https://x.example/${'a'.repeat(5_000)}` }], T0)).refused, 1);
    const [a = 0] = await subscribed(store, A);
    const long = '😀'.repeat(100_000);
    const items = ['__proto__', 'constructor', "'; drop table feeds --"].map((key) => ({
      key,
      title: long,
      url: `https://x.example/${long}`,
      domains: ['__proto__', 'x.com', 'x.com'],
    }));
    const read = poll(A, items, { error: long, etag: long, title: long, siteUrl: long });
    assert.equal((await store.feeds.record(a, read, { at: T0, keepFrom })).mentions, 6);
    const { state } = (await store.feeds.find(A)) ?? {};
    assert.ok(state?.error && state.error.length <= 500 && state.error.isWellFormed());
    assert.deepEqual([state?.etag, state?.siteUrl, state?.title?.length], [null, null, 300]);
    const [feed] = await store.feeds.mentions.feedsNaming('x.com', 5);
    assert.deepEqual([feed?.latest.url, feed?.latest.title?.length], [null, 300]);
  });

  it('tell of a domain who names it and when, most often first, with the latest item', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const named = (title: string, at: string) => ({ key: title, at, domains: ['x.com'], title });
    const options = { at: T0, keepFrom };
    await store.feeds.record(a, poll(A, [named('a1', '2026-02-03')]), options);
    await store.feeds.record(b, poll(B, [named('b1', '2026-02-02'), named('b2', '2026-02-01')]), options);
    const [firstAt, lastAt] = [new Date('2026-02-01'), new Date('2026-02-03')];
    assert.deepEqual(await store.feeds.mentions.domain('x.com'), { mentions: 3, feeds: 2, firstAt, lastAt });
    const feeds = (await store.feeds.mentions.feedsNaming('x.com', 10)).map(
      ({ url, mentions, latest }) => `${url} ${mentions} ${latest.title} ${latest.publishedAt?.toISOString()}`,
    );
    assert.deepEqual(feeds, [`${B} 2 b1 2026-02-02T00:00:00.000Z`, `${A} 1 a1 2026-02-03T00:00:00.000Z`]);
    assert.equal(await store.feeds.mentions.domain('nobody.com'), undefined);
    assert.deepEqual(await store.feeds.mentions.feedsNaming('nobody.com', 10), []);
  });

  it('hand on each domain that they name, the latest first, until it was offered', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    const items = [
      { key: '1', domains: ['known.com', 'x.com'] },
      { key: '2', domains: ['y.com'] },
    ];
    await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
    await store.addDomains(['known.com'], { source: 'list' });
    const waiting = async (limit: number) => (await store.feeds.offers.waiting(limit)).map(({ name }) => name);
    assert.deepEqual(await waiting(2), ['y.com', 'x.com']);
    const all = await store.feeds.offers.waiting(10);
    assert.equal(all.map(({ isTracked }) => isTracked).join(), 'false,false,true');
    await store.feeds.offers.done(all.slice(0, 2), T0);
    await store.feeds.record(a, poll(A, [{ key: '3', domains: ['x.com'] }]), { at: later(1), keepFrom });
    assert.deepEqual(await waiting(10), ['known.com']);
  });

  it('give so many names a day to the scan, whoever asks', async () => {
    await using store = await openStore(await place.fresh());
    const take = (names: string[], day: string) => store.feeds.offers.take(names, { day, perDay: 3 });
    assert.deepEqual(await take(['a', 'b'], '2026-03-01'), ['a', 'b']);
    assert.deepEqual(await take(['c', 'd'], '2026-03-01'), ['c']);
    assert.deepEqual(await take(['e'], '2026-03-01'), []);
    assert.deepEqual(await take(['e'], '2026-03-02'), ['e']);
  });
});

onEach(databases, 'mentions', (place) => {
  it('are paged through by number and by time without repeats', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    const items = Array.from({ length: 100 }, (_, i) => ({
      key: String(i),
      at: new Date(T0.getTime() - ((i * 7) % 10) * 3_600_000).toISOString(),
      domains: [`d${i}.com`],
    }));
    await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
    const upToId = await store.feeds.mentions.latestId();
    await store.feeds.record(a, poll(A, [{ key: 'more', domains: ['more.com'] }]), { at: T0, keepFrom });
    const seen: number[] = [];
    let after = { at: T0.getTime() - 5 * 3_600_000, id: -1 };
    for (;;) {
      const page = await store.feeds.mentions.page(after, { upToId, limit: 7 });
      const last = page.at(-1);
      if (!last) break;
      seen.push(...page.map(({ id }) => id));
      after = last;
    }
    assert.deepEqual([seen.length, new Set(seen).size], [60, 60]);
    const [more, ...others] = await store.feeds.mentions.since(upToId, 10);
    assert.deepEqual([more?.domain, others], ['more.com', []]);
  });
});

onEach(kept, 'reading feeds', (place) => {
  it('goes by an index wherever a request or a poll waits for it', async () => {
    const url = await place.fresh();
    {
      await using store = await openStore(url);
      // One of them is removed below: what is left is enough for an index to be worth it.
      const others = Array.from({ length: 200 }, (_, i) => `https://c${i}.example/feed`);
      const [a = 0, , c = 0] = await subscribed(store, A, B, ...others);
      const items = Array.from({ length: 300 }, (_, i) => ({ key: String(i), domains: ['x.com', `d${i}.com`] }));
      await store.feeds.record(a, poll(A, items), { at: T0, keepFrom });
      await store.feeds.record(c, poll(others[0] ?? '', items), { at: later(48), keepFrom });
      await store.feeds.offers.done(await store.feeds.offers.waiting(290), T0);
    }
    const plans = await plansOf(url, async (db) => {
      const feeds = new FeedTable(db);
      await feeds.due(T0, { limit: 10 });
      await feeds.due(T0, { after: { dueAt: 0, id: 1 }, limit: 10 });
      await feeds.claim(2, { now: T0, until: later(1) });
      await feeds.release(2, { now: T0, until: later(1) });
      await feeds.list({ after: 0, limit: 10 });
      await feeds.find(A);
      await feeds.mentions.latestId();
      await feeds.mentions.since(3, 10);
      await feeds.mentions.page({ at: 0, id: 0 }, { upToId: 100, limit: 10 });
      await feeds.mentions.domain('x.com');
      await feeds.mentions.feedsNaming('x.com', 10);
      await feeds.record(1, poll(A, [{ key: 'new', domains: ['x.com'] }, { key: '1' }]), { at: later(1), keepFrom });
      await feeds.forget(later(24), 10);
      await feeds.record(1, poll(B, [{ key: 'last', domains: ['x.com'] }]), { at: later(2), keepFrom });
      await feeds.remove(B);
      await feeds.offers.waiting(10);
      await feeds.offers.done([{ id: 1 }], T0);
    });
    assert.ok(plans.length >= 36);
    for (const { sql, scans, isSorted, text } of plans) {
      const isPaged = / order by "(id|feed_mentions"\."id)" (desc )?limit/.test(sql);
      // Lists that were given along, and an index of nothing but what is asked for.
      const fine = ['json_each', 'pair', 'sum', 'named_domains by named_domains_unoffered'];
      // SQLite's statistics do not know that hardly any feed leaves; nothing here has it make them.
      if (place === file && sql.includes('"merges_into"')) fine.push('feeds');
      const read = scans.filter((scan) => !fine.includes(scan));
      if (!isPaged) assert.deepEqual(read, [], `${sql}\n${text}`);
      assert.equal(isSorted, false, `${sql}\n${text}`);
    }
  });
});
