// The tally against a plain count of the same mentions, whatever comes and however days pass, and its two tables.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { NameNumbers } from './counted-domains.ts';
import { FeedPairs, NEVER, NO_CAPACITY } from './feed-pairs.ts';
import { type Mention, MentionTally, type MentionWindow, TALLY_DAYS, WINDOW_NAMES, WINDOWS } from './mention-tally.ts';

const DAY_MS = 86_400_000;
const BEGIN = Date.parse('2026-03-01T00:00:00Z');
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** What the definitions say, counted from all mentions. */
function naive(mentions: readonly Mention[], now: number, window: MentionWindow) {
  const length = WINDOWS[window];
  const within = (ago: number) => {
    const counted = mentions.filter(({ at }) => Math.floor((dayOf(now) - dayOf(at)) / length) === ago);
    return Map.groupBy(counted, ({ domain }) => domain);
  };
  const [current, before] = [within(0), within(1)];
  const rank = (all: typeof current, count: number) => 1 + [...all.values()].filter((of) => of.length > count).length;
  const leaders = Array.from(current, ([domain, named]) => {
    const held = before.get(domain)?.length ?? 0;
    const feeds = new Set(named.map(({ feedId }) => feedId)).size;
    const previousRank = held === 0 ? null : rank(before, held);
    return { rank: rank(current, named.length), domain, mentions: named.length, feeds, previousRank };
  }).sort((a, b) => b.mentions - a.mentions || (a.domain < b.domain ? -1 : 1));
  return { total: current.size, mentions: [...current.values()].flat().length, leaders };
}

const names = ['a.com', 'b.com', 'c.com', 'd.com', '__proto__', 'constructor', 'e.com', 'f.com'];
const mention = fc.record({
  kind: fc.constant('mention' as const),
  domain: fc.constantFrom(...names),
  feedId: fc.integer({ min: 1, max: 4 }),
  age: fc.integer({ min: 0, max: 70 * 24 }),
});
const sleep = fc.record({ kind: fc.constant('sleep' as const), hours: fc.integer({ min: 1, max: 24 * 80 }) });
const step = fc.oneof({ weight: 12, arbitrary: mention }, { weight: 1, arbitrary: sleep });

const tallyOf = (options: { maxDomains?: number } = {}) => new MentionTally({ now: BEGIN, ...options });

it('the tally of mentions says of every window, domain and day what a plain count says', () =>
  holds(150, [fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 10 })], (steps, limit) => {
    let now = BEGIN;
    const tally = tallyOf();
    const mentions: Mention[] = [];
    for (const each of steps) {
      if (each.kind === 'sleep') {
        now += each.hours * 3_600_000;
        tally.moveTo(now);
        continue;
      }
      const { domain, feedId, age } = each;
      mentions.push({ domain, feedId, at: now - age * 3_600_000 });
      tally.add({ domain, feedId, at: now - age * 3_600_000 });
    }
    const kept = mentions.filter(({ at }) => dayOf(at) > dayOf(now) - TALLY_DAYS);
    assert.equal(tally.size, new Set(kept.map(({ domain }) => domain)).size);
    for (const window of WINDOW_NAMES) {
      const expected = naive(kept, now, window);
      assert.deepEqual(tally.leaderboard(window, limit), { ...expected, leaders: expected.leaders.slice(0, limit) });
    }
    for (const domain of names) {
      const { windows, days } = tally.domain(domain, 30);
      for (const window of WINDOW_NAMES) {
        const found = naive(kept, now, window).leaders.find((leader) => leader.domain === domain);
        const { mentions: count, feeds } = windows[window];
        assert.deepEqual([count, feeds], [found?.mentions ?? 0, found?.feeds ?? 0]);
      }
      const ofDay = (age: number) =>
        kept.filter((each) => each.domain === domain && dayOf(each.at) === dayOf(now) - age).length;
      for (const [i, count] of days.entries()) assert.equal(count, ofDay(29 - i));
    }
    const total = tally.perDay(30).reduce((sum, day) => sum + day.mentions, 0);
    assert.equal(total, naive(kept, now, '30d').mentions);
  }));
