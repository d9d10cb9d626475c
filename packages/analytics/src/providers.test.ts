import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { compareText } from './compare-text.ts';
import { dayOf } from './daily-series.ts';
import { categoriesOf, leaders, providersInUse, rankOf } from './providers.ts';
import { indexOf, plainDomain, usersOf, using } from './test/firms.ts';
import { changes, DAYS, FIRST_DAY } from './test/random-changes.ts';
import { manyDomains, PROVIDERS } from './test/random-domains.ts';

const TODAY = FIRST_DAY + DAYS - 3;

describe('the leaders', () => {
  it('are those with the most domains, with their movement over thirty days', () =>
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
    const found = leaders(index, { today: 0, limit: 9 }).map(({ provider }) => provider);
    assert.deepEqual([found, providersInUse(index)], [['borealis'], 1]);
  });
});
