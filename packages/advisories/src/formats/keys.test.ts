// The keys under which advisories name products.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import { CPE_ATTRIBUTES, parseCpe, productKeyOf } from '../cpe/cpe.ts';
import { ANY, type CpeValue } from '../cpe/cpe-value.ts';
import { cpeProductKey } from './cpe-key.ts';
import { affectedClaim } from './cve/cna-affected.ts';
import { compareBounds } from './order.ts';
import { collectionKey, ecosystemOf, packageKey, packageUrlKey } from './package-key.ts';
import { oneLine, summaryOf, utcTime } from './text.ts';

interface ProductKeys {
  readonly cpes: readonly { name: string; key: string | null }[];
  readonly urls: readonly { url: string; key: string | null }[];
  readonly packages: readonly { ecosystem: string; name: string; key: string | null }[];
}
const { cpes, urls, packages } = vectorsIn<ProductKeys>('product-keys.json');
for (const { name, key } of [...cpes, { name: `cpe:2.3:a:${'\\'.repeat(100_000)}`, key: null }])
  it(`the key of a CPE name ${name.slice(0, 50)} is ${key}`, () => assert.equal(cpeProductKey(name) ?? null, key));
for (const { url, key } of urls)
  it(`the key of the package ${url} is ${key}`, () => assert.equal(packageUrlKey(url) ?? null, key));
for (const { ecosystem, name, key } of packages)
  it(`the key of the package ${name} of ${ecosystem} is ${key}`, () => {
    const found = ecosystemOf(ecosystem);
    assert.equal((found && packageKey(found, name)) ?? null, key);
  });
it('the key of a package is found by the address of its collection', () => {
  assert.equal(collectionKey('https://www.npmjs.com/package', 'next'), 'pkg:npm/next');
  for (const other of ['https://wordpress.org/plugins', 'no address'])
    assert.equal(collectionKey(other, 'x'), undefined);
});
it('the key of a package is among all names of a product of a CNA, which has none where there is nothing to say', () => {
  const names = { vendor: ' Vercel ', product: 'Next.js', packageURL: 'pkg:npm/next', packageName: 'next' };
  const cpes = ['cpe:2.3:a:vercel:next\\.js:*:*:*:*:*:node.js:*:*', 'nonsense'];
  const collectionURL = 'https://registry.npmjs.org';
  const claim = affectedClaim({ ...names, collectionURL, cpes, platforms: ['Windows', 'all'] });
  assert.deepEqual(claim?.products, ['cna:vercel/next.js', 'pkg:npm/next', 'cpe:vercel:next.js']);
  assert.deepEqual(claim?.platforms, ['windows']);
  assert.equal(affectedClaim({ vendor: 'n/a', product: 'n/a' }), undefined);
});

describe('text and times', () => {
  it('are made plain', () => {
    assert.equal(oneLine(' a\u0000\n b\u0007 ', 10), 'a b');
    assert.equal(oneLine('\ud800x', 10), '\ufffdx');
    assert.equal(oneLine('abcdef', 4), 'abc…');
    assert.equal(summaryOf('a  b\r\n\r\n\r\n\r\nc\n'), 'a b\n\nc');
    assert.equal(summaryOf(' \n '), null);
  });
  it('are in UTC, without a zone too, wherever it is read', (test) => {
    const { TZ } = process.env;
    test.after(() => (TZ === undefined ? delete process.env.TZ : Object.assign(process.env, { TZ })));
    process.env.TZ = 'America/New_York';
    assert.equal(new Date(2021, 0, 1).getTimezoneOffset(), 300);
    assert.equal(utcTime('2021-06-01T13:15:07.853'), '2021-06-01T13:15:07.853Z');
    assert.equal(utcTime('2021-12-10T00:00:00'), '2021-12-10T00:00:00.000Z');
    assert.equal(utcTime('2021-12-10T01:00:00+02:00'), '2021-12-09T23:00:00.000Z');
    assert.equal(utcTime('2024-01-02'), '2024-01-02T00:00:00.000Z');
    const invalid = ['', '2021', '2021-13-01', '2021-02-30T99:00:00Z', '10 Dec 2021', '9999-12-31T23:59:59-23:59'];
    for (const text of invalid) assert.equal(utcTime(text), undefined, text);
  });
  it('bounds are in the order of versions', () => {
    const ordered = '1.0~rc1 1.0-alpha 1.0-rc1 1.0 1.0.1 1.0.1f 1.0.1g 1.0.2 1.9 1.10 1:0.1'.split(' ');
    holds(100, [fc.shuffledSubarray(ordered, { minLength: ordered.length })], (shuffled) =>
      assert.deepEqual(shuffled.toSorted(compareBounds), ordered),
    );
    assert.equal(compareBounds('1.0', 'v1.0.0'.slice(1)), 0);
  });
  it('the order of bounds is the same both ways for any text', () =>
    holds(100, [fc.string(), fc.string()], (a, b) => {
      assert.equal(Math.sign(compareBounds(a, b)) + Math.sign(compareBounds(b, a)), 0);
    }));
});

interface CpeVectors {
  names: { name: string; values: Record<string, CpeValue | string>; product: string | null; why: string }[];
  refused: { name: string; why: string }[];
}

const vectors = vectorsIn<CpeVectors>('cpe.json');
const plain = (text: string): CpeValue => ({ kind: 'text', text, before: '', after: '' });

describe('the CPE reader gives', () => {
  for (const { name, values, product, why } of vectors.names)
    it(`${name}: ${why}`, () => {
      const cpe = parseCpe(name);
      assert.ok(cpe !== undefined);
      for (const attribute of CPE_ATTRIBUTES) {
        const expected = values[attribute] ?? ANY;
        assert.deepEqual(cpe[attribute], typeof expected === 'string' ? plain(expected) : expected, attribute);
      }
      assert.equal(productKeyOf(cpe) ?? null, product);
    });

  for (const { name, why } of vectors.refused)
    it(`nothing from ${JSON.stringify(name)}: ${why}`, () => assert.equal(parseCpe(name), undefined));
  it('nothing from endless names, at once', () => {
    for (const piece of ['\\', ':', '?', '*', 'a', '\\:', '%01', '~'])
      for (const prefix of ['cpe:2.3:', 'cpe:/']) assert.equal(parseCpe(prefix + piece.repeat(1_000_000)), undefined);
  });
  it('any text without throwing', () => {
    const piece = fc.constantFrom('a', ':', '\\', '*', '?', '-', '%', '%01', '%41', '~', '.', '__proto__', '\u0000');
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    holds(100, [fc.constantFrom('cpe:2.3:', 'cpe:/', ''), text], (prefix, rest) => void parseCpe(prefix + rest));
  });

  it('escaped text comes back as it was', () => {
    const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    holds(100, [fc.array(character, { minLength: 1, maxLength: 30 })], (characters) => {
      const escaped = characters.map((each) => (/[a-z0-9_]/i.test(each) ? each : `\\${each}`)).join('');
      const cpe = parseCpe(`cpe:2.3:a:vendor:${escaped}:*:*:*:*:*:*:*:*`);
      assert.deepEqual(cpe?.product, plain(characters.join('').toLowerCase()));
    });
  });
});
