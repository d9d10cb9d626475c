import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { compareText } from './compare-text.ts';
import { LEAST_SUPPORT } from './neighbours.ts';
import { supplyChain } from './supply-chain.ts';
import { firmProviders, indexOf, usersOf } from './test/firms.ts';
import { manyDomains, ownerOf, PROVIDERS } from './test/random-domains.ts';

describe('the supply chain', () => {
  it('names dependents, markets, sole sources and neighbours as a walk over all domains does', () =>
    holds(25, [manyDomains(120), fc.integer({ min: 1, max: 6 })], (domains, limit) => {
      const index = indexOf(domains);
      for (const provider of [...PROVIDERS, 'nobody']) {
        const chain = supplyChain(index, provider, { ownerOf, limit });
        const own = usersOf(domains, provider);
        assert.equal(chain.dependentDomains, own.length);
        const isSole = (firms: readonly string[]) => firms.length === 1 && firms[0] === provider;
        const sole = own.filter((domain) =>
          domain.services.some(([category]) => isSole(firmProviders(domain, category))),
        );
        assert.equal(chain.soleSourceDomains, sole.length);
        const others = PROVIDERS.filter((other) => ownerOf(other) !== ownerOf(provider))
          .map((other) => ({ provider: other, domains: usersOf(own, other).length }))
          .filter((other) => other.domains >= LEAST_SUPPORT);
        const ranked = (sizeOf: (other: string) => number) =>
          others
            .map((other) => ({ ...other, share: other.domains / sizeOf(other.provider) }))
            .sort((a, b) => b.share - a.share || b.domains - a.domains || compareText(a.provider, b.provider))
            .slice(0, limit);
        assert.deepEqual(
          chain.upstream,
          ranked(() => own.length),
        );
        assert.deepEqual(
          chain.downstream,
          ranked((other) => usersOf(domains, other).length),
        );
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
});
