import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Category } from '@strata/detect';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { compareText } from './compare-text.ts';
import { DAY_MS } from './daily-series.ts';
import { type Flow, MigrationLog } from './migration-log.ts';
import { DAYS, FIRST_DAY } from './test/random-changes.ts';
import { PROVIDERS } from './test/random-domains.ts';

type Move = Readonly<Record<'from' | 'to', string>> & { readonly at: number; readonly category: Category };
const provider = fc.constantFrom(...PROVIDERS);
const maybe = <T>(...values: T[]) => fc.option(fc.constantFrom<T[]>(...values), { nil: undefined });
const midnight = fc.nat(DAYS).map((day) => day * DAY_MS);
const moment = fc.oneof(fc.nat(DAYS * DAY_MS), midnight).map((ms) => FIRST_DAY * DAY_MS + ms);
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({ at: moment, category: fc.constantFrom('dns', 'email'), from: provider, to: provider }),
  { maxLength: 120, size: 'max' },
);
const questions = fc.array(
  fc.record({
    from: fc.nat(DAYS).map((day) => FIRST_DAY + day),
    days: fc.nat(DAYS),
    category: maybe<Category>('dns', 'email', 'cdn'),
    provider: maybe(...PROVIDERS, 'nobody'),
    direction: maybe<'in' | 'out'>('in', 'out'),
    other: maybe(...PROVIDERS, 'nobody'),
    limit: fc.integer({ min: 1, max: 40 }),
  }),
  { minLength: 1, maxLength: 6 },
);

function logOf(all: readonly Move[], log = new MigrationLog()): MigrationLog {
  for (const { at, category, from, to } of all) log.add(at, category, from, to);
  return log;
}

function flowsByHand(all: readonly Move[]): Flow[] {
  const flows = new Map<string, Flow>();
  for (const { category, from, to } of all) {
    const key = JSON.stringify([category, from, to]);
    flows.set(key, { category, from, to, domains: (flows.get(key)?.domains ?? 0) + 1 });
  }
  const nameOf = ({ category, from, to }: Flow) => [category, from, to].join(' ');
  return [...flows.values()].sort((a, b) => b.domains - a.domains || compareText(nameOf(a), nameOf(b)));
}

describe('the log of migrations', () => {
  it('tells who went where as a walk over all migrations does, while more come in', () =>
    holds(100, [moves, moves, questions], (before, later, asked) => {
      const log = logOf(before);
      const ask = (moved: readonly Move[]) => {
        for (const { from, days, limit, category, provider, direction, other } of asked) {
          const to = from + days;
          const isMeant = (move: Move) =>
            provider === undefined ||
            (direction !== 'out' && move.to === provider && (other ?? move.from) === move.from) ||
            (direction !== 'in' && move.from === provider && (other ?? move.to) === move.to);
          const fitting = moved
            .filter(({ at }) => at >= from * DAY_MS && at < (to + 1) * DAY_MS)
            .filter((move) => (category ?? move.category) === move.category && isMeant(move));
          const names = { ...(provider && { provider }), ...(other && { other }) };
          const filter = { ...names, ...(category && { category }), ...(direction && { direction }), limit };
          const all = flowsByHand(fitting);
          const expected = { total: fitting.length, pairs: all.length, flows: all.slice(0, limit) };
          assert.deepEqual(log.flows(from, to, filter), expected);
          assert.deepEqual(log.flowsBetween(from * DAY_MS - 1, (to + 1) * DAY_MS - 1, filter), expected);
        }
      };
      ask(before);
      logOf(later, log);
      ask([...before, ...later]);
    }));
  it('counts those after one moment up to and with another', () =>
    holds(100, [moves, fc.nat(DAYS * DAY_MS), fc.nat(DAYS * DAY_MS)], (all, a, b) => {
      const log = logOf(all);
      for (const moment of [a, all[0]?.at ?? 0, all[1]?.at ?? 0]) {
        const [since, until] = [FIRST_DAY * DAY_MS + b, Math.max(FIRST_DAY * DAY_MS + b, moment)];
        assert.equal(log.countBetween(since, until), all.filter(({ at }) => at > since && at <= until).length);
      }
    }));
  it('keeps sixty days before the newest and forgets the rest', () => {
    const move = (day: number): Move => ({ at: day * DAY_MS, category: 'dns', from: 'acme', to: 'borealis' });
    const log = logOf(Array.from({ length: 200 }, (_, i) => move(20_000 + i)));
    const since = (day: number) => log.flows(day, 20_199, { limit: 5 }).total;
    assert.deepEqual([since(20_140), since(20_000)], [60, 200]);
    assert.deepEqual([log.columns().migrationTimes.length, since(20_000)], [60, 60]);
    // From a scanner that was away for long: no question reaches it.
    logOf([move(20_139)], log);
    assert.equal(log.columns().migrationTimes.length, 60);
    logOf([move(20_140)], log);
    assert.equal(since(20_140), 61);
  });
  it('is bounded, however many migrations it has seen', () => {
    const log = new MigrationLog();
    for (let hour = 0; hour < 24 * 400; hour += 1) log.add(hour * 3_600_000, 'dns', 'acme', 'borealis');
    assert.equal(log.columns().migrationTimes.length, 60 * 24);
    assert.equal(log.countBetween(0, 24 * 400 * 3_600_000), 60 * 24);
  });
});
