// The outcome of a poll, and feeds that are removed: recorded once, recovered if interrupted, with counts of rows. In any sequence:
// feed-polls.full.test.ts.
import assert from 'node:assert/strict';
import { exec, kept, onEach } from '../test/backends.ts';
import { A, assertCounts, B, dump, duringWork, later, recordPoll, subscribed, T0 } from '../test/feed-store.ts';
import { poll } from '../test/records.ts';

const item = (key: string, ...domains: string[]) => ({ key, domains });
/** Rejected by every database. */
const REFUSED = item(null as unknown as string);
/** Items that name ten domains each, of three thousand. */
const many = (items: number) =>
  Array.from({ length: items }, (_, i) =>
    item(String(i), ...Array.from({ length: 10 }, (_, at) => `d${(i * 7 + at * 13) % 3_000}.com`)),
  );

onEach(kept, 'the outcome of a poll', (_backend, test) => {
  test('changes nothing when it is recorded twice, or cannot be written', async (store, url) => {
    const [a = 0] = await subscribed(store, A);
    const read = poll(A, [item('1', 'x.com'), item('2', 'x.com', 'y.com')]);
    await recordPoll(store, a, read);
    const before = await dump(url);
    assert.deepEqual(await recordPoll(store, a, read), { kind: 'recorded', items: 0, mentions: 0 });
    assert.deepEqual(await dump(url), before);
    await assert.rejects(recordPoll(store, a, poll(A, [item('3', 'z.com'), REFUSED]), later(1)));
    assert.deepEqual(await dump(url), before, 'what cannot be written leaves nothing');
    await recordPoll(store, a, poll(`https://x.example/${'a'.repeat(5_000)}`, []), later(1));
    assert.equal((await store.feeds.find(A))?.id, a, 'an address too long to be stored is not taken');
  });

  test('adds its items and nothing else when a later one was there first', async (store, url) => {
    const [a = 0] = await subscribed(store, A);
    await recordPoll(store, a, poll(A, [item('2')], { etag: '"late"' }), later(0.1));
    await recordPoll(store, a, poll(A, [item('1')], { etag: '"early"' }));
    const feed = await store.feeds.find(A);
    assert.deepEqual([feed?.state.etag, feed?.items, feed?.polledAt], ['"late"', 2, later(0.1)]);
    await assertCounts(url);
  });

  test('is ignored when the feed has been removed', async (store, url) => {
    const { feeds } = store;
    const [a = 0] = await subscribed(store, A);
    await recordPoll(store, a, poll(A, [item('1', 'x.com')]));
    const epoch = await feeds.mentions.epoch();
    assert.deepEqual([await feeds.remove(A), await feeds.remove(A)], [true, false]);
    assert.ok((await feeds.mentions.epoch()) > epoch);
    assert.equal((await recordPoll(store, a, poll(A, [item('2')]))).kind, 'removed');
    assert.deepEqual((await dump(url)).flat(), []);
  });

  test('moves a feed to its new address, and merges it with the one that was there', async (store, url) => {
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const moved = 'https://moved.example/feed';
    await recordPoll(store, a, poll(moved, [item('1', 'x.com', 'y.com'), item('2', 'x.com')]));
    assert.equal((await store.feeds.find(moved))?.id, a);
    await recordPoll(store, b, poll(B, [item('2', 'x.com'), item('3', 'z.com')]));
    const redirected = poll(B, [item('4', 'w.com')], { etag: '"new"' });
    assert.equal((await recordPoll(store, a, redirected, later(1))).kind, 'merged');
    await assertCounts(url);
    assert.equal(await store.feeds.find(moved), undefined);
    const feed = await store.feeds.find(B);
    assert.deepEqual([feed?.id, feed?.items, feed?.mentions, feed?.state.etag], [b, 4, 5, '"new"']);
    assert.equal((await store.feeds.mentions.domain('x.com'))?.feeds, 1);
    assert.equal((await recordPoll(store, a, redirected, later(1))).kind, 'removed', 'and a second time nothing');
  });

  test('may have a thousand items that name many, while other requests go on', async (store) => {
    const [a = 0] = await subscribed(store, A);
    const recording = recordPoll(store, a, poll(A, many(1_000)));
    const { reads, ticks } = await duringWork(store, recording);
    assert.equal((await recording).mentions, 10_000);
    assert.ok(reads > 10 && ticks > 5, `${reads} reads, ${ticks} ticks`);
    assert.deepEqual([await store.feeds.remove(A), (await store.feeds.summary()).mentions], [true, 0]);
  });

  test('that was interrupted is due as before, and adds the rest the next time', async (store, url) => {
    const [a = 0] = await subscribed(store, A);
    const items = many(300);
    await assert.rejects(recordPoll(store, a, poll(A, [...items.slice(0, 200), REFUSED, ...items.slice(200)])));
    assert.equal(await store.feeds.schedule.countDue(T0), 1);
    const due = await store.feeds.find(A);
    assert.ok(due && due.items > 0 && due.items < 300 && due.polledAt === null, `${due?.items}`);
    await assertCounts(url);
    assert.equal((await recordPoll(store, a, poll(A, items), later(1))).items, 300 - due.items);
    await assertCounts(url);
  });

  test('that grows old is deleted in batches, an undated item only when its feed lacks it', async (store, url) => {
    const { feeds } = store;
    const [a = 0] = await subscribed(store, A);
    const items = Array.from({ length: 30 }, (_, i) => ({
      ...item(String(i), `d${i % 4}.com`, `only${i}.com`),
      at: later(-24 * i).toISOString(),
    }));
    await recordPoll(store, a, poll(A, [...items, item('undated', 'u.com')]));
    const deleted = [];
    for (let count = 1; count > 0; deleted.push(count)) count = await feeds.forget(later(-24 * 9.5), 7);
    assert.deepEqual(deleted, [7, 7, 6, 0]);
    await assertCounts(url);
    assert.equal(await feeds.mentions.domain('only20.com'), undefined);
    await recordPoll(store, a, poll(A, [item('undated', 'u.com')]), later(24 * 40));
    while ((await feeds.forget(later(24 * 39), 100)) > 0);
    assert.equal((await feeds.find(A))?.items, 1);
    await assertCounts(url);
  });

  test('that grew old is not added again from a feed that still has it', async (store) => {
    const [a = 0] = await subscribed(store, A);
    const old = poll(A, [{ ...item('old', 'x.com'), at: '2026-01-01T00:00:00Z' }]);
    await recordPoll(store, a, old);
    const cut = new Date('2026-02-01T00:00:00Z');
    assert.equal(await store.feeds.forget(cut, 10), 1);
    assert.equal((await store.feeds.record(a, old, { at: later(1), keepFrom: cut })).items, 0);
  });
});

