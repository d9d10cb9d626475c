import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import type { Advisory } from '../advisory.ts';
import { type Assessed, urgencyOf } from '../entry.ts';
import { judge, productKeysOf } from '../judge/judge.ts';
import { type Build, ExposureIndex, type KnownProduct } from './exposure-index.ts';
import { verdictOf } from './verdict-list.ts';

const PRODUCTS: readonly KnownProduct[] = casesOf('advisories', 'providers');
const KEYS = ['cpe:a:alpha', 'pkg:npm/alpha', 'cpe:b:beta', 'cpe:c:constructor', 'cpe:x:unknown'];
const NO_VERSION: Build = { version: null, platform: null };

type Claim = Advisory['claims'][number];

function claimOf(key: string, below: string): Claim {
  const ranges = { affected: [{ to: { version: below, isInclusive: false } }], affectedVersions: [], unaffected: [] };
  const rest = { scheme: 'dotted', otherwise: 'unaffected', platforms: [] } as const;
  return { kind: 'product', source: 'nvd', products: [key], ...ranges, ...rest };
}

/** What is known of an advisory that differs so from the ordinary one. */
function assessed(id: string, differs: Partial<Advisory> = {}, more: Partial<Assessed> = {}): Assessed {
  const times = { published: '2024-01-01T00:00:00.000Z', modified: '2024-01-01T00:00:00.000Z' };
  const nothing = { aliases: [], title: null, summary: null, cvss: null, severity: null, urls: [] };
  const claims = [claimOf('cpe:a:alpha', '2.0')];
  const advisory: Advisory = { id, state: 'published', ...times, ...nothing, claims, ...differs };
  return { advisory, exploited: null, score: null, ...more };
}
const EXPLOITED = { cve: 'CVE-1', dateAdded: '2024-02-01', dueDate: null, isRansomware: false, requiredAction: '' };

const version = fc.constantFrom('1.0', '1.5', '1.5.1', '2.0', '2.5', 'nonsense', '');
const platform = fc.constantFrom('ubuntu', 'win64', '');
const build: fc.Arbitrary<Build> = fc.record({ version: fc.option(version), platform: fc.option(platform) });
const claim = fc.tuple(fc.constantFrom(...KEYS), version).map(([key, below]) => claimOf(key, below));
const anyAssessed: fc.Arbitrary<Assessed> = fc
  .record({
    id: fc.constantFrom(...Array.from({ length: 8 }, (_, i) => `CVE-2024-${i}`)),
    state: fc.constantFrom<Advisory['state']>('published', 'published', 'published', 'rejected'),
    severity: fc.constantFrom<Advisory['severity']>('low', 'critical', null),
    published: fc.constantFrom('2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z', 'never'),
    claims: fc.array(claim, { maxLength: 3 }),
    epss: fc.option(fc.constantFrom(0, 0.5, 1)),
    isExploited: fc.boolean(),
  })
  .map(({ id, epss, isExploited, ...differs }) => {
    const score = epss === null ? null : { epss, percentile: 0.5 };
    return assessed(id, differs, { exploited: isExploited ? EXPLOITED : null, score });
  });

type Step = { put: Assessed } | { delete: string } | { addBuild: [product: string, build: Build] };
const id = fc.constantFrom('CVE-2024-0', 'CVE-2024-1', 'no');
const product = fc.constantFrom(...PRODUCTS.map((each) => each.id), 'none');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: anyAssessed }) },
  { weight: 1, arbitrary: fc.record({ delete: id }) },
  { weight: 3, arbitrary: fc.record({ addBuild: fc.tuple(product, build) }) },
);
const idsOf = (index: ExposureIndex) => index.inOrder().map(({ advisory }) => advisory.id);

class Naive {
  readonly advisories = new Map<string, Assessed>();
  readonly builds = new Map(PRODUCTS.map(({ id }) => [id, [NO_VERSION]]));

  readonly put = (given: Assessed) => this.advisories.set(given.advisory.id, given);
  readonly delete = (id: string) => this.advisories.delete(id);
  readonly addBuild = (product: string, build: Build) => this.builds.get(product)?.push(build);

  known(): Assessed[] {
    const keys = new Set(PRODUCTS.flatMap((product) => product.keys));
    return [...this.advisories.values()]
      .filter(({ advisory: { state } }) => state === 'published')
      .filter(({ advisory }) => productKeysOf(advisory).some((key) => keys.has(key)))
      .sort((a, b) => urgencyOf(b) - urgencyOf(a) || (a.advisory.id < b.advisory.id ? -1 : 1));
  }
}

function assertSame(index: ExposureIndex, naive: Naive): void {
  assert.equal(index.size, naive.known().length);
  const ids = naive.known().map(({ advisory }) => advisory.id);
  assert.deepEqual(idsOf(index), ids);
  for (const { id: product, keys, releaseParts } of PRODUCTS) {
    for (const shown of naive.builds.get(product) ?? []) {
      const list = index.verdictsOf(product, shown);
      const found = new Map<string, string>();
      for (let i = 0; i < list.length; i += 1) {
        const entry = index.entryAt(list.numberAt(i));
        assert.ok(entry, 'only of what stands');
        assert.ok(!found.has(entry.advisory.id), 'each once');
        assert.ok(i === 0 || list.numberAt(i - 1) < list.numberAt(i), 'in order');
        const { verdict, reason } = verdictOf(list.codeAt(i));
        found.set(entry.advisory.id, `${verdict} ${reason}`);
        assert.equal(list.find(entry.number), list.codeAt(i));
      }
      const expected = naive.known().flatMap(({ advisory }) => {
        const { verdict, reason } = judge(advisory, { keys, releaseParts, ...shown });
        return verdict === 'unaffected' ? [] : [[advisory.id, `${verdict} ${reason}`] as const];
      });
      assert.deepEqual(new Map([...found].sort()), new Map(expected.sort()), `${product} ${JSON.stringify(shown)}`);
    }
  }
  for (const { advisory, exploited, score } of naive.known()) {
    const entry = index.find(advisory.id);
    assert.deepEqual([entry?.exploited, entry?.score], [exploited, score]);
  }
}

