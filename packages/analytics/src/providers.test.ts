import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { compareText } from './compare-text.ts';
import { dayOf } from './daily-series.ts';
import type { IndexedDomain } from './domain-index.ts';
import { categoriesOf, leaders, providersInUse, rankOf } from './providers.ts';
import { indexOf, plainDomain, usersOf, using } from './test/firms.ts';
import { changes, DAYS, FIRST_DAY } from './test/random-changes.ts';
import { manyDomains, PROVIDERS } from './test/random-domains.ts';

const TODAY = FIRST_DAY + DAYS - 3;

/** Providers in use, most domains first. */
function ranking(domains: readonly IndexedDomain[]) {
  return PROVIDERS.map((provider) => ({ provider, users: usersOf(domains, provider) }))
    .filter(({ users }) => users.length > 0)
    .sort((a, b) => b.users.length - a.users.length || compareText(a.provider, b.provider));
}

describe('the leaders', () => {
  it('are those with the most domains, with their movement over thirty days', () =>
    holds(60, [manyDomains(80), changes, fc.integer({ min: 1, max: 7 })], (domains, changed, limit) => {
      const index = indexOf(domains);
      for (const change of changed) index.history.add(change);
      const real = changed.filter(({ type, confirmedAt }) => {
        const day = dayOf(confirmedAt);
        return type !== 'reclassified' && day > TODAY - 30 && day <= TODAY;
      });
      const expected = ranking(domains).map(({ provider, users }, i) => ({
        rank: i + 1,
        provider,
        domains: users.length,
        share: users.length / domains.length,
        change30d:
          real.filter((change) => change.to === provider && change.isEntry).length -
          real.filter((change) => change.from === provider && change.isExit).length,
      }));
      const found = leaders(index, { today: TODAY, limit });
      const withoutCategories = Array.from(found, ({ categories: _, ...rest }) => rest);
      assert.deepEqual(withoutCategories, expected.slice(0, limit));
      for (const { provider, categories } of found) {
        const using = domains.flatMap(({ services }) => services.filter((service) => service[1] === provider));
        assert.deepEqual(new Set(categories), new Set(using.map(([category]) => category)));
        assert.deepEqual(categories, categoriesOf(index, index.vocabulary.providers.find(provider) ?? -1));
      }
      assert.equal(providersInUse(index), expected.length);
      for (const { provider, rank } of expected) assert.equal(rankOf(index, provider), rank);
      assert.equal(rankOf(index, 'nobody'), expected.length + 1);
    }));

  it('leave out a provider that nobody uses any more', () => {
    const index = indexOf([plainDomain(1, using('email acme high')), plainDomain(1, using('email borealis high'))]);
    assert.deepEqual(
      Array.from(leaders(index, { today: 0, limit: 9 }), ({ provider }) => provider),
      ['borealis'],
    );
    assert.equal(providersInUse(index), 1);
  });
});
