// What a poll brought: given twice it changes nothing, broken off it leaves a feed that is due, and every count stays that of the rows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { openStore } from './index.ts';
import { A, assertCounts, B, dump, keepFrom, later, subscribed, T0 } from './test/feed-store.ts';
import { file, kept, onEach } from './test/places.ts';
import { poll } from './test/polls.ts';

/** Items that name ten domains each, of three thousand. */
const many = (items: number) =>
  Array.from({ length: items }, (_, i) => ({
    key: String(i),
    domains: Array.from({ length: 10 }, (_, at) => `d${(i * 7 + at * 13) % 3_000}.com`),
  }));

onEach(kept, 'the outcome of a poll', (place) => {
  it('changes nothing when it is given twice, or cannot be written', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0] = await subscribed(store, A);
    const read = poll(A, [
      { key: '1', domains: ['x.com'] },
      { key: '2', domains: ['x.com', 'y.com'] },
    ]);
    await store.feeds.record(a, read, { at: T0, keepFrom });
    const before = await dump(url);
    const again = await store.feeds.record(a, read, { at: T0, keepFrom });
    assert.deepEqual([again.items, again.mentions], [0, 0]);
    assert.deepEqual(await dump(url), before);
    const broken = poll(A, [{ key: '3', domains: ['z.com'] }, { key: null as unknown as string }]);
    await assert.rejects(store.feeds.record(a, broken, { at: later(1), keepFrom }));
    assert.deepEqual(await dump(url), before, 'what cannot be written leaves nothing');
    await store.feeds.record(a, poll(`https://x.example/${'a'.repeat(5_000)}`, []), { at: later(1), keepFrom });
    assert.equal((await store.feeds.find(A))?.id, a, 'an address too long to be kept is not taken');
  });

  it('adds its items and nothing else when a later one was there first', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0] = await subscribed(store, A);
    await store.feeds.record(a, poll(A, [{ key: '2' }], { etag: '"late"' }), { at: later(0.1), keepFrom });
    await store.feeds.record(a, poll(A, [{ key: '1' }], { etag: '"early"' }), { at: T0, keepFrom });
    const feed = await store.feeds.find(A);
    assert.deepEqual([feed?.state.etag, feed?.items, feed?.polledAt], ['"late"', 2, later(0.1)]);
    await assertCounts(url);
  });

  it('is lost without harm when the feed was removed meanwhile', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0] = await subscribed(store, A);
    await store.feeds.record(a, poll(A, [{ key: '1', domains: ['x.com'] }]), { at: T0, keepFrom });
    const epoch = await store.feeds.mentions.epoch();
    assert.deepEqual([await store.feeds.remove(A), await store.feeds.remove(A)], [true, false]);
    assert.ok((await store.feeds.mentions.epoch()) > epoch);
    const lost = await store.feeds.record(a, poll(A, [{ key: '2' }]), { at: T0, keepFrom });
    assert.equal(lost.kind, 'removed');
    assert.deepEqual((await dump(url)).flat(), []);
  });

  it('moves a feed to its new address, and merges it with the one that was there', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const moved = 'https://moved.example/feed';
    const item = (key: string, ...domains: string[]) => ({ key, domains });
    const options = { at: T0, keepFrom };
    await store.feeds.record(a, poll(moved, [item('1', 'x.com', 'y.com'), item('2', 'x.com')]), options);
    assert.equal((await store.feeds.find(moved))?.id, a);
    await store.feeds.record(b, poll(B, [item('2', 'x.com'), item('3', 'z.com')]), options);
    const leads = poll(B, [{ key: '4', domains: ['w.com'] }], { etag: '"new"' });
    assert.equal((await store.feeds.record(a, leads, { at: later(1), keepFrom })).kind, 'merged');
    await assertCounts(url);
    assert.equal(await store.feeds.find(moved), undefined);
    const feed = await store.feeds.find(B);
    assert.deepEqual([feed?.id, feed?.items, feed?.mentions, feed?.state.etag], [b, 4, 5, '"new"']);
    assert.equal((await store.feeds.mentions.domain('x.com'))?.feeds, 1);
    const again = await store.feeds.record(a, leads, { at: later(1), keepFrom });
    assert.equal(again.kind, 'removed', 'and a second time nothing');
  });

  it('may bring a thousand items that name many, while others read and have their turn', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 1);
    let isRecorded = false;
    const recording = store.feeds.record(a, poll(A, many(1_000)), { at: T0, keepFrom }).finally(() => {
      isRecorded = true;
    });
    let reads = 0;
    for (; !isRecorded; reads += 1) {
      await store.feeds.find(A);
      await new Promise((resolve) => setImmediate(resolve));
    }
    clearInterval(turning);
    assert.equal((await recording).mentions, 10_000);
    assert.ok(reads > 10 && turns > 5, `${reads} reads, ${turns} turns`);
    assert.equal(await store.feeds.remove(A), true);
    assert.equal((await store.feeds.summary()).mentions, 0);
  });

  it('that broke off is due as before, and brings the rest the next time', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0] = await subscribed(store, A);
    const items = many(300);
    const broken = poll(A, [...items.slice(0, 200), { key: null as unknown as string }, ...items.slice(200)]);
    await assert.rejects(store.feeds.record(a, broken, { at: T0, keepFrom }));
    assert.equal(await store.feeds.countDue(T0), 1);
    const due = await store.feeds.find(A);
    assert.ok(due && due.items > 0 && due.items < 300 && due.polledAt === null, `${due?.items}`);
    await assertCounts(url);
    const rest = await store.feeds.record(a, poll(A, items), { at: later(1), keepFrom });
    assert.equal(due.items + rest.items, 300);
    await assertCounts(url);
  });
});

