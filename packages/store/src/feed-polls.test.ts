// The outcome of a poll: recorded twice it changes nothing, interrupted it leaves a feed that is due, and every count stays that of the
// rows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { openStore } from './index.ts';
import { A, assertCounts, B, dump, later, readsDuring, recordPoll, subscribed, T0 } from './test/feed-store.ts';
import { file, kept, onEach } from './test/places.ts';
import { poll } from './test/polls.ts';

const item = (key: string, ...domains: string[]) => ({ key, domains });
/** No database takes it. */
const REFUSED = item(null as unknown as string);
/** Items that name ten domains each, of three thousand. */
const many = (items: number) =>
  Array.from({ length: items }, (_, i) =>
    item(String(i), ...Array.from({ length: 10 }, (_, at) => `d${(i * 7 + at * 13) % 3_000}.com`)),
  );

onEach(kept, 'the outcome of a poll', (_place, test) => {
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
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 1);
    const recording = recordPoll(store, a, poll(A, many(1_000)));
    const reads = await readsDuring(store, recording);
    clearInterval(ticking);
    assert.equal((await recording).mentions, 10_000);
    assert.ok(reads > 10 && ticks > 5, `${reads} reads, ${ticks} ticks`);
    assert.equal(await store.feeds.remove(A), true);
    assert.equal((await store.feeds.summary()).mentions, 0);
  });

  test('that was interrupted is due as before, and adds the rest the next time', async (store, url) => {
    const [a = 0] = await subscribed(store, A);
    const items = many(300);
    await assert.rejects(recordPoll(store, a, poll(A, [...items.slice(0, 200), REFUSED, ...items.slice(200)])));
    assert.equal(await store.feeds.countDue(T0), 1);
    const due = await store.feeds.find(A);
    assert.ok(due && due.items > 0 && due.items < 300 && due.polledAt === null, `${due?.items}`);
    await assertCounts(url);
    const rest = await recordPoll(store, a, poll(A, items), later(1));
    assert.equal(due.items + rest.items, 300);
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

onEach(kept, 'any sequence of polls, moves, removals and deletions', (place) => {
  const feedUrl = (at: number) => `https://f${at}.example/`;
  const items = fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: 6 }).map(String),
      at: fc.option(fc.integer({ min: 0, max: 60 }).map((days) => later(-24 * days).toISOString())),
      domains: fc.uniqueArray(fc.constantFrom('a.com', 'b.com', 'c.com', '__proto__')),
    }),
    { maxLength: 6 },
  );
  const feed = fc.integer({ min: 0, max: 3 });
  const days = fc.integer({ min: 0, max: 60 });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('poll' as const), feed, to: feed, items }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), feed }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), days }) },
  );

  it('leaves every count as a count of the rows gives it', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const url = await place.fresh();
      await using store = await openStore(url);
      for (const [at, each] of steps.entries()) {
        if (each.kind === 'forget') await store.feeds.forget(later(-24 * each.days), 3);
        else if (each.kind === 'remove') await store.feeds.remove(feedUrl(each.feed));
        else {
          const [id = 0] = await subscribed(store, feedUrl(each.feed));
          await recordPoll(store, id, poll(feedUrl(each.to), each.items), later(at));
        }
      }
      await assertCounts(url);
      const { items, mentions } = await store.feeds.summary();
      const rows = await dump(url);
      assert.deepEqual([items, mentions], [rows[1]?.length, rows[2]?.length]);
    });
    // A database of its own for each run: those of a server take longer to make.
    await fc.assert(property, { numRuns: place === file ? 40 : 8 });
  });
});
