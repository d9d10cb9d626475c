// What changes come to: movements of providers, flows of migrations, and the curve of adoption.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CATEGORIES, type Category } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import { compareText } from '../compare-text.ts';
import { adoptionCurve } from '../questions/adoption-curve.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { indexOf } from '../test/firms.ts';
import { changes, DAYS, FIRST_DAY, scans } from '../test/random-changes.ts';
import { manyDomains, PROVIDERS } from '../test/random-domains.ts';
import { ChangeHistory, type IndexedChange } from './change-history.ts';
import { DAY_MS, dayOf } from './daily-series.ts';
import { type Flow, MigrationLog } from './migration-log.ts';

type Scans = readonly { readonly day: number; readonly scans: number; readonly rulebook: string }[];
const LAST_DAY = FIRST_DAY + DAYS - 1;

function historyOf(all: readonly IndexedChange[], scanned: Scans): ChangeHistory {
  const history = new ChangeHistory();
  for (const change of all) history.add(change);
  for (const { day, scans, rulebook } of scanned) history.scans.add(day, { scans, measured: scans, rulebook });
  return history;
}

/** Every question but that of flows, against a walk over all changes. */
function check(history: ChangeHistory, all: readonly IndexedChange[], scanned: Scans): void {
  const windows = [`${FIRST_DAY} ${LAST_DAY}`, `${FIRST_DAY + 10} ${FIRST_DAY + 17}`, `${LAST_DAY} ${LAST_DAY}`];
  for (const window of [...windows, `${LAST_DAY} ${FIRST_DAY}`]) {
    const [from = 0, to = 0] = window.split(' ').map(Number);
    const within = all.filter(({ confirmedAt }) => dayOf(confirmedAt) >= from && dayOf(confirmedAt) <= to);
    const real = within.filter(({ type }) => type !== 'reclassified');
    for (const provider of PROVIDERS) {
      assert.deepEqual(history.movement({ provider }, from, to), {
        gained: real.filter((change) => change.to === provider && change.isEntry).length,
        lost: real.filter((change) => change.from === provider && change.isExit).length,
      });
      for (const category of CATEGORIES) {
        const here = real.filter((change) => change.category === category);
        assert.deepEqual(history.movement({ provider, category }, from, to), {
          gained: here.filter((change) => change.to === provider).length,
          lost: here.filter((change) => change.from === provider).length,
        });
      }
    }
    for (const category of CATEGORIES) {
      const migrated = real.filter((change) => change.category === category && change.type === 'migrated');
      assert.equal(history.migrations(category, from, to), migrated.length);
    }
  }
  for (const provider of PROVIDERS) {
    for (let day = FIRST_DAY; day <= LAST_DAY; day += 1) {
      const changed = all.filter((change) => change.type === 'reclassified' && dayOf(change.confirmedAt) === day);
      const sides = changed.flatMap(({ from, to }) => [from, to]).filter((side) => side === provider);
      assert.equal(history.reclassifiedOn({ provider }, day), sides.length);
    }
  }
  const days = [...new Set(scanned.map(({ day }) => day))].sort((a, b) => a - b);
  const sum = (some: Scans) => some.reduce((total, each) => total + each.scans, 0);
  const perDay = days.map((day) => ({ day, scans: sum(scanned.filter((each) => each.day === day)) }));
  assert.deepEqual(history.scans.days(), perDay);
  const later = perDay.filter(({ day }) => day >= FIRST_DAY + 20);
  assert.deepEqual(history.scans.days(FIRST_DAY + 20), later);
  assert.equal(history.scans.total, sum(scanned));
  const firsts = [...new Set(scanned.map(({ rulebook }) => rulebook))].map((rulebook) =>
    Math.min(...scanned.filter((each) => each.rulebook === rulebook).map(({ day }) => day)),
  );
  assert.equal(history.scans.newestRulebookDay(), firsts.length === 0 ? undefined : Math.max(...firsts));
}

it('the history of changes counts what a walk over all changes counts, in whatever order they come', () =>
  holds(60, [changes, scans], (all, scanned) => check(historyOf(all, scanned), all, scanned)));
it('the history of changes counts days from midnight to midnight UTC', () => {
  const midnight = Date.parse('2026-01-01T00:00:00Z');
  assert.deepEqual([midnight - 1, midnight, midnight + 86_399_999].map(dayOf), [20_453, 20_454, 20_454]);
});

