import assert from 'node:assert/strict';
import { it } from 'node:test';
import semver from 'semver';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import type { VersionRange, VersionScheme } from '../advisory.ts';
import { covers, intervalOf, intervalOfVersion, rangeText } from './ranges.ts';
import { compareVersions, distributionOf, readVersion, type VersionKey } from './version.ts';

interface VersionVectors {
  comparisons: { scheme: VersionScheme; a: string; order: '<' | '=' | '>'; b: string; why: string }[];
  ranges: { scheme: VersionScheme; version: string; range: VersionRange; isIn: boolean | null; why: string }[];
  words: { range: VersionRange; words: string; why: string }[];
  unreadable: { scheme: VersionScheme; version: string; why: string }[];
  distributions: { version: string; upstream: string | null; distribution: string | null; why: string }[];
}

const vectors = vectorsIn<VersionVectors>('versions.json');
const schemes: readonly VersionScheme[] = ['dotted', 'semver', 'openssl', 'python', 'deb', 'rpm'];
const signs = { '<': -1, '=': 0, '>': 1 };

function compare(a: string, b: string, scheme: VersionScheme): number {
  const [left, right] = [readVersion(a, scheme), readVersion(b, scheme)];
  assert.ok(left !== undefined && right !== undefined, `${scheme} reads ${a} and ${b}`);
  return compareVersions(left, right);
}

for (const { scheme, a, order, b, why } of vectors.comparisons)
  it(`versions of ${scheme}: ${a} ${order} ${b}: ${why}`, () =>
    assert.deepEqual([compare(a, b, scheme), compare(b, a, scheme)], [signs[order], 0 - signs[order]]));

for (const { scheme, version, range, isIn, why } of vectors.ranges)
  it(`versions of ${scheme}: ${version} in ${rangeText(range)}: ${isIn}, ${why}`, () => {
    const [inner, outer] = [intervalOfVersion(version, scheme), intervalOf(range, scheme)];
    assert.equal(inner && outer ? covers(outer, inner) : null, isIn);
  });

for (const { range, words, why } of vectors.words)
  it(`versions: ${words}: ${why}`, () => assert.equal(rangeText(range), words));

for (const { scheme, version, why } of vectors.unreadable)
  it(`texts that are no version of ${scheme}: ${JSON.stringify(version)}: ${why}`, () =>
    assert.equal(readVersion(version, scheme), undefined));
it('texts that are no version, and endless ones, are refused at once', () => {
  for (const scheme of schemes)
    for (const text of ['1', '1.', '1-', '1.0-a', '0', '~', '1+'])
      assert.equal(readVersion(text.repeat(500_000), scheme), undefined);
  assert.equal(distributionOf('1ubuntu'.repeat(500_000)), null);
});

for (const { version, upstream, distribution, why } of vectors.distributions)
  it(`of texts that are no version ${JSON.stringify(version)} is ${upstream} of ${distribution}: ${why}`, () =>
    assert.deepEqual(distributionOf(version), upstream === null ? null : { upstream, distribution }));

const piece = fc.constantFrom(
  ...['0', '1', '2', '10', '00', '.', '-', '~', '^', '+', '_', '!', ':', 'a', 'b', 'p', 'z', 'zz', 'rc', 'beta'],
  ...['alpha', 'dev', 'post', 'final', 'el7', 'ubuntu', ' ', 'é', '\0', '__proto__'],
);
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => `1${pieces.join('')}`);

it('semantic versions are in the order that npm gives them', () => {
  const identifier = fc.constantFrom('0', '1', '2', '10', 'a', 'alpha', 'beta', 'rc-1', 'a-', '-', 'A');
  const preRelease = fc.array(identifier, { maxLength: 3 }).map((row) => (row.length > 0 ? `-${row.join('.')}` : ''));
  const numbers = fc.array(fc.constantFrom(0, 1, 2, 10), { minLength: 3, maxLength: 3 });
  const version = fc.tuple(numbers, preRelease).map(([row, rest]) => (row.join('.') + rest).toLowerCase());
  holds(1_000, [version, version], (a, b) => assert.equal(compare(a, b, 'semver'), semver.compare(a, b)));
});

for (const scheme of schemes) {
  const key = text.map((each) => readVersion(each, scheme)).filter((each) => each !== undefined);
  it(`in the scheme ${scheme} the order is total`, () =>
    holds(100, [key, key, key], (a, b, c) => {
      assert.equal(compareVersions(a, b), 0 - compareVersions(b, a));
      const sorted: VersionKey[] = [a, b, c].sort(compareVersions);
      assert.ok(compareVersions(sorted[0] ?? a, sorted[2] ?? a) <= 0);
    }));
  it(`in the scheme ${scheme} a longer row of numbers does not come before a shorter one that begins it`, () => {
    const numbers = fc.array(fc.nat(30), { minLength: 2, maxLength: 3 });
    holds(100, [numbers, fc.nat(30)], (row, last) => {
      const shorter = row.join('.');
      // OpenSSL has three numbers.
      const longer = [...row, last].slice(0, 3).join('.');
      assert.ok(compare(shorter, longer, scheme) <= 0, `${shorter} and ${longer}`);
    });
  });
  it(`in the scheme ${scheme} numbers are in their order, however large`, () =>
    holds(100, [fc.bigInt(0n, 10n ** 30n), fc.bigInt(0n, 10n ** 30n)], (a, b) => {
      assert.equal(compare(`1.${a}`, `1.${b}`, scheme), a < b ? -1 : a > b ? 1 : 0);
    }));
  it(`in the scheme ${scheme} any text is read or refused, never thrown at`, () => {
    holds(100, [fc.string({ unit: codePoint })], (any) => typeof readVersion(any, scheme) !== 'object');
    holds(100, [text], (any) => distributionOf(any)?.upstream !== '');
  });
}
