import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import { compareText } from '../compare-text.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { indexOf } from '../test/firms.ts';
import { manyDomains, ownerOf, PROVIDERS } from '../test/random-domains.ts';
import { markets } from './concentration.ts';
import { neighbourhood } from './neighbours.ts';
import { countDomains, type Population } from './population.ts';
import { categorySize, providersInUse } from './providers.ts';
import { scorecard } from './scorecard.ts';

const aggregatesOf = (of: Population) => ({
  markets: markets(of, { ownerOf }),
  scorecard: scorecard(of),
  sizes: [of.size, of.tallies.services, providersInUse(of), ...CATEGORIES.map((each) => categorySize(of, each))],
  of: PROVIDERS.map((each) => {
    const { neighbours, ...rest } = neighbourhood(of, each, { ownerOf });
    return { ...rest, neighbours: neighbours.toSorted((a, b) => compareText(a.provider, b.provider)) };
  }),
});
it('aggregates of a part of an index are those of an index of that part', () =>
  holds(25, [manyDomains(120), fc.integer({ min: 1, max: 4 })], (domains, every) => {
    const part = domains.filter(({ id }) => id % every === 0);
    const counting = countDomains(indexOf(domains), DomainSet.of(part.map(({ id }) => id).sort((a, b) => a - b)));
    let step = counting.next();
    while (!step.done) step = counting.next();
    assert.deepEqual(aggregatesOf(step.value), aggregatesOf(indexOf(part)));
  }));
