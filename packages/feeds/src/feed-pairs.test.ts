// Pairs of feed and domain against a plain map, and their bounds.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FeedPairs, NEVER, NO_ROOM } from './feed-pairs.ts';

const UNBOUNDED = { most: Number.POSITIVE_INFINITY, mostOfFeed: Number.POSITIVE_INFINITY };

describe('pairs of feed and domain', () => {
  it('know the latest day of each, however many there are', () => {
    const pairs = new FeedPairs(UNBOUNDED);
    const plain = new Map<string, number>();
    const naming = fc.record({ domain: fc.nat(3_000), feed: fc.nat(5), day: fc.integer({ min: 100, max: 163 }) });
    for (const { domain, feed, day } of fc.sample(naming, 20_000)) {
      const key = `${domain} ${feed}`;
      const before = plain.get(key);
      assert.equal(pairs.add({ domain, feed, day, oldest: 100 }), before ?? NEVER);
      plain.set(key, Math.max(before ?? 0, day));
    }
    assert.equal(pairs.size, plain.size);
  });

  it('are bounded in all and for each feed, and have room again when some grew old', () => {
    const pairs = new FeedPairs({ most: 30, mostOfFeed: 20 });
    const add = (domain: number, feed: number, day: number, oldest = 0) => pairs.add({ domain, feed, day, oldest });
    const refused = (feed: number, day: number) =>
      Array.from({ length: 25 }, (_, domain) => add(domain, feed, day)).filter((each) => each === NO_ROOM).length;
    assert.deepEqual([refused(1, 5), refused(2, 6)], [5, 15]);
    assert.equal(add(0, 1, 7), 5, 'what is known is still kept up');
    assert.equal(add(99, 3, 7, 5), NO_ROOM);
    assert.equal(add(99, 3, 7, 6), NEVER, 'nineteen of the first feed are forgotten');
    assert.equal(pairs.size, 12);
  });

  it('do not grow for ever while old ones make place for new ones', () => {
    const pairs = new FeedPairs(UNBOUNDED);
    for (let day = 0; day < 400; day += 1)
      for (let domain = 0; domain < 500; domain += 1)
        pairs.add({ domain: day * 500 + domain, feed: 1, day, oldest: day - 3 });
    assert.ok(pairs.size < 6_000, `${pairs.size}`);
  });
});
