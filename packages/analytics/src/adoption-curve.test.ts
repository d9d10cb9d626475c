import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { adoptionCurve } from './adoption-curve.ts';
import type { IndexedChange } from './change-history.ts';
import { dayOf } from './daily-series.ts';
import { indexOf } from './test/firms.ts';
import { changes, DAYS, FIRST_DAY } from './test/random-changes.ts';
import { manyDomains, PROVIDERS } from './test/random-domains.ts';

const subjects = fc.record({
  provider: fc.constantFrom(...PROVIDERS.slice(0, 3), 'nobody'),
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
      const isWhole = category !== undefined;
      const isAdded = (change: IndexedChange) => change.to === provider && (isWhole || change.isEntry);
      const isRemoved = (change: IndexedChange) => change.from === provider && (isWhole || change.isExit);
      assert.deepEqual([point.added, point.removed], [counted(isAdded, point.day), counted(isRemoved, point.day)]);
      domainsThen -= point.added - point.removed;
    }
  }));
