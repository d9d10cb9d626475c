import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CATEGORIES } from '@strata/detect';
import { holds } from '../../../../tests/support/property.ts';
import type { Build } from '../columns/builds.ts';
import { countryNumber, LEVELS, Vocabulary } from '../columns/terms.ts';
import { categorySize } from '../questions/providers.ts';
import { checkIndex } from '../test/check-index.ts';
import { indexOf, plainDomain, using } from '../test/firms.ts';
import { manyDomains, PROVIDERS, roleOf, type Step, steps, takeStep } from '../test/random-domains.ts';
import { DomainIndex, type IndexedDomain } from './domain-index.ts';
import { IndexBuilder } from './index-builder.ts';
import { PairCounts } from './pair-counts.ts';

/** What a plain map keeps of the same steps. */
function follow(known: Map<number, IndexedDomain>, step: Step): void {
  const before = known.get(step.kind === 'put' ? step.domain.id : step.id);
  if (step.kind === 'remove') return void known.delete(step.id);
  const { scannedAt, ...domain } = step.kind === 'put' ? step.domain : { ...before, scannedAt: step.scannedAt };
  if (domain.id === undefined) return;
  known.set(domain.id, { ...domain, scannedAt: Math.max(scannedAt, before?.scannedAt ?? 0) } as IndexedDomain);
}

/** By category, then by provider, whatever the input order. */
function inOrder(services: IndexedDomain['services']): IndexedDomain['services'] {
  const key = ([category, provider]: (typeof services)[number]) => `${CATEGORIES.indexOf(category)} ${provider}`;
  return services
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    .map(([category, provider, confidence]) => [category, provider, confidence]);
}

/** Of a provider's services the surest that shows a version, by category; low ones do not count. */
function buildIn(services: IndexedDomain['services'], provider: string): Build | null {
  const rank = ([category, , level]: (typeof services)[number]) =>
    LEVELS.indexOf(level) * CATEGORIES.length + CATEGORIES.indexOf(category);
  const shown = services
    .filter(([, id, level, version]) => id === provider && level !== 'low' && version)
    .toSorted((a, b) => rank(a) - rank(b));
  const [, , , version, platform] = shown[0] ?? [];
  return version ? { version, platform: platform ?? null } : null;
}

function buildsIn(known: ReadonlyMap<number, IndexedDomain>): Set<string> {
  const all = [...known.values()].flatMap(({ services }) =>
    PROVIDERS.map((provider) => ({ provider, ...buildIn(services, provider) })),
  );
  return new Set(all.filter(({ version }) => version).map(textOf));
}

const textOf = ({ provider, version, platform }: Partial<Build> & { readonly provider: string }) =>
  `${provider} ${version} ${platform}`;

/** The columns, against what was put; sets and counts against the columns. */
function check(index: DomainIndex, known: ReadonlyMap<number, IndexedDomain>): void {
  assert.equal(index.size, known.size);
  for (const domain of known.values()) {
    const { id, name, state, services, sector: _, country = null, ...facts } = domain;
    const sector = domain.sector === 'a-sector-of-tomorrow' ? 'unknown' : domain.sector;
    assert.deepEqual([index.names.name(id), index.state(id), index.sector(id)], [name, state, sector]);
    assert.deepEqual(index.services(id), inOrder(services));
    assert.partialDeepStrictEqual(index.columns.facts(id), { ...facts, country: countryNumber(country) });
  }
  for (const provider of PROVIDERS) {
    const builds = index.buildsOf(provider);
    for (const { id, services } of known.values()) {
      const expected = buildIn(services, provider);
      assert.deepEqual(index.buildOf(id, provider), expected);
      const shown = builds.flatMap(({ version, platform, domains }) =>
        domains.has(id) ? [{ version, platform }] : [],
      );
      assert.deepEqual(shown, expected ? [expected] : []);
    }
  }
  checkIndex(index);
}

const showing = (id: number, version: string | null) =>
  plainDomain(id, { services: [['cdn', 'acme', 'high', version, null]] });

