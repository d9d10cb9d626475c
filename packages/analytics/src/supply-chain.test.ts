import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { coAdoption } from './co-adoption.ts';
import { compareText } from './compare-text.ts';
import { MIN_SUPPORT } from './neighbours.ts';
import { supplyChain } from './supply-chain.ts';
import { firmProviders, indexOf, usersOf } from './test/firms.ts';
import { manyDomains, ownerOf, PROVIDERS } from './test/random-domains.ts';

const strangersTo = (provider: string) => PROVIDERS.filter((other) => ownerOf(other) !== ownerOf(provider));

it('the supply chain names dependents, markets, sole sources and neighbours as a walk over all domains does', () =>
  holds(25, [manyDomains(120), fc.integer({ min: 1, max: 6 })], (domains, limit) => {
    const index = indexOf(domains);
    for (const provider of [...PROVIDERS, 'nobody']) {
      const chain = supplyChain(index, provider, { ownerOf, limit });
      const own = usersOf(domains, provider);
      const isSole = (firms: readonly string[]) => firms.length === 1 && firms[0] === provider;
      const sole = own.filter((each) => each.services.some(([category]) => isSole(firmProviders(each, category))));
      assert.equal(chain.soleSourceDomains, sole.length);
      const others = strangersTo(provider)
        .map((other) => ({ provider: other, domains: usersOf(own, other).length }))
        .filter((other) => other.domains >= MIN_SUPPORT);
      const ranked = (sizeOf: (other: string) => number) =>
        others
          .map((other) => ({ ...other, share: other.domains / sizeOf(other.provider) }))
          .sort((a, b) => b.share - a.share || b.domains - a.domains || compareText(a.provider, b.provider))
          .slice(0, limit);
      const upstream = ranked(() => own.length);
      const downstream = ranked((other) => usersOf(domains, other).length);
      assert.deepEqual([chain.dependentDomains, chain.upstream, chain.downstream], [own.length, upstream, downstream]);
      const active = own.filter(({ state }) => state === 'active');
      const held = active
        .flatMap(({ services }) => services)
        .filter(([, each, confidence]) => each === provider && confidence !== 'low');
      const markets = new Set(chain.markets.map(({ market }) => market.category));
      assert.deepEqual(markets, new Set(held.map(([category]) => category)));
      for (const { market, share } of chain.markets) {
        const weight = active.reduce((sum, domain) => {
          const firms = firmProviders(domain, market.category);
          return sum + (firms.includes(provider) ? 1 / firms.length : 0);
        }, 0);
        assert.ok(Math.abs(share - weight / market.denominator) < 1e-9);
      }
    }
  }));

describe('co-adoption', () => {
  /** Enough copies of every domain that some pairs pass the least support and others do not. */
  const manyAlike = fc
    .tuple(manyDomains(25), fc.integer({ min: 1, max: 9 }))
    .map(([domains, copies]) =>
      Array.from({ length: copies }, (_, copy) =>
        domains.map((each) => ({ ...each, id: each.id * 10 + copy, name: `${copy}.${each.name.slice(0, 200)}` })),
      ).flat(),
    );
  it('counts the domains of two providers, with Jaccard and lift, and leaves out brands of one owner', () =>
    holds(25, [manyAlike, fc.integer({ min: 1, max: 6 })], (domains, limit) => {
      const index = indexOf(domains);
      for (const provider of [...PROVIDERS, 'nobody']) {
        const own = usersOf(domains, provider);
        const expected = strangersTo(provider)
          .map((other) => {
            const theirs = usersOf(domains, other);
            const common = usersOf(own, other).length;
            const either = new Set([...own, ...theirs]).size;
            const lift = (common * domains.length) / (own.length * theirs.length);
            return { provider: other, domains: common, jaccard: common / either, lift };
          })
          .filter(({ domains }) => domains >= MIN_SUPPORT)
          .sort((a, b) => b.jaccard - a.jaccard || compareText(a.provider, b.provider))
          .slice(0, limit);
        const found = coAdoption(index, provider, { ownerOf, limit });
        const rounded = (all: typeof found) => all.map((each) => ({ ...each, lift: each.lift.toPrecision(9) }));
        assert.deepEqual(rounded(found), rounded(expected));
      }
    }));
});
