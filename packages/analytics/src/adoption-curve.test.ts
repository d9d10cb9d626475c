import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { adoptionCurve } from './adoption-curve.ts';
import type { IndexedChange } from './change-history.ts';
import { dayOf } from './daily-series.ts';
import { indexOf, plainDomains } from './test/firms.ts';
import { changes, DAYS, FIRST_DAY } from './test/random-changes.ts';
import { manyDomains, PROVIDERS } from './test/random-domains.ts';

describe('the adoption curve', () => {
  const subjects = fc.record({
    provider: fc.constantFrom(...PROVIDERS.slice(0, 3), 'nobody'),
    category: fc.constantFrom('dns' as const, 'email' as const, undefined),
  });

  it('ends at the domains of today and undoes each day of movement before it', () =>
    holds(40, [manyDomains(60), changes, subjects], (domains, changed, { provider, category }) => {
      const index = indexOf(domains);
      for (const change of changed) index.history.add(change);
      const subject = category === undefined ? { provider } : { provider, category };
      const curve = adoptionCurve(index, subject, { from: FIRST_DAY, to: FIRST_DAY + DAYS - 1 });
      assert.deepEqual(
        curve.map(({ day }) => day),
        Array.from({ length: DAYS }, (_, i) => FIRST_DAY + i),
      );
      const real = changed.filter(
        ({ type, ...change }) => type !== 'reclassified' && (category ?? change.category) === change.category,
      );
      const counted = (isCounted: (change: (typeof real)[number]) => boolean, day: number) =>
        real.filter((change) => dayOf(change.confirmedAt) === day && isCounted(change)).length;
      const now = domains.filter(({ services }) =>
        services.some((service) => service[1] === provider && (category ?? service[0]) === service[0]),
      ).length;
      let domainsThen = now;
      for (const point of curve.toReversed()) {
        assert.equal(point.domains, Math.max(0, domainsThen));
        const isWhole = category !== undefined;
        const isAdded = (change: IndexedChange) => change.to === provider && (isWhole || change.isEntry);
        const isRemoved = (change: IndexedChange) => change.from === provider && (isWhole || change.isExit);
        assert.deepEqual([point.added, point.removed], [counted(isAdded, point.day), counted(isRemoved, point.day)]);
        domainsThen -= point.added - point.removed;
      }
    }));

  it('worked out by hand: five users, of which two came and one other left', () => {
    const index = indexOf(plainDomains([5, { services: [['dns', 'acme', 'high']] }]));
    const move = (day: number, type: 'added' | 'removed') => {
      const sides = { from: type === 'removed' ? 'acme' : null, to: type === 'added' ? 'acme' : null };
      const confirmedAt = (FIRST_DAY + day) * 86_400_000;
      index.history.add({ at: 0, confirmedAt, category: 'dns', type, ...sides, isEntry: true, isExit: true });
    };
    move(1, 'added');
    move(2, 'removed');
    move(2, 'added');
    const curve = adoptionCurve(index, { provider: 'acme' }, { from: FIRST_DAY, to: FIRST_DAY + 3 });
    const points = curve.map(({ domains, added, removed }) => `${domains} ${added} ${removed}`);
    assert.deepEqual(points, ['4 0 0', '5 1 0', '5 1 1', '5 0 0']);
  });
});