const named = (items: number, each: number, tag = 'k') =>
  Array.from({ length: items }, (_, i) =>
    item(`${tag}${i}`, ...Array.from({ length: each }, (_, at) => `d${(i * each + at) % 4_000}.com`)),
  );

/** The state after a kill right after the mark. */
const mark = (url: string, feedId: number, into: number | null) =>
  exec(url, `UPDATE feeds SET status = 'leaving', merges_into = ${into} WHERE id = ${feedId}`);

onEach(kept, 'a feed that leaves', (_backend, test) => {
  test('keeps no request waiting, when it is removed or merged with another', async (store, url) => {
    const { feeds } = store;
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await recordPoll(store, a, poll(A, named(500, 10)));
    await recordPoll(store, b, poll(B, named(300, 10)));
    const merging = recordPoll(store, a, poll(B, []), later(1));
    const { reads } = await duringWork(store, merging);
    assert.equal((await merging).kind, 'merged');
    assert.ok(reads > 5, `${reads} reads`);
    await assertCounts(url);
    assert.partialDeepStrictEqual(await feeds.find(B), { items: 500, mentions: 5_000 });
    assert.ok((await duringWork(store, feeds.remove(B))).reads > 5);
    await assertCounts(url);
    assert.equal((await feeds.summary()).mentions, 0);
  });

  test('is hidden from the first moment, and removed after a kill', async (store, url) => {
    const { feeds } = store;
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await recordPoll(store, a, poll(A, named(20, 2)));
    await recordPoll(store, b, poll(B, named(3, 1)));
    await mark(url, a, null);
    assert.equal((await feeds.mentions.since(0, 1_000)).length, 3);
    assert.equal((await feeds.mentions.page({ at: 0, id: 0 }, { upToId: 1_000, limit: 100 })).length, 3);
    assert.deepEqual([(await feeds.find(A))?.isLeaving, await feeds.schedule.countDue(later(100))], [true, 1]);
    assert.equal((await recordPoll(store, a, poll(A, named(1, 1, 'late')))).kind, 'removed');
    assert.partialDeepStrictEqual(await feeds.summary(), { active: 1, gone: 0 });
    await feeds.finishLeaving();
    assert.equal(await feeds.find(A), undefined);
    await assertCounts(url);
  });

  for (const last of ['merged', 'removed'] as const)
    test(`that was to be merged with one that is ${last} itself goes with that`, async (store, url) => {
      const { feeds } = store;
      const C = 'https://c.example/feed';
      const [a = 0, b = 0, c = 0] = await subscribed(store, A, B, C);
      await recordPoll(store, a, poll(A, named(20, 2, 'a')));
      await recordPoll(store, b, poll(B, named(20, 2, 'b')));
      await mark(url, a, b);
      if (last === 'removed') await feeds.remove(B);
      else await recordPoll(store, b, poll(C, []), later(1));
      const epoch = await feeds.mentions.epoch();
      await feeds.finishLeaving();
      await assertCounts(url);
      const left = (await feeds.list({ after: 0, limit: 10 })).map(({ id, items }) => [id, items]);
      assert.deepEqual(left, [[c, last === 'merged' ? 40 : 0]]);
      assert.equal((await feeds.mentions.epoch()) > epoch, last === 'merged');
    });

  test('is not the target of a merge', async (store, url) => {
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await mark(url, a, b);
    assert.equal((await recordPoll(store, b, poll(A, []))).kind, 'recorded');
    await store.feeds.finishLeaving();
    assert.equal((await store.feeds.find(B))?.id, b);
  });

  test('and items that grow old are deleted in small batches, however much an item names', async (store, url) => {
    const [a = 0] = await subscribed(store, A);
    await recordPoll(store, a, poll(A, named(12, 400)));
    const deleted = [];
    for (let count = 1; count > 0; deleted.push(count)) count = await store.feeds.forget(later(1), 200);
    assert.deepEqual(deleted, [...Array(12).fill(1), 0]);
    await assertCounts(url);
  });
});
