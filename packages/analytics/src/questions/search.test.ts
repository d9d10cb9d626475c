import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { CATEGORIES, POSTURE_FLAGS, SECTORS } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import { NameTable } from '../columns/name-table.ts';
import { LEVELS, STATES } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { partsOf } from '../test/domain-names.ts';
import { indexOf, plainDomains } from '../test/firms.ts';
import { manyDomains, PROVIDERS } from '../test/random-domains.ts';
import { type DomainFilter, inNameOrder, searchDomains } from './search.ts';

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });

const manyPartsOf = (names: readonly string[]) =>
  fc.array(partsOf(names), { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
const score = fc.integer({ min: 0, max: 100 });
const flags = fc.subarray([...POSTURE_FLAGS], { minLength: 1, maxLength: 2 });
const filtersOf = (domains: readonly IndexedDomain[]): fc.Arbitrary<DomainFilter> =>
  fc.record({
    part: fc.option(manyPartsOf(domains.map(({ name }) => name)), { nil: undefined, freq: 2 }),
    provider: maybe(fc.constantFrom(...PROVIDERS, 'unknown')),
    category: maybe(fc.constantFrom(...CATEGORIES)),
    confidence: maybe(fc.constantFrom(...LEVELS)),
    sector: maybe(fc.constantFrom(...SECTORS.slice(0, 4))),
    minConfidence: maybe(fc.constantFrom(...LEVELS)),
    with: maybe(fc.constantFrom(...PROVIDERS, 'unknown')),
    state: maybe(fc.constantFrom(...STATES, 'live' as const)),
    ...{ flags: maybe(flags), without: maybe(flags), score: maybe(fc.record({ from: score, to: score })) },
  });

const fewConditions = (domains: readonly IndexedDomain[]) =>
  filtersOf(domains).chain((filter) =>
    fc
      .subarray(Object.keys(filter) as (keyof DomainFilter)[], { maxLength: 3 })
      .map((kept) => Object.fromEntries(kept.map((key) => [key, filter[key]])) as DomainFilter),
  );

const many = { minLength: 10, maxLength: 25, size: 'max' } as const;
const worlds = manyDomains(90).chain((domains) => {
  const filters = fc.array(fc.oneof(filtersOf(domains), fewConditions(domains)), many);
  return fc.record({ domains: fc.constant(domains), filters });
});

const nameOf = (i: number) => `${(i * 7_919) % 2_000}${i % 3 === 0 ? '-shop' : ''}.com`;
const numbered = (count: number) => plainDomains([count, {}]).map((domain, i) => ({ ...domain, name: nameOf(i) }));

function matches(domain: IndexedDomain, filter: DomainFilter): boolean {
  const { part, provider, category, confidence, minConfidence, sector, state, score } = filter;
  const { flags = [], without = [] } = filter;
  const min = confidence ?? minConfidence;
  const has = (flag: (typeof POSTURE_FLAGS)[number]) => ((domain.posture >>> POSTURE_FLAGS.indexOf(flag)) & 1) === 1;
  const isDescribed = domain.services.some(
    (service) =>
      (category ?? service[0]) === service[0] &&
      (provider ?? service[1]) === service[1] &&
      (confidence ?? service[2]) === service[2] &&
      (min === undefined || LEVELS.indexOf(service[2]) <= LEVELS.indexOf(min)),
  );
  const asksForService = provider !== undefined || category !== undefined || min !== undefined;
  return (
    (part === undefined || part.split(' ').every((word) => domain.name.includes(word))) &&
    (!asksForService || isDescribed) &&
    (sector === undefined || sector === (domain.sector === 'a-sector-of-tomorrow' ? 'unknown' : domain.sector)) &&
    (filter.with === undefined || domain.services.some((service) => service[1] === filter.with)) &&
    (state === undefined ||
      (state === 'live' ? ['active', 'parked'].includes(domain.state) : state === domain.state)) &&
    flags.every(has) &&
    !without.some(has) &&
    (score === undefined || (domain.score !== null && domain.score >= score.from && domain.score <= score.to))
  );
}

/** All that match: the exact name, then names that begin with the part or its first word, then the rest. */
function byHand(domains: readonly IndexedDomain[], filter: DomainFilter): number[] {
  const { part } = filter;
  const [first] = part?.split(' ') ?? [];
  const classOf = (name: string) => (name === part ? 0 : first !== undefined && name.startsWith(first) ? 1 : 2);
  return domains
    .filter((domain) => matches(domain, filter))
    .toSorted((a, b) => classOf(a.name) - classOf(b.name) || compareText(a.name, b.name))
    .map(({ id }) => id);
}

it('search finds what meets every condition, in one order, whatever the page', () =>
  holds(40, [worlds, fc.integer({ min: 1, max: 7 })], ({ domains, filters }, size) => {
    const index = indexOf(domains);
    for (const filter of filters) {
      const expected = byHand(domains, filter);
      const all = searchDomains(index, filter, { limit: 1_000, offset: 0 });
      assert.deepEqual(all, { total: expected.length, domains: expected }, JSON.stringify(filter));
      for (let offset = 0; offset <= expected.length + size; offset += size) {
        const page = { total: expected.length, domains: expected.slice(offset, offset + size) };
        assert.deepEqual(searchDomains(index, filter, { limit: size, offset }), page);
        const last = expected[offset - 1];
        const rest = last === undefined ? { offset } : { offset: 0, after: index.names.name(last) };
        assert.deepEqual(searchDomains(index, filter, { limit: size, ...rest }), page);
      }
    }
  }));
it('pages of a search from a name have each domain once, while domains are added and removed, that one included', () => {
  for (const part of [undefined, '1', '99']) {
    const index = indexOf(numbered(500));
    const { domains: first } = searchDomains(index, { part }, { limit: 500, offset: 0 });
    const removed = new Set<number>();
    const found: number[] = [];
    for (let after: string | undefined, i = 1; ; i += 1) {
      const { domains } = searchDomains(index, { part }, { limit: 7, offset: 0, ...(after && { after }) });
      const last = domains.at(-1);
      if (last === undefined) break;
      found.push(...domains);
      after = index.names.name(last);
      for (const id of [last, first[(i * 31) % first.length] as number]) if (index.remove(id)) removed.add(id);
      if (i < 50)
        index.put({ ...(plainDomains([1, {}])[0] as IndexedDomain), id: 1_000 + i, name: `${i * 37}-new.com` });
    }
    assert.equal(new Set(found).size, found.length);
    const order = found.filter((id) => id < 1_000);
    const expected = first.filter((id) => order.includes(id) || !removed.has(id));
    assert.deepEqual(order, expected);
  }
});
it('search gives the same page by sorting the found as by walking all, large sets or small', () => {
  // A set of few of these is sorted, one of many is walked.
  const domains = numbered(2_000);
  const index = indexOf(domains);
  const byName = domains.toSorted((a, b) => compareText(a.name, b.name));
  for (const every of [1, 2, 23, 24, 25, 60, 700]) {
    const set = DomainSet.of(domains.filter(({ id }) => id % every === 0).map(({ id }) => id));
    for (const prefix of [undefined, '1', '19', '199', '1998', '9', 'nothing']) {
      const begins = byName.filter(({ name }) => prefix !== undefined && name.startsWith(prefix));
      const rest = byName.filter((domain) => !begins.includes(domain));
      const expected = [...begins, ...rest].map(({ id }) => id).filter((id) => id % every === 0);
      for (const offset of [0, 1, 5, begins.length, expected.length - 1]) {
        const found = inNameOrder(index, set, { limit: 7, offset }, prefix);
        const last = expected[offset - 1];
        if (last !== undefined) {
          const page = { limit: 7, offset: 0, after: index.names.name(last) };
          assert.deepEqual(inNameOrder(index, set, page, prefix), found);
        }
        assert.deepEqual(found, expected.slice(offset, offset + 7), `every ${every} of ${prefix} from ${offset}`);
      }
    }
  }
});
it('a long page, for which the names are walked, has the names of its order', () => {
  // Above LONG_PAGE, by 11,000 names.
  const [count, long] = [150_000, 131_072];
  const names = new NameTable();
  const text = (id: number) => `${((id * 7_919) % 999_983).toString(36)}.com`;
  const known = new Map(Array.from({ length: count }, (_, i) => [i + 1, text(i + 1)]));
  for (const [id, name] of known) names.add(id, name);
  names.sorted.ranks();
  for (let id = 7; id < count; id += 97) {
    names.remove(id);
    known.delete(id);
  }
  const index = Object.assign(indexOf([]), { names });
  const byName = [...known].sort(([, a], [, b]) => compareText(a, b)).filter(([id]) => id % 19 !== 0);
  const set = DomainSet.of(byName.map(([id]) => id).sort((a, b) => a - b));
  for (const prefix of [undefined, 'a', 'nothing']) {
    const isLast = (name: string) => prefix !== undefined && !name.startsWith(prefix);
    const expected = [false, true].flatMap((last) => byName.filter(([, name]) => isLast(name) === last));
    for (const from of [0, 5, 9_000, long, expected.length]) {
      const after = expected[from - 1]?.[1];
      for (const [offset, limit] of [
        [0, long + 1],
        [long, 5],
        [long - 3, 3],
        [long, count],
      ] as const) {
        const found = inNameOrder(index, set, { limit, offset, ...(after !== undefined && { after }) }, prefix);
        const page = expected.slice(from + offset, from + offset + limit).map(([id]) => id);
        // As a message, the lists would be as long as the page.
        assert.ok(isDeepStrictEqual(found, page), `${prefix} from ${from}, ${offset}`);
      }
    }
  }
});
it('search puts the names around a prefix where they belong, however few are found', () => {
  const index = indexOf(numbered(2_000));
  const order = [...index.names.sorted.numbers()];
  for (const prefix of ['1', '19', '199', '5']) {
    const [from, to] = index.names.sorted.prefixRange(prefix);
    const around = [0, from - 1, from, from + 1, to - 1, to, order.length - 1].map((rank) => order[rank] as number);
    const begins = [from, from + 1, to - 1].map((rank) => order[rank] as number);
    const expected = new Set([...begins, ...around]);
    const found = inNameOrder(index, DomainSet.of(expected), { limit: 10, offset: 0 }, prefix);
    assert.deepEqual(found, [...expected], prefix);
  }
});
it('of many given domains, exactly those that match a query are found', () => {
  const index = indexOf(plainDomains([2_500, { state: 'parked' }], [2_500, {}]));
  const ids = Array.from({ length: 5_000 }, (_, i) => i + 1).filter((id) => id % 2 === 0);
  const query = { kind: 'not', of: { kind: 'terms', of: 'state', numbers: [STATES.indexOf('active')] } } as const;
  const { total, domains } = searchDomains(index, { among: { ids }, query }, { limit: 5_000, offset: 0 });
  assert.equal(total, 1_250);
  assert.deepEqual(new Set(domains), new Set(ids.filter((id) => id <= 2_500)));
});
