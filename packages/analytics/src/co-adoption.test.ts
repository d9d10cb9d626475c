import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { coAdoption } from './co-adoption.ts';
import { compareText } from './compare-text.ts';
import { LEAST_SUPPORT } from './neighbours.ts';
import { indexOf, plainDomains, usersOf, using } from './test/firms.ts';
import { manyDomains, ownerOf, PROVIDERS } from './test/random-domains.ts';

describe('co-adoption', () => {
  /** Enough copies of every domain that some pairs pass the least support and others do not. */
  const manyAlike = fc.tuple(manyDomains(25), fc.integer({ min: 1, max: 9 })).map(([domains, copies]) =>
    Array.from({ length: copies }, (_, copy) =>
      domains.map(({ id, name, ...rest }) => ({
        ...rest,
        id: id * 10 + copy,
        name: `${copy}.${name.slice(0, 200)}`,
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
            const lift = (common * domains.length) / (own.length * theirs.length);
            return { provider: other, domains: common, jaccard: common / either, lift };
          })
          .filter(({ domains }) => domains >= LEAST_SUPPORT)
          .sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider))
          .slice(0, limit);
        const found = coAdoption(index, provider, { ownerOf, limit });
        const withoutLift = (all: typeof found) => all.map(({ lift: _, ...rest }) => rest);
        assert.deepEqual(withoutLift(found), withoutLift(expected));
        for (const [i, { lift }] of found.entries()) assert.ok(Math.abs(lift / (expected[i]?.lift ?? 0) - 1) < 1e-9);
      }
    }));

  it('needs twenty common domains', () => {
    const both = (count: number) => indexOf(plainDomains([count, using('dns acme high', 'email borealis high')]));
    const options = { ownerOf, limit: 5 };
    assert.deepEqual(coAdoption(both(19), 'acme', options), []);
    assert.equal(coAdoption(both(20), 'acme', options).length, 1);
    assert.deepEqual(coAdoption(both(20), 'nobody', options), []);
  });
});
