// Domains and what happens to them, as fast-check makes them: few providers and sectors, so that they meet.
import { CATEGORIES, HOLDERS, mainRoleOf, POSTURE_FLAGS, type RoleOf, SECTORS } from '@strata/detect';
import fc from 'fast-check';
import { type IndexedService, LEVELS, STATES } from '../columns/terms.ts';
import type { DomainIndex, IndexedDomain } from '../index/domain-index.ts';
import { uniqueNames } from './domain-names.ts';

export const PROVIDERS = ['acme', 'borealis', 'cirrus', 'delta', 'ember', 'fjord'];
/** Some of the providers of a category have another role. */
export const roleOf: RoleOf = (category, provider) =>
  category === 'email_security' && provider > 'cirrus' ? 'dmarc_reports' : mainRoleOf(category);
/** Two brands of one firm, and every other its own. */
export const ownerOf = (provider: string): string => (provider === 'delta' ? 'cirrus' : provider);

const services: fc.Arbitrary<IndexedService[]> = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(...CATEGORIES.slice(0, 4), 'verified_service'),
    fc.constantFrom(...PROVIDERS),
    fc.constantFrom(...LEVELS),
    fc.constantFrom(null, null, '1.0', '1.1', '2.0'),
    fc.constantFrom(null, 'ubuntu'),
  ),
  { selector: ([category, provider]) => `${category} ${provider}`, maxLength: 9, size: 'max' },
);

const posture = fc
  .subarray([...POSTURE_FLAGS.keys()])
  .map((flags) => flags.reduce((bits, flag) => (bits | (1 << flag)) >>> 0, 0));

const holders = fc
  .array(fc.nat(HOLDERS.length - 1), { minLength: CATEGORIES.length, maxLength: CATEGORIES.length })
  .map((roles) => roles.reduce((bits, holder, role) => bits | (holder << (role * 3)), 0));

const fullSeconds = fc
  .oneof(fc.constant(0), fc.integer({ min: 1_600_000_000, max: 1_800_000_000 }))
  .map((at) => at * 1_000);

const contents = fc.record({
  scannedAt: fc.integer({ min: 1_750_000_000_000, max: 1_800_000_000_000 }),
  state: fc.oneof({ weight: 3, arbitrary: fc.constant('active' as const) }, fc.constantFrom(...STATES)),
  sector: fc.constantFrom(...SECTORS.slice(0, 4), 'a-sector-of-tomorrow'),
  ...{ firstSeen: fullSeconds, changedAt: fullSeconds, posture, holders, services, score: fc.option(fc.nat(100)) },
  country: fc.constantFrom(null, 'DE', 'GB', 'US'),
});

export type Step =
  | { readonly kind: 'put'; readonly domain: IndexedDomain }
  | { readonly kind: 'touch'; readonly id: number; readonly scannedAt: number }
  | { readonly kind: 'remove'; readonly id: number };

/** What a put or a removal touched; undefined of a touch. */
export function takeStep(index: DomainIndex, step: Step) {
  if (step.kind === 'remove') return index.remove(step.id);
  return step.kind === 'put' ? index.put(step.domain) : void index.touch(step.id, step);
}

/** Puts, touches and removals of a few domains, most of them several times. */
export const steps = ({ domains, max }: { readonly domains: number; readonly max: number }): fc.Arbitrary<Step[]> =>
  namedDomains(domains).chain((named) => {
    if (named.length === 0) return fc.constant([]);
    const put = fc
      .tuple(fc.constantFrom(...named), contents)
      .map(([domain, content]) => ({ kind: 'put', domain: { ...domain, ...content } }) as const);
    const touch = fc
      .tuple(fc.constantFrom(...named), fc.nat(2_000_000_000_000))
      .map(([{ id }, scannedAt]) => ({ kind: 'touch', id, scannedAt }) as const);
    const remove = fc.constantFrom(...named).map(({ id }) => ({ kind: 'remove', id }) as const);
    return fc.array(fc.oneof({ weight: 5, arbitrary: put }, touch, remove), { maxLength: max, size: 'max' });
  });

export const manyDomains = (max: number): fc.Arbitrary<IndexedDomain[]> =>
  namedDomains(max).chain((named) =>
    fc
      .array(contents, { minLength: named.length, maxLength: named.length })
      .map((all) => named.map((domain, i) => ({ ...domain, ...(all[i] as (typeof all)[number]) }))),
  );

/** With gaps between the numbers, and not in the order of the names. */
function namedDomains(max: number): fc.Arbitrary<{ readonly id: number; readonly name: string }[]> {
  return uniqueNames(max).chain((names) =>
    fc
      .uniqueArray(fc.integer({ min: 1, max: 1_500 }), { minLength: names.length, maxLength: names.length })
      .map((ids) => names.map((name, i) => ({ id: ids[i] as number, name }))),
  );
}
