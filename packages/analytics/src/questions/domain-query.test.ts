import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gradeOf } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { TIME_KINDS } from '../columns/column-page.ts';
import { compareText } from '../compare-text.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { allDomains } from '../query/evaluate-query.ts';
import { indexOf, plainDomain, plainDomains } from '../test/firms.ts';
import { manyDomains, roleOf } from '../test/random-domains.ts';
import { FACETS, facetOf, inOrder } from './domain-query.ts';

it('pages in any order have each domain once, whatever their size', () => {
  const by = fc.constantFrom('score', ...TIME_KINDS);
  const orders = fc.record({ by, isDescending: fc.boolean() });
  holds(60, [manyDomains(90), orders, fc.integer({ min: 1, max: 7 })], (domains, order, limit) => {
    const valueIn = ({ score, scannedAt: scanned_at, firstSeen: first_seen, changedAt: changed_at }: IndexedDomain) =>
      order.by === 'score' ? score : { scanned_at, first_seen, changed_at }[order.by] || null;
    const sortable = (domain: IndexedDomain) => (order.isDescending ? -1 : 1) * (valueIn(domain) ?? Number.NaN);
    const expected = domains.toSorted((a, b) => {
      const [x, y] = [sortable(a), sortable(b)];
      return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || x - y || compareText(a.name, b.name);
    });
    const index = indexOf(domains);
    const found: number[] = [];
    for (let page: number[] = [], last: IndexedDomain | undefined; !last || page.length > 0; ) {
      page = inOrder(index, allDomains(index), order, { limit, ...(last && { after: [valueIn(last), last.name] }) });
      found.push(...page);
      last = expected[found.length - 1];
      if (!last) break;
    }
    const ids = expected.map(({ id }) => id);
    assert.deepEqual(found, ids);
  });
});
it('the first of thousands in the order of a time follow what happens to them, in both directions', () => {
  const count = 4_000;
  const domains = plainDomains([count, {}]).map((domain) => ({
    ...domain,
    scannedAt: ((domain.id * 7_919) % count) + 1,
  }));
  const index = indexOf(domains);
  const scanned = new Map(domains.map(({ id, scannedAt }) => [id, scannedAt]));
  const changed = new Map(domains.map(({ id }) => [id, 0]));
  const check = () => {
    for (const [by, times] of [['scanned_at', scanned] as const, ['changed_at', changed] as const])
      for (const isDescending of [false, true]) {
        const ordered = (time: number) => (time === 0 ? Number.MAX_VALUE : isDescending ? -time : time);
        const expected = [...times]
          .map(([id, time]) => ({ id, value: ordered(time), key: [time || null, `d${id}.com`] as const }))
          .sort((a, b) => a.value - b.value || compareText(a.key[1], b.key[1]));
        for (const [from, to] of casesOf<[number, number][]>('analytics', 'pages')) {
          const after = expected[from - 1]?.key;
          const page = { limit: to - from, ...(after && { after }) };
          const found = inOrder(index, allDomains(index), { by, isDescending }, page);
          const ids = expected.slice(from, to).map(({ id }) => id);
          assert.deepEqual(found, ids, `${by} ${from}`);
        }
      }
  };
  check();
  // Few changes; then many, most of them at one of four times.
  for (const [step, every] of casesOf<[number, number][]>('analytics', 'steps of changes')) {
    for (let id = 1; id <= count; id += every) {
      changed.set(id, Math.max(changed.get(id) ?? 0, ((id % step) + 1) * 1_000));
      index.touch(id, { changedAt: changed.get(id) ?? 0 });
    }
    check();
  }
  for (let id = 1; id <= count; id += 1) {
    const [at, isRemoved] = [count + ((id * 31) % 900), id % 7 === 0];
    if (isRemoved) index.remove(id);
    else index.touch(id, { scannedAt: at });
    if (isRemoved) for (const times of [scanned, changed]) times.delete(id);
    else scanned.set(id, at);
    if (id % 500 === 3 || id < 4) check();
  }
  index.put(plainDomain(7, { scannedAt: count * 2 }));
  scanned.set(7, count * 2);
  changed.set(7, 0);
  check();
});
it('facets count the domains of every value, most first', () =>
  holds(30, [manyDomains(60)], (domains) => {
    const index = indexOf(domains);
    for (const facet of FACETS) {
      const valuesOf = ({ name, sector, state, score, services }: IndexedDomain) => {
        if (facet === 'grade') return score === null ? [] : [gradeOf(score)];
        if (facet === 'tld') return [name.slice(name.lastIndexOf('.') + 1)];
        if (facet === 'sector') return [sector === 'a-sector-of-tomorrow' ? 'unknown' : sector];
        if (facet === 'state') return [state];
        if (facet === 'role') return [...new Set(services.map(([of, id]) => String(roleOf(of, id))))];
        return [...new Set(services.filter(([of]) => facet === 'provider' || of === facet).map(([, id]) => id))];
      };
      const counts = Object.entries(Object.groupBy(domains.flatMap(valuesOf), (value) => value));
      const expected = counts.map(([value, all = []]) => ({ value, count: all.length }));
      expected.sort((a, b) => b.count - a.count || compareText(a.value, b.value));
      assert.deepEqual(facetOf(index, allDomains(index), facet, 3), expected.slice(0, 3), facet);
    }
  }));
