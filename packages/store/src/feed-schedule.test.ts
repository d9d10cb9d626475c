// Which feeds are to be polled, and when: lists that are imported, pages of what is due, claims, and clocks that are wrong.
import assert from 'node:assert/strict';
import { A, B, later, recordPoll, subscribed, T0 } from './test/feed-store.ts';
import { databases, onEach } from './test/places.ts';
import { poll } from './test/polls.ts';

onEach(databases, 'subscriptions', (_place, test) => {
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

  test('are added by the ten thousand, while other requests go on', async ({ feeds }) => {
    const list = Array.from({ length: 10_000 }, (_, i) => ({ url: `https://h${i % 9_000}.example/feed` }));
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 1);
    const adding = feeds.add(list, T0);
    const { active } = await feeds.summary();
    assert.deepEqual(await adding, { added: 9_000, known: 1_000, revived: 0, refused: 0 });
    clearInterval(ticking);
    assert.ok(ticks > 5 && active < 9_000, `${ticks} ticks, ${active} feeds`);
  });

  test('are due a page at a time, each once, and are claimed by one alone', async (store) => {
    const { feeds } = store;
    const urls = Array.from({ length: 25 }, (_, i) => `https://h${i}.example/`);
    const ids = await subscribed(store, ...urls);
    const due = await feeds.due(T0, { limit: 10 });
    for (let after = due.at(-1); after; ) {
      const page = await feeds.due(T0, { after, limit: 10 });
      due.push(...page);
      after = page.at(-1);
    }
    const found = due.map(({ id }) => id);
    assert.deepEqual(found, ids);
    const [a = 0] = ids;
    const claim = { now: T0, until: later(1) };
    assert.equal((await feeds.claim(a, claim))?.state.url, urls[0]);
    assert.equal(await feeds.claim(a, claim), undefined);
    assert.equal(await feeds.countDue(T0), 24);
    await feeds.release(a, claim);
    assert.equal(await feeds.countDue(T0), 25);
    await feeds.claim(a, claim);
    assert.equal(await feeds.countDue(later(1)), 25, 'the claim of a killed process ends');
  });

  test('neither wait for a clock that was ahead, nor are polled again and again when it goes back', async (store) => {
    const { feeds } = store;
    const [a = 0] = await subscribed(store, A);
    const year = 24 * 365;
    const nextPollAt = (hours: number) => later(hours).getTime();
    await recordPoll(store, a, poll(A, [], { etag: '"ahead"', nextPollAt: nextPollAt(year + 1) }), later(year));
    assert.deepEqual([(await feeds.due(T0, { limit: 5 })).length, await feeds.countDue(T0)], [1, 1]);
    assert.ok(await feeds.claim(a, { now: T0, until: later(0.1) }));
    await recordPoll(store, a, poll(A, [], { etag: '"right"', nextPollAt: nextPollAt(1) }));
    assert.equal((await feeds.find(A))?.state.etag, '"right"');
    await recordPoll(store, a, poll(A, [], { nextPollAt: nextPollAt(1.5) }), later(-0.1));
    assert.equal((await feeds.find(A))?.state.nextPollAt, nextPollAt(1.5));
  });
});
