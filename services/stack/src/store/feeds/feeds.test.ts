// Feeds in the store: what is stored of a poll and read of it, which are to be polled and when, and that every read uses an index.
import assert from 'node:assert/strict';
import { file, kept, onEach, plansOf } from '../test/backends.ts';
import { A, B, duringWork, keepFrom, later, recordPoll, subscribed, T0 } from '../test/feed-store.ts';
import { poll } from '../test/records.ts';
import { FeedTable } from './feeds.ts';

onEach(kept, 'feeds', (_backend, test) => {
  test('are subscribed once, due at once, and polled again when they were given up', async (store) => {
    const { feeds } = store;
    const due = async (at: Date) => (await feeds.schedule.due(at, { limit: 10 })).map(({ url }) => url);
    const added = await feeds.add([{ url: A, title: 'A' }, { url: B }, { url: A }], T0);
    assert.deepEqual([added, await due(T0)], [{ added: 2, known: 1, revived: 0, refused: 0 }, [A, B]]);
    const [first, ...none] = await feeds.list({ after: 0, limit: 1 });
    assert.ok(first?.state.title === 'A' && none.length === 0);
    assert.equal((await feeds.list({ after: first.id, limit: 5 })).map(({ state }) => state.url).join(), B);
    await recordPoll(store, first.id, poll(A, null, { status: 'gone', error: 'gone' }));
    assert.deepEqual([await due(later(100)), (await feeds.add([{ url: A }], later(1))).revived], [[B], 1]);
    assert.equal((await feeds.find(A))?.state.error, null);
  });

  test('keep the state of a poll, its new items and what they name, also when the next one fails', async (store) => {
    const { feeds } = store;
    const [a = 0] = await subscribed(store, A);
    const state = {
      ...{ etag: '"x"', title: 'T', nextPollAt: later(1).getTime(), failures: 0, lastNewAt: T0.getTime() },
      ...{ readAt: T0.getTime(), ttlMs: 60_000, skipHours: [0, 7, 23], skipDays: [0, 6] },
    };
    const read = poll(A, [{ key: '1', at: '2026-02-28T00:00:00Z', domains: ['x.com', 'y.com'] }, { key: '2' }], state);
    assert.deepEqual(await recordPoll(store, a, read), { kind: 'recorded', items: 2, mentions: 2 });
    assert.deepEqual((await feeds.find(A))?.state, read.state);
    const counts = { active: 1, gone: 0, polled: 1, failing: 0, items: 2, mentions: 2 };
    assert.deepEqual(await feeds.summary(), { ...counts, lastPollAt: T0 });
    const mention = { domain: 'x.com', at: Date.parse('2026-02-28'), feedId: a };
    assert.partialDeepStrictEqual((await feeds.mentions.since(0, 1))[0], mention);
    await recordPoll(store, a, poll(A, null, { failures: 1, error: 'not a feed' }), later(1));
    assert.partialDeepStrictEqual(await feeds.summary(), { failing: 1, items: 2, mentions: 2 });
  });

  test('mention at the item’s date, when it was found where it has none, and never in the future', async (store) => {
    const [a = 0] = await subscribed(store, A);
    const item = (key: string, at?: string) => ({ key, at: at ?? null, domains: [`${key}.com`] });
    const dated = [item('past', '2026-02-01'), item('future', '2031-01-01'), item('ancient', '1999-01-01')];
    await recordPoll(store, a, poll(A, [...dated, item('none')]));
    const at = (await store.feeds.mentions.since(0, 10)).map((mention) => [mention.domain, mention.at]);
    const now = T0.getTime();
    const expected = { 'past.com': Date.parse('2026-02-01'), 'none.com': now, 'future.com': now };
    assert.deepEqual(Object.fromEntries(at), expected);
  });

  test('take hostile texts within their limits', async (store) => {
    const { feeds } = store;
    assert.equal((await feeds.add([{ url: `https://x.example/${'a'.repeat(5_000)}` }], T0)).refused, 1);
    const [a = 0] = await subscribed(store, A);
    const long = '😀'.repeat(100_000);
    const item = { title: long, url: `https://x.example/${long}`, domains: ['__proto__', 'x.com', 'x.com'] };
    const items = ['__proto__', 'constructor', "'; drop table feeds --"].map((key) => ({ ...item, key }));
    const read = poll(A, items, { error: long, etag: long, title: long, siteUrl: long });
    assert.equal((await recordPoll(store, a, read)).mentions, 6);
    const { state } = (await feeds.find(A)) ?? {};
    assert.ok(state?.error && state.error.length <= 500 && state.error.isWellFormed());
    assert.deepEqual([state?.etag, state?.siteUrl, state?.title?.length], [null, null, 300]);
    const [feed] = await feeds.mentions.feedsNaming('x.com', 5);
    assert.deepEqual([feed?.latest.url, feed?.latest.title?.length], [null, 300]);
  });

  test('report which of them name a domain and when, most often first, with the latest item', async (store) => {
    const { mentions } = store.feeds;
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const named = (title: string, at: string) => ({ key: title, at, domains: ['x.com'], title });
    await recordPoll(store, a, poll(A, [named('a1', '2026-02-03')]));
    await recordPoll(store, b, poll(B, [named('b1', '2026-02-02'), named('b2', '2026-02-01')]));
    const [firstAt, lastAt] = [new Date('2026-02-01'), new Date('2026-02-03')];
    assert.deepEqual(await mentions.domain('x.com'), { mentions: 3, feeds: 2, firstAt, lastAt });
    const feeds = (await mentions.feedsNaming('x.com', 10)).map(
      ({ url, mentions, latest }) => `${url} ${mentions} ${latest.title} ${latest.publishedAt?.toISOString()}`,
    );
    assert.deepEqual(feeds, [`${B} 2 b1 2026-02-02T00:00:00.000Z`, `${A} 1 a1 2026-02-03T00:00:00.000Z`]);
    const rest = await mentions.feedsNaming('x.com', 10, [2, b]);
    const urls = rest.map(({ url }) => url);
    assert.deepEqual(urls, [A], 'those after the first');
    assert.equal(await mentions.domain('unnamed.com'), undefined);
    assert.deepEqual(await mentions.feedsNaming('unnamed.com', 10), []);
  });

  test('offer each domain that they name, the latest first, once', async (store) => {
    const { offers } = store.feeds;
    const [a = 0] = await subscribed(store, A);
    const item = (key: string, ...domains: string[]) => ({ key, domains });
    await recordPoll(store, a, poll(A, [item('1', 'known.com', 'x.com'), item('2', 'y.com')]));
    await store.domains.add(['known.com'], { source: 'list' });
    const waiting = async (limit: number) => (await offers.waiting(limit)).map(({ name }) => name);
    assert.deepEqual(await waiting(2), ['y.com', 'x.com']);
    const all = await offers.waiting(10);
    assert.equal(all.map(({ isTracked }) => isTracked).join(), 'false,false,true');
    await offers.done(all.slice(0, 2), T0);
    await recordPoll(store, a, poll(A, [item('3', 'x.com')]), later(1));
    assert.deepEqual(await waiting(10), ['known.com']);
  });

  test('give a limited number of names a day to the scan', async ({ feeds }) => {
    const take = (names: string[], day: number) => feeds.offers.take(names, { day: `2026-03-0${day}`, perDay: 3 });
    assert.deepEqual([await take(['a', 'b'], 1), await take(['c', 'd'], 1)], [['a', 'b'], ['c']]);
    assert.deepEqual([await take(['e'], 1), await take(['e'], 2)], [[], ['e']]);
  });

  test('have mentions that are paged through by number and by time without repeats', async (store) => {
    const { mentions } = store.feeds;
    const [a = 0] = await subscribed(store, A);
    const at = (i: number) => later(-((i * 7) % 10)).toISOString();
    const items = Array.from({ length: 100 }, (_, i) => ({ key: String(i), at: at(i), domains: [`d${i}.com`] }));
    await recordPoll(store, a, poll(A, items));
    const upToId = await mentions.latestId();
    await recordPoll(store, a, poll(A, [{ key: 'more', domains: ['more.com'] }]));
    const found = [{ at: later(-5).getTime(), id: -1 }];
    for (let read = 1; read > 0; ) {
      const page = await mentions.page(found.at(-1) ?? assert.fail(), { upToId, limit: 7 });
      found.push(...page);
      read = page.length;
    }
    assert.deepEqual([found.length, new Set(found.map(({ id }) => id)).size], [61, 61]);
    assert.equal((await mentions.since(upToId, 10)).map(({ domain }) => domain).join(), 'more.com');
  });
});

