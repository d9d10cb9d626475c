// Feeds that leave, in bites: others have their turn, a kill is gone on with, and nothing is counted twice or for ever.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type Store } from './index.ts';
import { A, assertCounts, B, keepFrom, later, subscribed, T0 } from './test/feed-store.ts';
import { exec, kept, onEach } from './test/places.ts';
import { poll } from './test/polls.ts';

const named = (items: number, each: number, tag = 'k') =>
  Array.from({ length: items }, (_, i) => ({
    key: `${tag}${i}`,
    domains: Array.from({ length: each }, (_, at) => `d${(i * each + at) % 4_000}.com`),
  }));

/** As a kill right after the mark leaves it. */
function mark(url: string, feedId: number, into: number | null): Promise<void> {
  return exec(url, `UPDATE feeds SET status = 'leaving', merges_into = ${into} WHERE id = ${feedId}`);
}

/** How often somebody else could read before this was over. */
async function readsDuring(store: Store, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ending = work.finally(() => {
    isOver = true;
  });
  let reads = 0;
  for (; !isOver; reads += 1) {
    await store.feeds.summary();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ending;
  return reads;
}

onEach(kept, 'a feed that leaves', (place) => {
  it('keeps nobody waiting, when it is removed or becomes one with another', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await store.feeds.record(a, poll(A, named(500, 10)), { at: T0, keepFrom });
    await store.feeds.record(b, poll(B, named(300, 10)), { at: T0, keepFrom });
    const merging = store.feeds.record(a, poll(B, []), { at: later(1), keepFrom });
    const reads = await readsDuring(store, merging);
    assert.equal((await merging).kind, 'merged');
    assert.ok(reads > 5, `${reads} reads`);
    await assertCounts(url);
    assert.deepEqual([(await store.feeds.find(B))?.items, (await store.feeds.find(B))?.mentions], [500, 5_000]);
    const removing = store.feeds.remove(B);
    assert.ok((await readsDuring(store, removing)) > 5);
    await assertCounts(url);
    assert.equal((await store.feeds.summary()).mentions, 0);
  });

  it('says nothing any more from the first moment, and is gone on with after a kill', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await store.feeds.record(a, poll(A, named(20, 2)), { at: T0, keepFrom });
    await store.feeds.record(b, poll(B, named(3, 1)), { at: T0, keepFrom });
    await mark(url, a, null);
    assert.equal((await store.feeds.mentions.since(0, 1_000)).length, 3);
    assert.equal((await store.feeds.mentions.page({ at: 0, id: 0 }, { upToId: 1_000, limit: 100 })).length, 3);
    assert.equal((await store.feeds.find(A))?.isLeaving, true);
    assert.deepEqual(await store.feeds.countDue(later(100)), 1);
    assert.equal((await store.feeds.record(a, poll(A, named(1, 1, 'late')), { at: T0, keepFrom })).kind, 'removed');
    const { active, gone } = await store.feeds.summary();
    assert.deepEqual([active, gone], [1, 0]);
    await store.feeds.finishLeaving();
    assert.equal(await store.feeds.find(A), undefined);
    await assertCounts(url);
  });

  it('hands on to the feed that its heir becomes one with, and to none that was removed', async () => {
    for (const last of ['merged', 'removed'] as const) {
      const url = await place.fresh();
      await using store = await openStore(url);
      const C = 'https://c.example/feed';
      const [a = 0, b = 0, c = 0] = await subscribed(store, A, B, C);
      await store.feeds.record(a, poll(A, named(20, 2, 'a')), { at: T0, keepFrom });
      await store.feeds.record(b, poll(B, named(20, 2, 'b')), { at: T0, keepFrom });
      await mark(url, a, b);
      if (last === 'removed') await store.feeds.remove(B);
      else await store.feeds.record(b, poll(C, []), { at: later(1), keepFrom });
      const epoch = await store.feeds.mentions.epoch();
      await store.feeds.finishLeaving();
      await assertCounts(url);
      const feeds = await store.feeds.list({ after: 0, limit: 10 });
      assert.deepEqual(
        feeds.map(({ id, items }) => [id, items]),
        [[c, last === 'merged' ? 40 : 0]],
      );
      assert.equal((await store.feeds.mentions.epoch()) > epoch, last === 'merged');
    }
  });

  it('does not become one with a feed that leaves', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0, b = 0] = await subscribed(store, A, B);
    await mark(url, a, b);
    assert.equal((await store.feeds.record(b, poll(A, []), { at: T0, keepFrom })).kind, 'recorded');
    await store.feeds.finishLeaving();
    assert.equal((await store.feeds.find(B))?.id, b);
  });
});

onEach(kept, 'what grows old', (place) => {
  it('goes in bites that are small however much an item names', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0] = await subscribed(store, A);
    await store.feeds.record(a, poll(A, named(12, 400)), { at: T0, keepFrom });
    const bites: number[] = [];
    for (let bite = await store.feeds.forget(later(1), 200); bite > 0; bite = await store.feeds.forget(later(1), 200))
      bites.push(bite);
    assert.deepEqual(bites, Array(12).fill(1));
    await assertCounts(url);
  });
});
