// Feeds that are removed, in batches: other requests go on, a kill is recovered from, and nothing is counted twice or for ever.
import assert from 'node:assert/strict';
import { A, assertCounts, B, later, readsDuring, recordPoll, subscribed } from './test/feed-store.ts';
import { exec, kept, onEach } from './test/places.ts';
import { poll } from './test/polls.ts';

const named = (items: number, each: number, tag = 'k') =>
  Array.from({ length: items }, (_, i) => ({
    key: `${tag}${i}`,
    domains: Array.from({ length: each }, (_, at) => `d${(i * each + at) % 4_000}.com`),
  }));

/** As a kill right after the mark leaves it. */
const mark = (url: string, feedId: number, into: number | null) =>
  exec(url, `UPDATE feeds SET status = 'leaving', merges_into = ${into} WHERE id = ${feedId}`);

onEach(kept, 'a feed that leaves', (_place, test) => {
  test('keeps no request waiting, when it is removed or merged with another', async (store, url) => {
    const { feeds } = store;
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await recordPoll(store, a, poll(A, named(500, 10)));
    await recordPoll(store, b, poll(B, named(300, 10)));
    const merging = recordPoll(store, a, poll(B, []), later(1));
    const reads = await readsDuring(store, merging);
    assert.equal((await merging).kind, 'merged');
    assert.ok(reads > 5, `${reads} reads`);
    await assertCounts(url);
    assert.partialDeepStrictEqual(await feeds.find(B), { items: 500, mentions: 5_000 });
    assert.ok((await readsDuring(store, feeds.remove(B))) > 5);
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
    assert.deepEqual([(await feeds.find(A))?.isLeaving, await feeds.countDue(later(100))], [true, 1]);
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