it('the index of exposures after any steps agrees with judging everything again', () =>
  holds(300, [fc.array(step, { maxLength: 30 })], (steps) => {
    const index = new ExposureIndex(PRODUCTS);
    const naive = new Naive();
    for (const each of steps)
      for (const one of [index, naive]) {
        if ('put' in each) one.put(each.put);
        else if ('delete' in each) one.delete(each.delete);
        else one.addBuild(...each.addBuild);
      }
    assertSame(index, naive);
  }));
it('the index of exposures reports every product that an advisory names or named', () => {
  const index = new ExposureIndex(PRODUCTS);
  assert.deepEqual(index.put(assessed('CVE-1')), ['alpha']);
  const moved = assessed('CVE-1', { claims: [claimOf('cpe:b:beta', '2.0')] });
  assert.deepEqual([...index.put(moved)].sort(), ['alpha', 'beta', 'beta-too']);
  const rejected = { ...moved, advisory: { ...moved.advisory, state: 'rejected' as const } };
  assert.deepEqual([...index.put(rejected)], ['beta', 'beta-too']);
  assert.deepEqual([index.find('CVE-1'), index.size, index.delete('CVE-1')], [undefined, 0, []]);
});
it('the index of exposures keeps number and verdicts of an advisory that becomes exploited, and moves it to the front', () => {
  const index = new ExposureIndex(PRODUCTS);
  index.addBuild('alpha', { version: '1.0', platform: null });
  index.put(assessed('CVE-1'));
  index.put(assessed('CVE-2', {}, { score: { epss: 0.9, percentile: 1 } }));
  const { number } = index.find('CVE-1') ?? assert.fail();
  index.put(assessed('CVE-1', { title: 'another title' }, { exploited: EXPLOITED }));
  assert.equal(index.find('CVE-1')?.number, number);
  assert.deepEqual(idsOf(index), ['CVE-1', 'CVE-2']);
  assert.equal(index.verdictsOf('alpha', { version: '1.0', platform: null }).length, 2);
});
it('the index of exposures finds by any id in any case, and all that share one', () => {
  const index = new ExposureIndex(PRODUCTS);
  const shared = 'GHSA-9QR9-H5GF-34MP';
  index.put(assessed('CVE-1', { aliases: [shared] }));
  index.put(assessed('CVE-2', { aliases: [shared] }));
  index.put(assessed('GHSA-aaaa-bbbb-cccc'));
  const named = (text: string) => index.named(text).map(({ advisory }) => advisory.id);
  assert.deepEqual(named('cve-1'), ['CVE-1']);
  assert.deepEqual(named('ghsa-9qr9-h5gf-34mp'), ['CVE-1', 'CVE-2']);
  assert.deepEqual(named('GHSA-AAAA-bbbb-cccc'), ['GHSA-aaaa-bbbb-cccc']);
  for (const text of ['', '__proto__', 'CVE-3', 'CVE']) assert.deepEqual(named(text), []);
});
it('the index of exposures distinguishes builds with similar text', () => {
  const index = new ExposureIndex(PRODUCTS);
  index.put(assessed('CVE-1'));
  index.addBuild('alpha', { version: '1.0', platform: 'ubuntu' });
  index.addBuild('alpha', { version: '1.0 ubuntu', platform: null });
  const verdict = (shown: Build) => verdictOf(index.verdictsOf('alpha', shown).codeAt(0)).reason;
  assert.equal(verdict({ version: '1.0', platform: 'ubuntu' }), 'backport');
  assert.equal(index.verdictsOf('alpha', { version: '1.0 ubuntu', platform: null }).length, 1);
  assert.equal(index.verdictsOf('alpha', { version: '1.0 ubuntu', platform: '' }).length, 0, 'never added');
  // An empty version on no platform is not no version on an empty one.
  index.addBuild('alpha', { version: '', platform: null });
  assert.equal(index.verdictsOf('alpha', { version: null, platform: '' }).length, 0, 'never added either');
});
it('the index of exposures orders by exploitation, then EPSS, then CVSS, then the day, then the id', () => {
  const cvss = (score: number) => ({ version: '3.1', score, vector: '', by: 'nvd' }) as const;
  const ranked = [
    assessed('CVE-9', {}, { exploited: EXPLOITED }),
    assessed('CVE-8', {}, { score: { epss: 0.00002, percentile: 1 } }),
    assessed('CVE-7', { cvss: cvss(10) }, { score: { epss: 0.00001, percentile: 1 } }),
    assessed('CVE-6', { cvss: cvss(9.9), published: '2025-06-01T00:00:00.000Z' }),
    assessed('CVE-5', { cvss: cvss(9.8), published: '2025-06-02T00:00:00.000Z' }),
    assessed('CVE-4', { cvss: cvss(9.8), published: '2025-06-01T00:00:00.000Z' }),
    assessed('CVE-2'),
    assessed('CVE-3'),
  ];
  const ids = ranked.map(({ advisory }) => advisory.id);
  holds(100, [fc.shuffledSubarray(ranked, { minLength: ranked.length })], (shuffled) => {
    const index = new ExposureIndex(PRODUCTS);
    for (const each of shuffled) index.put(each);
    assert.deepEqual(idsOf(index), ids);
  });
});