onEach(kept, 'subscriptions', (_backend, test) => {
  test('are added from a list without reviving what was given up, or has moved', async (store) => {
    const { feeds } = store;
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const moved = 'https://moved.example/feed';
    const list = [A, B, moved].map((url) => ({ url }));
    const addList = () => feeds.add(list, later(1), { isReviving: false });
    await recordPoll(store, a, poll(A, null, { status: 'gone' }));
    await recordPoll(store, b, poll(moved, []));
    const none = { added: 0, known: 3, revived: 0, refused: 0 };
    assert.deepEqual(await addList(), none);
    await subscribed(store, B);
    const [, , again] = await feeds.list({ after: 0, limit: 5 });
    assert.equal(again?.state.url, B, 'a user who asks for it has it');
    await recordPoll(store, again?.id ?? 0, poll(moved, []), later(1));
    assert.deepEqual(await addList(), none);
    await feeds.remove(moved);
    assert.equal((await addList()).added, 2);
  });

  test('are added by the ten thousand, while other requests go on', async (store) => {
    const list = Array.from({ length: 10_000 }, (_, i) => ({ url: `https://h${i % 9_000}.example/feed` }));
    const adding = store.feeds.add(list, T0);
    const [{ active }, { ticks }] = await Promise.all([store.feeds.summary(), duringWork(store, adding)]);
    assert.deepEqual(await adding, { added: 9_000, known: 1_000, revived: 0, refused: 0 });
    assert.ok(ticks > 5 && active < 9_000, `${ticks} ticks, ${active} feeds`);
  });

  test('are due a page at a time, each once, and are claimed by one alone', async (store) => {
    const { feeds } = store;
    const urls = Array.from({ length: 25 }, (_, i) => `https://h${i}.example/`);
    const [ids, due] = [await subscribed(store, ...urls), await feeds.schedule.due(T0, { limit: 10 })];
    for (let after = due.at(-1); after; ) {
      const page = await feeds.schedule.due(T0, { after, limit: 10 });
      due.push(...page);
      after = page.at(-1);
    }
    const found = due.map(({ id }) => id);
    assert.deepEqual(found, ids);
    const [a = 0] = ids;
    const claim = { now: T0, until: later(1) };
    const actual = [(await feeds.schedule.claim(a, claim))?.state.url, await feeds.schedule.claim(a, claim)];
    assert.deepEqual(actual, [urls[0], undefined]);
    assert.equal(await feeds.schedule.countDue(T0), 24);
    await feeds.schedule.release(a, claim);
    assert.equal(await feeds.schedule.countDue(T0), 25);
    await feeds.schedule.claim(a, claim);
    assert.equal(await feeds.schedule.countDue(later(1)), 25, 'the claim of a killed process ends');
  });

  test('neither wait for a clock that was ahead, nor are polled again and again when it goes back', async (store) => {
    const { feeds } = store;
    const [a = 0] = await subscribed(store, A);
    const year = 24 * 365;
    const nextPollAt = (hours: number) => later(hours).getTime();
    await recordPoll(store, a, poll(A, [], { etag: '"ahead"', nextPollAt: nextPollAt(year + 1) }), later(year));
    assert.deepEqual([(await feeds.schedule.due(T0, { limit: 5 })).length, await feeds.schedule.countDue(T0)], [1, 1]);
    assert.ok(await feeds.schedule.claim(a, { now: T0, until: later(0.1) }));
    await recordPoll(store, a, poll(A, [], { etag: '"right"', nextPollAt: nextPollAt(1) }));
    assert.equal((await feeds.find(A))?.state.etag, '"right"');
    await recordPoll(store, a, poll(A, [], { nextPollAt: nextPollAt(1.5) }), later(-0.1));
    assert.equal((await feeds.find(A))?.state.nextPollAt, nextPollAt(1.5));
  });
});

