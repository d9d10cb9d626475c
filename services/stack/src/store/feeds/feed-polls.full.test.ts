// Polls, moves, removals and deletions in any sequence.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { file, kept, onEach } from '../test/backends.ts';
import { assertCounts, dump, later, recordPoll, subscribed } from '../test/feed-store.ts';
import { poll } from '../test/records.ts';

onEach(kept, 'any sequence of polls, moves, removals and deletions', (backend, test) => {
  const feedUrl = (at: number) => `https://f${at}.example/`;
  const upTo = (max: number) => fc.integer({ min: 0, max });
  const at = fc.option(upTo(60).map((days) => later(-24 * days).toISOString()));
  const domains = fc.uniqueArray(fc.constantFrom('a.com', 'b.com', 'c.com', '__proto__'));
  const items = fc.array(fc.record({ key: upTo(6).map(String), at, domains }), { maxLength: 6 });
  const feed = upTo(3);
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ feed, to: feed, items }) },
    { weight: 1, arbitrary: fc.record({ removed: feed }) },
    { weight: 1, arbitrary: fc.record({ days: upTo(60) }) },
  );

  test('leaves every count as a count of the rows gives it', async (store, url) => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      for (const [at, each] of steps.entries()) {
        if ('days' in each) await store.feeds.forget(later(-24 * each.days), 3);
        else if ('removed' in each) await store.feeds.remove(feedUrl(each.removed));
        else {
          const [id = 0] = await subscribed(store, feedUrl(each.feed));
          await recordPoll(store, id, poll(feedUrl(each.to), each.items), later(at));
        }
      }
      await assertCounts(url);
      const [, items, mentions] = await dump(url);
      assert.partialDeepStrictEqual(await store.feeds.summary(), { items: items?.length, mentions: mentions?.length });
      for (let each = 0; each <= 3; each += 1) await store.feeds.remove(feedUrl(each));
      assert.deepEqual((await dump(url)).flat(), [], 'nothing is left for the next run');
    });
    await fc.assert(property, { numRuns: backend === file ? 40 : 8 });
  });
});
