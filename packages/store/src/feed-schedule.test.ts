// Which feeds there are to poll, and when: lists taken in, pages of what is due, claims, and clocks that are wrong.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { A, B, keepFrom, later, subscribed, T0 } from './test/feed-store.ts';
import { databases, onEach } from './test/places.ts';
import { poll } from './test/polls.ts';

onEach(databases, 'subscriptions', (place) => {
  it('are added from a list without asking again what was given up, or has moved', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0, b = 0] = await subscribed(store, A, B);
    const moved = 'https://moved.example/feed';
    await store.feeds.record(a, poll(A, null, { status: 'gone' }), { at: T0, keepFrom });
    await store.feeds.record(b, poll(moved, []), { at: T0, keepFrom });
    const list = [{ url: A }, { url: B }, { url: moved }];
    const none = { added: 0, known: 3, revived: 0, refused: 0 };
    assert.deepEqual(await store.feeds.add(list, later(1), { isReviving: false }), none);
    await subscribed(store, B);
    const [, , again] = await store.feeds.list({ after: 0, limit: 5 });
    assert.equal(again?.state.url, B, 'one who asks for it has it');
    await store.feeds.record(again?.id ?? 0, poll(moved, []), { at: later(1), keepFrom });
    assert.deepEqual(await store.feeds.add(list, later(1), { isReviving: false }), none);
    await store.feeds.remove(moved);
    assert.equal((await store.feeds.add(list, later(1), { isReviving: false })).added, 2);
  });

  it('are added by the ten thousand, while others read and have their turn', async () => {
    await using store = await openStore(await place.fresh());
    const feeds = Array.from({ length: 10_000 }, (_, i) => ({ url: `https://h${i % 9_000}.example/feed` }));
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 1);
    const adding = store.feeds.add(feeds, T0);
    const { active } = await store.feeds.summary();
    assert.deepEqual(await adding, { added: 9_000, known: 1_000, revived: 0, refused: 0 });
    clearInterval(turning);
    assert.ok(turns > 5 && active < 9_000, `${turns} turns, ${active} feeds`);
  });

  it('are due a page at a time, each once, and are claimed by one alone', async () => {
    await using store = await openStore(await place.fresh());
    const urls = Array.from({ length: 25 }, (_, i) => `https://h${i}.example/`);
    const ids = await subscribed(store, ...urls);
    const seen: number[] = [];
    for (let page = await store.feeds.due(T0, { limit: 10 }); page.length > 0; ) {
      seen.push(...page.map(({ id }) => id));
      const after = page.at(-1);
      page = after ? await store.feeds.due(T0, { after, limit: 10 }) : [];
    }
    assert.deepEqual(seen, ids);
    const [a = 0] = ids;
    const claim = { now: T0, until: later(1) };
    assert.equal((await store.feeds.claim(a, claim))?.state.url, urls[0]);
    assert.equal(await store.feeds.claim(a, claim), undefined);
    assert.equal(await store.feeds.countDue(T0), 24);
    await store.feeds.release(a, claim);
    assert.equal(await store.feeds.countDue(T0), 25);
    await store.feeds.claim(a, claim);
    assert.equal(await store.feeds.countDue(later(1)), 25, 'who was killed keeps it for no longer');
  });

  it('neither wait for a clock that was ahead, nor are asked without end when it goes back', async () => {
    await using store = await openStore(await place.fresh());
    const [a = 0] = await subscribed(store, A);
    const year = 24 * 365;
    const ahead = poll(A, [], { etag: '"ahead"', nextPollAt: later(year + 1).getTime() });
    await store.feeds.record(a, ahead, { at: later(year), keepFrom });
    assert.deepEqual([(await store.feeds.due(T0, { limit: 5 })).length, await store.feeds.countDue(T0)], [1, 1]);
    assert.ok(await store.feeds.claim(a, { now: T0, until: later(0.1) }));
    await store.feeds.record(a, poll(A, [], { etag: '"right"', nextPollAt: later(1).getTime() }), {
      at: T0,
      keepFrom,
    });
    assert.equal((await store.feeds.find(A))?.state.etag, '"right"');
    const back = { at: later(-0.1), keepFrom };
    await store.feeds.record(a, poll(A, [], { nextPollAt: later(1.5).getTime() }), back);
    assert.equal((await store.feeds.find(A))?.state.nextPollAt, later(1.5).getTime());
  });
});
