import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import {
  type Advisory,
  type Claim,
  type ConfigurationNode,
  type CpeCriterion,
  RANGE_SOURCES,
  type VersionScheme,
} from '../advisory.ts';
import { BuildClasses } from '../exposure/build-classes.ts';
import { compileAdvisory, type Judgement, judge, judgeCompiled, productKeysOf } from './judge.ts';
import type { ObservedProduct } from './prepared-product.ts';

interface MatchingVectors {
  advisories: Record<string, Advisory['claims']>;
  cases: (ObservedProduct & Judgement & { advisory: string; why: string })[];
}

const vectors = vectorsIn<MatchingVectors>('advisory-matching.json');

for (const { advisory, keys, version, platform, releaseParts, why, ...expected } of vectors.cases)
  it(`judge says of ${advisory} and ${keys[0]} ${version} ${platform ?? ''}: ${expected.verdict}, ${expected.reason}: ${why}`, () => {
    const claims = vectors.advisories[advisory] ?? assert.fail(advisory);
    const product = { keys, version, platform, releaseParts };
    assert.deepEqual(judge({ claims }, product), expected);
    assert.deepEqual(judgeCompiled(compileAdvisory({ claims }), product), expected, 'compiled');
  });

const SCHEMES: readonly VersionScheme[] = ['dotted', 'semver', 'openssl', 'python', 'deb', 'rpm'];
const nginx: ObservedProduct = { keys: ['cpe:f5:nginx'], version: '1.18.0', platform: null };
const nameOf = (product: string) => `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`;
const criterion = (product: string, to: string, isVulnerable = true): CpeCriterion => ({
  kind: 'cpe',
  name: nameOf(product),
  isVulnerable,
  range: { to: { version: to, isInclusive: false } },
});
const nodeOf = (operator: 'AND' | 'OR', isNegated: boolean, children: ConfigurationNode['children']) =>
  ({ kind: 'node', operator, isNegated, children }) as const;
const advisoryOf = (root: ConfigurationNode): Pick<Advisory, 'claims'> => ({
  claims: [{ kind: 'configuration', source: 'nvd', products: [], root }],
});

const product = fc.constantFrom('f5:nginx', 'openbsd:openssh', 'example:other', 'broken');
const leaf: fc.Arbitrary<CpeCriterion> = fc
  .tuple(product, fc.constantFrom('1.0', '1.18.0', '2.0', 'n/a'), fc.boolean())
  .map(([name, to, isVulnerable]) => criterion(name, to, isVulnerable));
const { tree } = fc.letrec<{ tree: ConfigurationNode; child: ConfigurationNode | CpeCriterion }>((tie) => ({
  tree: fc
    .tuple(fc.constantFrom('AND', 'OR'), fc.boolean(), fc.array(tie('child'), { maxLength: 4 }))
    .map(([operator, isNegated, children]) => nodeOf(operator, isNegated, children)),
  child: fc.oneof({ maxDepth: 4 }, leaf, tie('tree')),
}));
it('configurations twice negated are as they were', () =>
  holds(100, [tree], (root) => {
    const twice = nodeOf('OR', true, [nodeOf('AND', true, [root])]);
    assert.deepEqual(judge(advisoryOf(twice), nginx), judge(advisoryOf(root), nginx));
  }));
it('configurations never affect a product by criteria that are not vulnerable', () => {
  const tame = (child: ConfigurationNode | CpeCriterion): ConfigurationNode | CpeCriterion =>
    child.kind === 'cpe' ? { ...child, isVulnerable: false } : { ...child, children: child.children.map(tame) };
  holds(100, [tree], (root) => {
    assert.equal(judge(advisoryOf(nodeOf('OR', false, [tame(root)])), nginx).reason, 'other_product');
  });
});
it('configurations are affected no more by another product in an OR', () =>
  holds(100, [tree], (root) => {
    const wider = nodeOf('OR', false, [root, criterion('example:another', '99')]);
    assert.deepEqual(judge(advisoryOf(wider), nginx), judge(advisoryOf(root), nginx));
  }));
it('configurations nested without end are unknown, not a broken stack', () => {
  let root = nodeOf('AND', false, [criterion('f5:nginx', '2.0')]);
  for (let depth = 0; depth < 5_000; depth++) root = nodeOf('AND', false, [root]);
  assert.equal(judge(advisoryOf(root), nginx).verdict, 'unaffected');
  const beside = nodeOf('AND', false, [criterion('f5:nginx', '2.0'), root]);
  assert.equal(judge(advisoryOf(beside), nginx).reason, 'condition');
});
it('configurations of many criteria are judged, and listed briefly', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => criterion('f5:nginx', `0.${index}`));
  const judgement = judge(advisoryOf(nodeOf('OR', false, many)), nginx);
  assert.equal(judgement.reason, 'out_of_range');
  assert.ok(judgement.range !== null && judgement.range.length < 200 && judgement.range.endsWith(' or 19992 more'));
});

