import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { compareText } from '../compare-text.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { allDomains } from '../query/evaluate-query.ts';
import { indexOf } from '../test/firms.ts';
import { manyDomains } from '../test/random-domains.ts';
import { type DomainOrder, FACETS, facetOf, inOrder } from './domain-query.ts';

const orders = fc.record<DomainOrder>({
  by: fc.constantFrom('score', 'scanned_at'),
  isDescending: fc.boolean(),
});

it('pages in any order have each domain once, whatever their size', () =>
  holds(60, [manyDomains(90), orders, fc.integer({ min: 1, max: 7 })], (domains, order, limit) => {
    const valueIn = ({ score, scannedAt }: IndexedDomain) => (order.by === 'score' ? score : scannedAt);
    const expected = domains.toSorted((a, b) => {
      const [x, y] = [valueIn(a), valueIn(b)];
      if (x === y) return compareText(a.name, b.name);
      if (x === null || y === null) return x === null ? 1 : -1;
      return order.isDescending ? y - x : x - y;
    });
    const index = indexOf(domains);
    const found: number[] = [];
    for (let last: IndexedDomain | undefined; ; last = expected[found.length - 1]) {
      const after = last && { after: [valueIn(last), last.name] as const };
      const page = inOrder(index, allDomains(index), order, { limit, ...after });
      if (page.length === 0) break;
      found.push(...page);
    }
    assert.deepEqual(
      found,
      expected.map(({ id }) => id),
    );
  }));

it('facets count the domains of every value, most first', () =>
  holds(30, [manyDomains(60)], (domains) => {
    const index = indexOf(domains);
    for (const facet of FACETS) {
      const valuesOf = ({ name, sector, state, services }: IndexedDomain) => {
        if (facet === 'tld') return [name.slice(name.lastIndexOf('.') + 1)];
        if (facet === 'sector') return [sector === 'a-sector-of-tomorrow' ? 'unknown' : sector];
        if (facet === 'state') return [state];
        return new Set(services.filter(([of]) => facet === 'provider' || of === facet).map(([, id]) => id));
      };
      if (facet === 'grade') continue;
      const counts = Map.groupBy(
        domains.flatMap((domain) => [...valuesOf(domain)]),
        (value) => value,
      );
      const expected = Array.from(counts, ([value, all]) => ({ value, count: all.length })).sort(
        (a, b) => b.count - a.count || compareText(a.value, b.value),
      );
      assert.deepEqual(facetOf(index, allDomains(index), facet, 3), expected.slice(0, 3), facet);
    }
    const graded = facetOf(index, allDomains(index), 'grade', 9).reduce((sum, { count }) => sum + count, 0);
    assert.equal(graded, domains.filter(({ score }) => score !== null).length);
  }));