it('the index is correct after each step, and returns what a put touched: providers, categories and new builds', () =>
  holds(25, [steps({ domains: 6, max: 12 })], (all) => {
    const index = new DomainIndex({ vocabulary: new Vocabulary([], [], roleOf) });
    const known = new Map<number, IndexedDomain>();
    for (const step of all) {
      const before = known.get(step.kind === 'put' ? step.domain.id : step.id);
      const shownBefore = buildsIn(known);
      const touched = takeStep(index, step);
      follow(known, step);
      check(index, known);
      const come = [...buildsIn(known)].filter((build) => !shownBefore.has(build));
      assert.deepEqual((touched?.newBuilds ?? []).map(textOf).sort(), come.sort());
      if (step.kind === 'touch' || (step.kind === 'remove' && !before)) continue;
      const services = [...(before?.services ?? []), ...(step.kind === 'put' ? step.domain.services : [])];
      const providers = [...new Set(services.map(([, provider]) => provider))].sort();
      const categories = [...new Set(services.map(([category]) => category))].sort();
      assert.equal(touched?.isNew, step.kind === 'put' && before === undefined);
      assert.deepEqual([touched?.providers.toSorted(), touched?.categories.toSorted()], [providers, categories]);
    }
  }));
it('the index is right after many steps over many domains', () =>
  holds(10, [steps({ domains: 80, max: 400 })], (all) => {
    const index = new DomainIndex({ vocabulary: new Vocabulary([], [], roleOf) });
    const known = new Map<number, IndexedDomain>();
    for (const step of all) {
      takeStep(index, step);
      follow(known, step);
    }
    check(index, known);
  }));
it('the index built at once is right, and goes on being right', () =>
  holds(15, [manyDomains(80)], (domains) => {
    const half = domains.length >> 1;
    const builder = new IndexBuilder(roleOf);
    for (const domain of domains.slice(0, half)) builder.put(domain);
    const index = builder.build({ seq: 7, scanId: 9 });
    assert.deepEqual(index.position, { seq: 7, scanId: 9 });
    const known = new Map(domains.slice(0, half).map((domain) => [domain.id, domain]));
    check(index, known);
    const changed = domains
      .slice(0, half)
      .map(({ id, name }, i) => ({ ...(domains[half + i] as IndexedDomain), id, name }));
    for (const domain of [...changed, ...domains.slice(half)]) {
      index.put(domain);
      follow(known, { kind: 'put', domain });
    }
    check(index, known);
  }));
it('the index counts domains and providers by category', () =>
  holds(30, [manyDomains(40)], (domains) => {
    const index = indexOf(domains);
    for (const category of CATEGORIES) {
      const using = domains.filter(({ services }) => services.some(([each]) => each === category));
      const providers = using.flatMap(({ services }) => services.filter(([each]) => each === category));
      const expected = { domains: using.length, providers: new Set(providers.map(([, provider]) => provider)).size };
      assert.deepEqual(categorySize(index, category), expected);
    }
  }));
it('the index treats a build that returns as new, and reuses free numbers', () => {
  const index = new DomainIndex();
  const put = (version: string | null) => index.put(showing(1, version)).newBuilds.length;
  const versions = ['1.0', '1.1', '1.0', null, '1.0', '1.0'];
  assert.deepEqual(versions.map(put), [1, 1, 1, 0, 1, 0]);
  assert.ok(index.builds.words().length <= 2);
  assert.deepEqual([index.buildsOf('unknown'), index.buildsOf('__proto__'), index.buildOf(9, 'acme')], [[], [], null]);
  assert.equal(index.buildOf(1, 'unknown'), null);
});
it('the index takes as many versions as there are domains', () => {
  const many = 10_000;
  const builder = new IndexBuilder();
  for (let id = 1; id <= many; id += 1) builder.put(showing(id, `1.${id}`));
  const index = builder.build({ seq: 0, scanId: 0 });
  assert.equal(index.buildsOf('acme').length, many);
  for (let id = 1; id <= many; id += 1) index.put(showing(id, `2.${id}`));
  assert.equal(index.buildsOf('acme').length, many);
  assert.ok(index.builds.words().length <= many + 1);
});
it('the index takes events that are older than versions, and ignores a touch of a domain it does not know', () => {
  const index = new DomainIndex();
  index.touch(5, { scannedAt: 1 });
  assert.equal(index.size, 0);
  const { newBuilds } = index.put(plainDomain(1, using('cdn acme high')));
  assert.deepEqual([newBuilds, index.buildsOf('acme'), index.buildOf(1, 'acme')], [[], [], null]);
  checkIndex(index);
});

it('pairs are counted of more providers than the table holds at first', () => {
  const pairs = new PairCounts();
  pairs.count([3, 90, 91], 1);
  pairs.count([91, 3], 1);
  assert.deepEqual([pairs.of(3, 90), pairs.of(91, 3), pairs.of(3, 3)], [1, 2, 0]);
});