type Move = Readonly<Record<'from' | 'to', string>> & {
  readonly domainId: number;
  readonly at: number;
  readonly category: Category;
};
const provider = fc.constantFrom(...PROVIDERS);
const maybe = <T>(...values: T[]) => fc.option(fc.constantFrom<T[]>(...values), { nil: undefined });
const midnight = fc.nat(DAYS).map((day) => day * DAY_MS);
const moment = fc.oneof(fc.nat(DAYS * DAY_MS), midnight).map((ms) => FIRST_DAY * DAY_MS + ms);
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    domainId: fc.nat(9),
    at: moment,
    category: fc.constantFrom('dns', 'email'),
    from: provider,
    to: provider,
  }),
  { maxLength: 120, size: 'max' },
);
const questions = fc.array(
  fc.record({
    from: fc.nat(DAYS).map((day) => FIRST_DAY + day),
    days: fc.nat(DAYS),
    category: maybe<Category>('dns', 'email', 'cdn'),
    provider: maybe(...PROVIDERS, 'unknown'),
    direction: maybe<'in' | 'out'>('in', 'out'),
    other: maybe(...PROVIDERS, 'unknown'),
    limit: fc.integer({ min: 1, max: 40 }),
    within: maybe(DomainSet.ofSorted(Uint32Array.of(1, 3, 8))),
  }),
  { minLength: 1, maxLength: 6 },
);

function logOf(all: readonly Move[], log = new MigrationLog()): MigrationLog {
  for (const { at, ...move } of all) log.add({ confirmedAt: at, ...move });
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

it('the log of migrations returns the flows that a scan of all migrations returns, while more are added', () =>
  holds(100, [moves, moves, questions], (before, later, asked) => {
    const log = logOf(before);
    const ask = (moved: readonly Move[]) => {
      for (const { from, days, limit, category, provider, direction, other, within } of asked) {
        const to = from + days;
        const isMeant = (move: Move) =>
          provider === undefined ||
          (direction !== 'out' && move.to === provider && (other ?? move.from) === move.from) ||
          (direction !== 'in' && move.from === provider && (other ?? move.to) === move.to);
        const fitting = moved
          .filter(({ at }) => at >= from * DAY_MS && at < (to + 1) * DAY_MS)
          .filter(({ domainId }) => within?.has(domainId) ?? true)
          .filter((move) => (category ?? move.category) === move.category && isMeant(move));
        const names = { ...(provider && { provider }), ...(other && { other }) };
        const filter = { ...names, ...(category && { category }), ...(direction && { direction }), within, limit };
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
it('the log of migrations counts those after one moment up to and with another', () =>
  holds(100, [moves, fc.nat(DAYS * DAY_MS), fc.nat(DAYS * DAY_MS)], (all, a, b) => {
    const log = logOf(all);
    for (const moment of [a, all[0]?.at ?? 0, all[1]?.at ?? 0]) {
      const [since, until] = [FIRST_DAY * DAY_MS + b, Math.max(FIRST_DAY * DAY_MS + b, moment)];
      assert.equal(log.countBetween(since, until), all.filter(({ at }) => at > since && at <= until).length);
    }
  }));
it('the log of migrations keeps sixty days before the newest and forgets the rest', () => {
  const move = (n: number): Move => ({ domainId: 1, at: n * DAY_MS, category: 'dns', from: 'acme', to: 'borealis' });
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
it('the log of migrations is bounded, however many migrations are added', () => {
  const log = new MigrationLog();
  for (let hour = 0; hour < 24 * 400; hour += 1)
    log.add({ domainId: 1, confirmedAt: hour * 3_600_000, category: 'dns', from: 'acme', to: 'borealis' });
  assert.equal(log.columns().migrationTimes.length, 60 * 24);
  assert.equal(log.countBetween(0, 24 * 400 * 3_600_000), 60 * 24);
});

const subjects = fc.record({
  provider: fc.constantFrom(...PROVIDERS.slice(0, 3), 'unknown'),
  category: fc.constantFrom('dns' as const, 'email' as const, undefined),
});
it('the adoption curve ends at the domains of today and undoes each day of movement before it', () =>
  holds(40, [manyDomains(60), changes, subjects], (domains, changed, { provider, category }) => {
    const index = indexOf(domains);
    for (const change of changed) index.history.add(change);
    const subject = category === undefined ? { provider } : { provider, category };
    const curve = adoptionCurve(index, subject, { from: FIRST_DAY, to: FIRST_DAY + DAYS - 1 });
    for (const [i, { day }] of curve.entries()) assert.equal(day, FIRST_DAY + i);
    assert.equal(curve.length, DAYS);
    const real = changed.filter(
      ({ type, ...change }) => type !== 'reclassified' && (category ?? change.category) === change.category,
    );
    const counted = (isCounted: (change: (typeof real)[number]) => boolean, day: number) =>
      real.filter((change) => dayOf(change.confirmedAt) === day && isCounted(change)).length;
    const uses = (service: readonly unknown[]) => service[1] === provider && (category ?? service[0]) === service[0];
    let domainsThen = domains.filter(({ services }) => services.some(uses)).length;
    for (const point of curve.toReversed()) {
      assert.equal(point.domains, Math.max(0, domainsThen));
      const isCategory = category !== undefined;
      const isAdded = (change: IndexedChange) => change.to === provider && (isCategory || change.isEntry);
      const isRemoved = (change: IndexedChange) => change.from === provider && (isCategory || change.isExit);
      assert.deepEqual([point.added, point.removed], [counted(isAdded, point.day), counted(isRemoved, point.day)]);
      domainsThen -= point.added - point.removed;
    }
  }));