it('the tally of mentions counts days that hold more than a byte does', () => {
  const tally = tallyOf();
  for (let i = 0; i < 1_000; i += 1) tally.add({ domain: 'a.com', feedId: i % 7, at: BEGIN });
  tally.moveTo(BEGIN + DAY_MS);
  for (let i = 0; i < 5_000; i += 1) tally.add({ domain: 'b.com', feedId: 1, at: BEGIN + DAY_MS });
  const [b, a] = tally.leaderboard('7d', 5).leaders;
  assert.deepEqual([b?.domain, b?.mentions, a?.domain, a?.mentions, a?.feeds], ['b.com', 5_000, 'a.com', 1_000, 7]);
  assert.deepEqual(tally.domain('a.com', 2).days, [1_000, 0]);
  tally.moveTo(BEGIN + 2 * DAY_MS);
  assert.deepEqual(tally.domain('b.com', 3).days, [0, 5_000, 0]);
  assert.deepEqual(tally.leaderboard('1d', 5), { total: 0, mentions: 0, leaders: [] });
});
it('the tally of mentions limits its domains, counts dropped mentions, and has capacity again after domains are released', () => {
  const tally = tallyOf({ maxDomains: 3 });
  for (const [feedId, domain] of ['a.com', 'b.com', 'c.com', 'd.com', 'a.com'].entries())
    tally.add({ domain, feedId, at: BEGIN });
  assert.deepEqual([tally.size, tally.dropped, tally.domain('d.com', 1).days], [3, 1, [0]]);
  tally.moveTo(BEGIN + TALLY_DAYS * DAY_MS);
  assert.equal(tally.size, 0);
  tally.add({ domain: 'd.com', feedId: 1, at: BEGIN + TALLY_DAYS * DAY_MS });
  assert.equal(tally.leaderboard('1d', 1).leaders[0]?.domain, 'd.com');
});
it('the tally of mentions is moved by the clock alone: a mention of a day to come counts as today’s', () => {
  const tally = tallyOf();
  tally.add({ domain: 'today.com', feedId: 1, at: BEGIN });
  assert.equal(tally.hasEarly, false);
  tally.add({ domain: 'a.com', feedId: 1, at: BEGIN + 40 * DAY_MS });
  assert.equal(tally.hasEarly, true);
  const order = tally.leaderboard('1d', 5).leaders.map(({ domain }) => domain);
  assert.deepEqual(order, ['a.com', 'today.com']);
  assert.equal(tally.perDay(1)[0]?.day, dayOf(BEGIN));
  assert.equal(tally.moveTo(BEGIN - 5 * DAY_MS), false);
  assert.deepEqual([tally.isAheadOf(BEGIN - 1), tally.isAheadOf(BEGIN - 2 * DAY_MS)], [false, true]);
  assert.equal(tally.domain('a.com', 1).days[0], 1);
});
it('the tally of mentions keeps capacity for other feeds when one feed mentions domains without end', () => {
  const tally = tallyOf({ maxDomains: 160 });
  for (let i = 0; i < 500; i += 1) tally.add({ domain: `junk${i}.com`, feedId: 1, at: BEGIN - 2 * DAY_MS });
  assert.deepEqual([tally.size, tally.dropped], [10, 490]);
  tally.add({ domain: 'real.com', feedId: 2, at: BEGIN });
  tally.add({ domain: 'real.com', feedId: 1, at: BEGIN });
  const [first] = tally.leaderboard('1d', 1).leaders;
  assert.deepEqual([first?.domain, first?.mentions, first?.feeds], ['real.com', 2, 2]);
  // What fell silent is no longer held against the feed that brought it.
  tally.moveTo(BEGIN + 62 * DAY_MS);
  assert.equal(tally.size, 1);
  tally.add({ domain: 'late.com', feedId: 1, at: BEGIN + 62 * DAY_MS });
  assert.equal(tally.size, 2);
});
it('the tally of mentions begins a day of very many domains, and keeps the first of equal ones in the order of their names', () => {
  const tally = tallyOf();
  const many = 200_000;
  for (let i = 0; i < many; i += 1) tally.add({ domain: `d${(i * 7_919) % many}.com`, feedId: i % 50, at: BEGIN });
  const startedAt = performance.now();
  const { total, leaders } = tally.leaderboard('7d', 1_000);
  const sorted = Array.from({ length: many }, (_, i) => `d${i}.com`).sort();
  const found = leaders.map(({ domain }) => domain);
  assert.deepEqual([total, found], [many, sorted.slice(0, 1_000)]);
  for (let day = 1; day <= 4; day += 1) tally.moveTo(BEGIN + day * DAY_MS);
  // Some hundred milliseconds; time that grows with the square would not end.
  assert.ok(performance.now() - startedAt < 20_000);
  assert.equal(tally.leaderboard('7d', 1).total, many);
});

const UNBOUNDED = { max: Number.POSITIVE_INFINITY, maxOfFeed: Number.POSITIVE_INFINITY };

it('pairs of feed and domain know the latest day of each, however many there are', () => {
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
it('pairs of feed and domain are limited in total and for each feed, and have capacity again after old ones are dropped', () => {
  const pairs = new FeedPairs({ max: 30, maxOfFeed: 20 });
  const add = (domain: number, feed: number, day: number, oldest = 0) => pairs.add({ domain, feed, day, oldest });
  const refused = (feed: number, day: number) =>
    Array.from({ length: 25 }, (_, domain) => add(domain, feed, day)).filter((each) => each === NO_CAPACITY).length;
  assert.deepEqual([refused(1, 5), refused(2, 6)], [5, 15]);
  assert.equal(add(0, 1, 7), 5, 'what is known is still kept up');
  assert.equal(add(99, 3, 7, 5), NO_CAPACITY);
  assert.equal(add(99, 3, 7, 6), NEVER, 'nineteen of the first feed are forgotten');
  assert.equal(pairs.size, 12);
});
it('pairs of feed and domain do not grow while new ones replace old ones', () => {
  const pairs = new FeedPairs(UNBOUNDED);
  for (let day = 0; day < 400; day += 1)
    for (let domain = 0; domain < 500; domain += 1)
      pairs.add({ domain: day * 500 + domain, feed: 1, day, oldest: day - 3 });
  assert.ok(pairs.size < 6_000, `${pairs.size}`);
});

it('a name keeps its number until it is released, regardless of other names', () => {
  const step = fc.record({ isAdded: fc.boolean(), names: fc.array(fc.nat(6_000), { maxLength: 1_500 }) });
  holds(30, [fc.array(step, { minLength: 5, maxLength: 15 })], (steps) => {
    const numbers = new NameNumbers();
    const plain = new Map<string, number>();
    for (const { isAdded, names } of steps) {
      const chosen = [...new Set(names.map((name) => `n${name}.com`))];
      if (isAdded) for (const name of chosen) plain.set(name, numbers.find(name) ?? numbers.add(name));
      else {
        const dropped = chosen.filter((name) => plain.has(name));
        numbers.drop(dropped.map((name) => plain.get(name) as number));
        for (const name of dropped) plain.delete(name);
      }
      for (let i = 0; i <= 6_000; i += 1) assert.equal(numbers.find(`n${i}.com`), plain.get(`n${i}.com`));
      assert.equal(numbers.size, plain.size);
      assert.equal(new Set(plain.values()).size, plain.size);
    }
  });
});
