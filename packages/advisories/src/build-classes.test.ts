import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import type { Advisory, Claim, VersionScheme } from './advisory.ts';
import { BuildClasses } from './build-classes.ts';
import { compileAdvisory, judgeCompiled, type SeenProduct } from './judge.ts';

const KEYS = ['cpe:f5:nginx', 'pkg:npm/x'];
const SCHEMES: readonly VersionScheme[] = ['dotted', 'semver', 'openssl', 'python', 'deb', 'rpm'];

function assertAsJudged(claims: Advisory['claims'], products: readonly SeenProduct[]): void {
  const advisory = compileAdvisory({ claims });
  const classes = new BuildClasses();
  const half = products.length >> 1;
  for (const product of products.slice(0, half)) classes.add(product);
  // The orders are made by the first walk; those that come later are put into them.
  classes.judgeAll(advisory, () => {});
  for (const product of products.slice(half)) classes.add(product);
  let told = 0;
  classes.judgeAll(advisory, (build, judgement) => {
    told += 1;
    const product = classes.productOf(build);
    assert.deepEqual(judgement, judgeCompiled(advisory, { ...product }), JSON.stringify(product));
  });
  assert.equal(told, products.length);
}

describe('builds that an advisory cannot tell apart', () => {
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
  const others = '2.0-rc1 2.0.0-rc.1 2.0b2 8.7 8.7p1 1.1.1za 0 0.0 n/a * - 1.x 1.2.3+build 1.2.3.4 10.4.1-mariadb v1.2';
  const distributed = '2-1ubuntu1 1.0-1.el8 1!2.0 1.0.post1 1.0~rc1 5.3.3-7+squeeze19 1.24.0-1~bookworm 7.4.33-1';
  const version = fc.constantFrom(...`${plain} ${others} ${distributed}`.split(' '), '', ' 2', '2 ');
  const bound = fc.record({ version, isInclusive: fc.boolean() });
  const range = fc.record({ from: bound, to: bound }, { requiredKeys: [] });
  const products = fc.constantFrom('a:f5:nginx', 'a:openssl:openssl', 'o:linux:linux_kernel');
  const rests = ['*:*:*:*:*:*:*', '-:*:*:*:*:*:*', 'rc1:*:*:*:*:*:*', '*:*:*:lts:*:*:*', '*:*:*:*:windows:*:*'];
  const name = fc
    .tuple(products, fc.constantFrom('*', '-', '1.0', '1.2.3'), fc.constantFrom(...rests))
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
    .map((all) => all.map(([said, by]) => ({ ...said, source: by })));
  const product = fc.record({
    keys: fc.constant(KEYS),
    version: fc.option(version),
    releaseParts: fc.constantFrom(undefined, 3),
    platform: fc.constantFrom(null, 'ubuntu', 'win64', 'unix', 'linux', 'freebsd', 'red hat enterprise linux'),
  });

  it('are judged as each by itself', () => holds(400, [claims, fc.array(product, { maxLength: 40 })], assertAsJudged));
});
