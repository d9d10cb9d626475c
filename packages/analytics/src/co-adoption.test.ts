import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { coAdoption } from './co-adoption.ts';
import { compareText } from './compare-text.ts';
import { LEAST_SUPPORT } from './neighbours.ts';
import { indexOf, plainDomains, usersOf } from './test/firms.ts';
import { manyDomains, ownerOf, PROVIDERS } from './test/random-domains.ts';

const isClose = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

describe('co-adoption', () => {
  /** Enough copies of every domain that some pairs pass the least support and others do not. */
  const manyAlike = fc.tuple(manyDomains(25), fc.integer({ min: 1, max: 9 })).map(([domains, copies]) =>
    Array.from({ length: copies }, (_, copy) =>
      domains.map((domain) => ({
        ...domain,
        id: domain.id * 10 + copy,
        name: `${copy}.${domain.name.slice(0, 200)}`,
      })),
    ).flat(),
  );

  it('counts the domains of two providers, with Jaccard and lift, and leaves out brands of one owner', () =>
    holds(25, [manyAlike, fc.integer({ min: 1, max: 6 })], (domains, limit) => {
      const index = indexOf(domains);
      for (const provider of PROVIDERS) {
        const own = usersOf(domains, provider);
        const expected = PROVIDERS.filter((other) => ownerOf(other) !== ownerOf(provider))
          .map((other) => {
            const theirs = usersOf(domains, other);
            const common = usersOf(own, other).length;
            const either = new Set([...own, ...theirs]).size;
            const [p, q] = [own.length / domains.length, theirs.length / domains.length];
            return {
              provider: other,
              domains: common,
              jaccard: common / either,
              lift: common / domains.length / (p * q),
            };
          })
          .filter(({ domains }) => domains >= LEAST_SUPPORT)
          .sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider))
          .slice(0, limit);
        const found = coAdoption(index, provider, { ownerOf, limit });
        assert.deepEqual(
          found.map(({ lift: _, ...rest }) => rest),
          expected.map(({ lift: _, ...rest }) => rest),
        );
        for (const [i, { lift }] of found.entries()) assert.ok(Math.abs(lift / (expected[i]?.lift ?? 0) - 1) < 1e-9);
      }
    }));

  it('worked out by hand: of 1,000 domains 100 use one, 50 the other, 40 both', () => {
    const use = (...providers: string[]) => ({ services: providers.map((each) => ['dns', each, 'low'] as const) });
    const index = indexOf(
      plainDomains([40, use('acme', 'borealis')], [60, use('acme')], [10, use('borealis')], [890, {}]),
    );
    const [found] = coAdoption(index, 'acme', { ownerOf, limit: 5 });
    assert.equal(found?.provider, 'borealis');
    assert.equal(found?.domains, 40);
    isClose(found?.jaccard ?? 0, 40 / 110);
    // (40 / 1,000) / (0.1 × 0.05)
    isClose(found?.lift ?? 0, 8);
    assert.equal(index.tallies.together(0, 1), 40);
  });

  it('needs twenty common domains', () => {
    const both = {
      services: [
        ['dns', 'acme', 'high'],
        ['email', 'borealis', 'high'],
      ],
    } as const;
    assert.deepEqual(coAdoption(indexOf(plainDomains([19, both])), 'acme', { ownerOf, limit: 5 }), []);
    assert.equal(coAdoption(indexOf(plainDomains([20, both])), 'acme', { ownerOf, limit: 5 }).length, 1);
    assert.deepEqual(coAdoption(indexOf(plainDomains([20, both])), 'nobody', { ownerOf, limit: 5 }), []);
  });
});