describe('judge', () => {
  const hostile = fc.oneof(
    fc.constantFrom('', '__proto__', 'constructor', '1.0', '1'.repeat(10_000), '<1.0', 'cpe:f5:nginx', '-', '*', '\0'),
    fc.string({ unit: codePoint }),
  );
  const bound = fc.record({ version: hostile, isInclusive: fc.boolean() });
  const range = fc.record({ from: bound, to: bound }, { requiredKeys: [] });
  const source = fc.constantFrom(...RANGE_SOURCES);
  const product = fc.record({
    source,
    kind: fc.constant('product' as const),
    products: fc.array(hostile, { maxLength: 3 }),
    scheme: fc.constantFrom(...SCHEMES),
    affected: fc.array(range, { maxLength: 3 }),
    affectedVersions: fc.array(hostile, { maxLength: 3 }),
    unaffected: fc.array(range, { maxLength: 3 }),
    otherwise: fc.constantFrom('affected', 'unaffected', 'unknown'),
    platforms: fc.array(hostile, { maxLength: 2 }),
  });
  const name = fc.oneof(
    hostile,
    hostile.map((text) => `cpe:2.3:a:f5:nginx:${text}:*:*:*:*:*:*:*`),
  );
  const cpe = fc.record({ kind: fc.constant('cpe' as const), name, isVulnerable: fc.boolean(), range });
  const configuration = fc.record({
    source,
    kind: fc.constant('configuration' as const),
    products: fc.array(hostile, { maxLength: 3 }),
    root: fc.array(cpe, { maxLength: 3 }).map((children) => nodeOf('OR', false, children)),
  });
  const own = fc.array(hostile, { minLength: 1, maxLength: 3 });
  const observed = fc.record({ keys: own, version: fc.option(hostile), platform: fc.option(hostile) });
  it('never throws, and returns affected only if a version was observed and a source decided', () =>
    holds(500, [fc.array(fc.oneof(product, configuration), { maxLength: 4 }), observed], (claims, thing) => {
      const { verdict, reason, rangeSource, range } = judge({ claims }, thing);
      const isDecided = reason !== 'no_version' && reason !== 'no_range' && reason !== 'other_product';
      assert.equal(rangeSource !== null, isDecided || range !== null);
      assert.equal(verdict === 'affected', reason === 'in_range');
      if (thing.version === null) assert.notEqual(verdict, 'affected');
    }));
  it('does not change what it is given', () => {
    for (const { advisory, keys, version, platform } of vectors.cases) {
      const claims = vectors.advisories[advisory] ?? [];
      const before = structuredClone(claims);
      judge({ claims }, Object.freeze({ keys: Object.freeze(keys), version, platform }));
      assert.deepEqual(claims, before);
    }
  });
  it('is asked by keys that name every product once', () => {
    const claims = vectors.advisories['CVE-2021-41773'] ?? [];
    const cna = 'cna:apache software foundation/apache http server';
    assert.deepEqual(productKeysOf({ claims }), ['cpe:apache:http_server', 'cpe:fedoraproject:fedora', cna]);
    assert.deepEqual(productKeysOf({ claims: [] }), []);
  });
});

const KEYS = ['cpe:f5:nginx', 'pkg:npm/x'];

function assertAsJudged(claims: Advisory['claims'], products: readonly ObservedProduct[]): void {
  const advisory = compileAdvisory({ claims });
  const classes = new BuildClasses();
  const half = products.length >> 1;
  for (const product of products.slice(0, half)) classes.add(product);
  // The orders are made by the first walk; those that come later are put into them.
  classes.judgeAll(advisory, () => {});
  for (const product of products.slice(half)) classes.add(product);
  let judged = 0;
  classes.judgeAll(advisory, (build, judgement) => {
    judged += 1;
    const product = products[build] as ObservedProduct;
    assert.deepEqual(judgement, judgeCompiled(advisory, product), JSON.stringify(product));
  });
  assert.equal(judged, products.length);
}

