// Providers compared with each other: the leaders, supply chains and co-adoption.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Category } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import { compareText } from '../compare-text.ts';
import { dayOf } from '../history/daily-series.ts';
import type { DomainIndex, IndexedDomain } from '../index/domain-index.ts';
import { firmProviders, indexOf, plainDomains, usersOf, using } from '../test/firms.ts';
import { changes, DAYS, FIRST_DAY } from '../test/random-changes.ts';
import { manyDomains, ownerOf, PROVIDERS, roleOf } from '../test/random-domains.ts';
import { coAdoption } from './co-adoption.ts';
import { markets, roleMarkets } from './concentration.ts';
import { MIN_SUPPORT, neighbourhood } from './neighbours.ts';
import { categoriesOf, leaders, providersInUse } from './providers.ts';
import { supplyChain } from './supply-chain.ts';

const TODAY = FIRST_DAY + DAYS - 3;

it('the leaders are those with the most domains, with their movement over thirty days', () =>
  holds(60, [manyDomains(80), changes, fc.integer({ min: 1, max: 7 })], (domains, changed, limit) => {
    const index = indexOf(domains);
    for (const change of changed) index.history.add(change);
    const real = changed.filter(({ type, confirmedAt }) => {
      const day = dayOf(confirmedAt);
      return type !== 'reclassified' && day > TODAY - 30 && day <= TODAY;
    });
    const ranking = PROVIDERS.map((provider) => ({ provider, domains: usersOf(domains, provider).length }))
      .filter((each) => each.domains > 0)
      .sort((a, b) => b.domains - a.domains || compareText(a.provider, b.provider));
    const expected = ranking.map((each, i) => {
      const gained = real.filter((change) => change.to === each.provider && change.isEntry).length;
      const lost = real.filter((change) => change.from === each.provider && change.isExit).length;
      return { rank: i + 1, ...each, share: each.domains / domains.length, change30d: gained - lost };
    });
    const found = leaders(index, { today: TODAY, limit }).leaders;
    const withoutCategories = Array.from(found, ({ categories: _, ...rest }) => rest);
    assert.deepEqual(withoutCategories, expected.slice(0, limit));
    for (const { provider, categories } of found) {
      const using = domains.flatMap(({ services }) => services.filter((service) => service[1] === provider));
      assert.deepEqual(new Set(categories), new Set(using.map(([category]) => category)));
      assert.deepEqual(categories, categoriesOf(index, index.vocabulary.providers.find(provider) ?? -1));
    }
    assert.equal(providersInUse(index), expected.length);
    const some = leaders(index, { today: TODAY, limit, providers: ['unknown', ...PROVIDERS.slice(3)] }).leaders;
    const isLast = ({ provider }: { readonly provider: string }) => PROVIDERS.indexOf(provider) >= 3;
    assert.deepEqual(
      Array.from(some, ({ categories: _, ...rest }) => rest),
      expected.filter(isLast).slice(0, limit),
    );
  }));

const nearIn = (index: DomainIndex, provider: string) => neighbourhood(index, provider, { ownerOf });
const otherOwnersThan = (provider: string) => PROVIDERS.filter((other) => ownerOf(other) !== ownerOf(provider));

it('the supply chain names dependents, markets, sole sources and neighbours as a walk over all domains does', () =>
  holds(25, [manyDomains(120), fc.integer({ min: 1, max: 6 })], (domains, limit) => {
    const index = indexOf(domains);
    for (const provider of [...PROVIDERS, 'unknown']) {
      const every = { categories: markets(index, { ownerOf }), roles: roleMarkets(index, { ownerOf }) };
      const chain = supplyChain(provider, nearIn(index, provider), { markets: every, limit });
      const own = usersOf(domains, provider);
      const isSole = (firms: readonly string[]) => firms.length === 1 && firms[0] === provider;
      const firmsIn = (each: IndexedDomain, category: Category) => {
        const isSame = (other: string) => roleOf(category, other) === roleOf(category, provider);
        return firmProviders(each, category).filter(isSame);
      };
      const sole = own.filter((each) => each.services.some(([category]) => isSole(firmsIn(each, category))));
      assert.equal(chain.soleSourceDomains, sole.length);
      const expected = otherOwnersThan(provider)
        .map((other) => ({ provider: other, domains: usersOf(own, other).length }))
        .filter((other) => other.domains >= MIN_SUPPORT);
      const ranked = (sizeOf: (other: string) => number) =>
        expected
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
      const shared = new Set(chain.markets.map(({ market }) => market.category));
      assert.deepEqual(shared, new Set(held.map(([category]) => category)));
      for (const { market, share } of chain.markets) {
        const weight = active.reduce((sum, domain) => {
          const firms = firmProviders(domain, market.category);
          return sum + (firms.includes(provider) ? 1 / firms.length : 0);
        }, 0);
        assert.ok(Math.abs(share - weight / market.denominator) < 1e-9);
      }
    }
  }));

/** Enough copies of every domain that some pairs reach the minimum support and some do not. */
const manyAlike = fc
  .tuple(manyDomains(25), fc.integer({ min: 1, max: 9 }))
  .map(([domains, copies]) =>
    Array.from({ length: copies }, (_, copy) =>
      domains.map((each) => ({ ...each, id: each.id * 10 + copy, name: `${copy}.${each.name.slice(0, 200)}` })),
    ).flat(),
  );
it('co-adoption counts the domains of two providers, with Jaccard and lift, and leaves out brands of one owner', () =>
  holds(25, [manyAlike, fc.integer({ min: 1, max: 6 })], (domains, limit) => {
    const index = indexOf(domains);
    for (const provider of PROVIDERS) {
      const own = usersOf(domains, provider);
      const expected = otherOwnersThan(provider)
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
      const found = coAdoption(nearIn(index, provider), limit);
      const rounded = (all: typeof found) => all.map((each) => ({ ...each, lift: each.lift.toPrecision(9) }));
      assert.deepEqual(rounded(found), rounded(expected));
    }
  }));
it('co-adoption needs twenty common domains', () => {
  const both = (count: number) => indexOf(plainDomains([count, using('dns acme high', 'email borealis high')]));
  const sizeOf = (count: number, of: string) => coAdoption(nearIn(both(count), of), 5).length;
  assert.deepEqual([sizeOf(19, 'acme'), sizeOf(20, 'acme'), sizeOf(20, 'unknown')], [0, 1, 0]);
});
