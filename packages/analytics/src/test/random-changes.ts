// Changes and scans as fast-check makes them: few providers, forty days, not always in the order of time.
import { CATEGORIES } from '@strata/detect';
import fc from 'fast-check';
import type { IndexedChange } from '../history/change-history.ts';
import { DAY_MS } from '../history/daily-series.ts';
import { PROVIDERS } from './random-domains.ts';

export const FIRST_DAY = 20_600;
export const DAYS = 40;

const provider = fc.constantFrom(...PROVIDERS.slice(0, 3));
const moment = fc.nat(DAYS * DAY_MS - 1).map((ms) => FIRST_DAY * DAY_MS + ms);
const midnight = fc.nat(DAYS - 1).map((day) => (FIRST_DAY + day) * DAY_MS);

export const change: fc.Arbitrary<IndexedChange> = fc
  .record({
    domainId: fc.nat(20),
    at: moment,
    confirmedAt: fc.oneof(moment, midnight),
    category: fc.constantFrom(...CATEGORIES.slice(0, 2), 'verified_service' as const),
    type: fc.constantFrom('added', 'removed', 'migrated', 'reclassified'),
    left: provider,
    chosen: provider,
    isEntry: fc.boolean(),
    isExit: fc.boolean(),
    hasBoth: fc.boolean(),
  })
  .map(({ left, chosen, hasBoth, ...rest }) => {
    const isBoth = rest.type === 'migrated' || (rest.type === 'reclassified' && hasBoth);
    const from = isBoth || rest.type === 'removed' ? left : null;
    return { ...rest, from, to: isBoth || rest.type !== 'removed' ? chosen : null };
  });

export const changes: fc.Arbitrary<IndexedChange[]> = fc.array(change, { maxLength: 150, size: 'max' });

export const scans = fc.array(
  fc.record({
    day: fc.nat(DAYS - 1).map((day) => FIRST_DAY + day),
    scans: fc.integer({ min: 1, max: 50 }),
    rulebook: fc.constantFrom('r1', 'r2', 'r3'),
  }),
  { maxLength: 30, size: 'max' },
);