describe('builds that an advisory cannot distinguish', () => {
  it('are kept apart by thousands of bounds under five schemes', () => {
    const claims = (['rpm', 'deb', 'python', 'semver', 'dotted'] as const).map((scheme, line) => {
      const affectedVersions = Array.from({ length: 600 }, (_, minor) => `${9001 + line}.${minor}.7`);
      const versions = { affected: [], affectedVersions, unaffected: [], platforms: [] };
      const fixed = { kind: 'product', source: 'osv', products: ['pkg:npm/x'], otherwise: 'unaffected' } as const;
      return { ...fixed, scheme, ...versions };
    });
    const majors = ['9001', '9002', '9003', '9004', '9005', '3'];
    const all = [null, 'ubuntu', 'win64'].flatMap((platform) => majors.map((major) => ({ platform, major })));
    const products = all.flatMap(({ platform, major }) =>
      Array.from({ length: 40 }, (_, i) => ({ keys: KEYS, version: `${major}.${i * 7}.${7 + (i % 2)}`, platform })),
    );
    assertAsJudged(claims, products);
  });

  const plain =
    '1 2 1.0 1.0.0 1.0.1 1.0.1f 1.0.1-fips 1.2.3-1 1.2.3-1ubuntu2 1:1.2.3-1 1.2.3-1+deb11u1 1.18.0 1.18 1.3 3-r1';
  const special = '2.0-rc1 2.0.0-rc.1 2.0b2 8.7 8.7p1 1.1.1za 0 0.0 n/a * - 1.x 1.2.3+build 1.2.3.4 10.4-mariadb v1.2';
  const distributed = '2-1ubuntu1 1.0-1.el8 1!2.0 1.0.post1 1.0~rc1 5.3.3-7+squeeze19 1.24.0-1~bookworm 7.4.33-1';
  const version = fc.constantFrom(...`${plain} ${special} ${distributed}`.split(' '), '', ' 2', '2 ');
  const bound = fc.record({ version, isInclusive: fc.boolean() });
  const range = fc.record({ from: bound, to: bound }, { requiredKeys: [] });
  const products = fc.constantFrom('a:f5:nginx', 'a:openssl:openssl', 'o:linux:linux_kernel');
  const endings = ['*:*:*:*:*:*:*', '-:*:*:*:*:*:*', 'rc1:*:*:*:*:*:*', '*:*:*:lts:*:*:*', '*:*:*:*:windows:*:*'];
  const name = fc
    .tuple(products, fc.constantFrom('*', '-', '1.0', '1.2.3'), fc.constantFrom(...endings))
    .map((attributes) => `cpe:2.3:${attributes.join(':')}`);
  const cpe = fc.record({ kind: fc.constant('cpe' as const), name, isVulnerable: fc.boolean(), range });
  const nodeOf = <Child>(child: fc.Arbitrary<Child>) =>
    fc.record({
      kind: fc.constant('node' as const),
      operator: fc.constantFrom('AND' as const, 'OR' as const),
      isNegated: fc.boolean(),
      children: fc.array(child, { maxLength: 4 }),
    });
  const root = nodeOf(fc.oneof(cpe, nodeOf(cpe)));
  const named = fc.constant([...KEYS]);
  const configuration = fc.record({ kind: fc.constant('configuration' as const), products: named, root });
  const ranges = fc.record({
    kind: fc.constant('product' as const),
    products: fc.subarray(KEYS, { minLength: 1 }),
    scheme: fc.constantFrom(...SCHEMES),
    affected: fc.array(range, { maxLength: 3 }),
    affectedVersions: fc.array(version, { maxLength: 3 }),
    unaffected: fc.array(range, { maxLength: 2 }),
    otherwise: fc.constantFrom('affected' as const, 'unaffected' as const, 'unknown' as const),
    platforms: fc.array(fc.constantFrom('windows', 'linux', 'debian:12', 'all', 'x86'), { maxLength: 2 }),
  });
  const claim: fc.Arbitrary<Claim> = fc.oneof(configuration, ranges);
  const source = fc.constantFrom('nvd' as const, 'cna' as const, 'ghsa' as const, 'osv' as const);
  const claims = fc
    .array(fc.tuple(claim, source), { maxLength: 4 })
    .map((all) => all.map(([claim, by]) => ({ ...claim, source: by })));
  const product = fc.record({
    keys: fc.constant(KEYS),
    version: fc.option(version),
    releaseParts: fc.constantFrom(undefined, 3),
    platform: fc.constantFrom(null, 'ubuntu', 'win64', 'unix', 'linux', 'freebsd', 'red hat enterprise linux'),
  });
  it('are judged as each by itself', () => holds(400, [claims, fc.array(product, { maxLength: 40 })], assertAsJudged));
});