onEach(kept, 'what grows old', (place) => {
  it('is dropped in bites, with what it named; an item without a date stays as long as it stands in its feed', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const [a = 0] = await subscribed(store, A);
    const items = Array.from({ length: 30 }, (_, i) => ({
      key: String(i),
      at: new Date(T0.getTime() - i * 86_400_000).toISOString(),
      domains: [`d${i % 4}.com`, `only${i}.com`],
    }));
    await store.feeds.record(a, poll(A, [...items, { key: 'undated', domains: ['u.com'] }]), { at: T0, keepFrom });
    const before = later(-24 * 9.5);
    const bites: number[] = [];
    for (let bite = await store.feeds.forget(before, 7); bite > 0; bite = await store.feeds.forget(before, 7))
      bites.push(bite);
    assert.deepEqual(bites, [7, 7, 6]);
    await assertCounts(url);
    assert.equal(await store.feeds.mentions.domain('only20.com'), undefined);

    await store.feeds.record(a, poll(A, [{ key: 'undated', domains: ['u.com'] }]), { at: later(24 * 40), keepFrom });
    while ((await store.feeds.forget(later(24 * 39), 100)) > 0);
    assert.equal((await store.feeds.find(A))?.items, 1);
    await assertCounts(url);
  });

  it('is not taken in again from a feed that still has it', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    const old = poll(A, [{ key: 'old', at: '2026-01-01T00:00:00Z', domains: ['x.com'] }]);
    await store.feeds.record(a, old, { at: T0, keepFrom });
    const cut = new Date('2026-02-01T00:00:00Z');
    assert.equal(await store.feeds.forget(cut, 10), 1);
    assert.equal((await store.feeds.record(a, old, { at: later(1), keepFrom: cut })).items, 0);
  });
});

onEach(kept, 'any run of polls, moves, removals and bites', (place) => {
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
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('poll' as const), feed, to: feed, items }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), feed }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('forget' as const), days: fc.integer({ min: 0, max: 60 }) }),
    },
  );

  it('leaves every count as a count of the rows gives it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const url = await place.fresh();
        await using store = await openStore(url);
        for (const [at, each] of steps.entries()) {
          if (each.kind === 'forget') await store.feeds.forget(later(-24 * each.days), 3);
          else if (each.kind === 'remove') await store.feeds.remove(feedUrl(each.feed));
          else {
            const [id = 0] = await subscribed(store, feedUrl(each.feed));
            await store.feeds.record(id, poll(feedUrl(each.to), each.items), { at: later(at), keepFrom });
          }
        }
        await assertCounts(url);
        const { items, mentions } = await store.feeds.summary();
        const rows = await dump(url);
        assert.deepEqual([items, mentions], [rows[1]?.length, rows[2]?.length]);
      }),
      // A database of its own for each run: those of a server take longer to make.
      { numRuns: place === file ? 40 : 8 },
    );
  });
});