onEach(kept, 'reading feeds', (backend, test) => {
  test('uses an index wherever a request or a poll waits for it', async (store, url) => {
    // One of them is removed below; enough remain for the planner to use an index.
    const further = Array.from({ length: 200 }, (_, i) => `https://c${i}.example/feed`);
    const [a = 0, , c = 0] = await subscribed(store, A, B, ...further);
    const items = Array.from({ length: 300 }, (_, i) => ({ key: String(i), domains: ['x.com', `d${i}.com`] }));
    await recordPoll(store, a, poll(A, items));
    await recordPoll(store, c, poll(further[0] ?? '', items), later(48));
    await store.feeds.offers.done(await store.feeds.offers.waiting(290), T0);
    const plans = await plansOf(url, async (db) => {
      const feeds = new FeedTable(db);
      await feeds.schedule.due(T0, { limit: 10 });
      await feeds.schedule.due(T0, { after: { dueAt: 0, id: 1 }, limit: 10 });
      await feeds.schedule.claim(2, { now: T0, until: later(1) });
      await feeds.schedule.release(2, { now: T0, until: later(1) });
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
      // Lists passed as parameters, and a partial index of the queried rows.
      const allowed = ['pair', 'sum', 'named_domains by named_domains_unoffered'];
      // SQLite has no statistics here that few feeds are leaving.
      if (backend === file && sql.includes('"merges_into"')) allowed.push('feeds');
      const read = scans.filter((scan) => !allowed.includes(scan));
      if (!isPaged) assert.deepEqual(read, [], `${sql}\n${text}`);
      // A list that was passed keeps its order.
      assert.ok(!isSorted || sql.endsWith('order by position'), `${sql}\n${text}`);
    }
  });
});
