// The tally against a plain count of the same mentions, whatever comes in whatever order and however days pass.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { type Mention, MentionTally, type MentionWindow, TALLY_DAYS, WINDOW_NAMES, WINDOWS } from './mention-tally.ts';

const DAY_MS = 86_400_000;
const BEGIN = Date.parse('2026-03-01T00:00:00Z');
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** What the definitions say, counted from all mentions. */
function naive(mentions: readonly Mention[], now: number, window: MentionWindow) {
  const today = dayOf(now);
  const length = WINDOWS[window];
  const within = (from: number, to: number) => mentions.filter(({ at }) => dayOf(at) > from && dayOf(at) <= to);
  const current = within(today - length, today);
  const before = within(today - 2 * length, today - length);
  const count = (some: readonly Mention[], domain: string) => some.filter((each) => each.domain === domain).length;
  const domains = [...new Set(current.map(({ domain }) => domain))];
  const previous = [...new Set(before.map(({ domain }) => domain))].map((domain) => count(before, domain));
  const sums = domains.map((domain) => count(current, domain));
  const leaders = domains
    .map((domain) => {
      const mentions = count(current, domain);
      const held = count(before, domain);
      return {
        rank: 1 + sums.filter((other) => other > mentions).length,
        ...{ domain, mentions },
        feeds: new Set(current.filter((each) => each.domain === domain).map(({ feedId }) => feedId)).size,
        previousRank: held === 0 ? null : 1 + previous.filter((other) => other > held).length,
      };
    })
    .sort((a, b) => b.mentions - a.mentions || (a.domain < b.domain ? -1 : 1));
  return { total: domains.length, mentions: current.length, leaders };
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

/** A tally that begins at `BEGIN`. */
const tallyOf = (options: { mostDomains?: number } = {}) => new MentionTally({ now: BEGIN, ...options });

describe('the tally of mentions', () => {
  it('says of every window, domain and day what a plain count says', () =>
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

  it('counts days that hold more than a byte does', () => {
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

  it('is bounded in its domains, says what it left out, and has room again when some fall silent', () => {
    const tally = tallyOf({ mostDomains: 3 });
    for (const [feedId, domain] of ['a.com', 'b.com', 'c.com', 'd.com', 'a.com'].entries())
      tally.add({ domain, feedId, at: BEGIN });
    assert.deepEqual([tally.size, tally.leftOut, tally.domain('d.com', 1).days], [3, 1, [0]]);
    tally.moveTo(BEGIN + TALLY_DAYS * DAY_MS);
    assert.equal(tally.size, 0);
    tally.add({ domain: 'd.com', feedId: 1, at: BEGIN + TALLY_DAYS * DAY_MS });
    assert.equal(tally.leaderboard('1d', 1).leaders[0]?.domain, 'd.com');
  });

  it('is moved by the clock alone: a mention of a day to come counts as today’s', () => {
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

  it('leaves room to the others when one feed names domains without end', () => {
    const tally = tallyOf({ mostDomains: 160 });
    for (let i = 0; i < 500; i += 1) tally.add({ domain: `junk${i}.com`, feedId: 1, at: BEGIN - 2 * DAY_MS });
    assert.deepEqual([tally.size, tally.leftOut], [10, 490]);
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

  it('begins a day of very many domains, and keeps the first of equal ones in the order of their names', () => {
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
});
