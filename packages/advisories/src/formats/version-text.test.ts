import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { written } from '../test/written.ts';
import { plainVersion, readVersionText, seriesOf } from './version-text.ts';

const ranges: Readonly<Record<string, readonly string[]>> = {
  '(, 1.2.3)': ['< 1.2.3', '<1.2.3'],
  '(, 1.2.3]': ['<= 1.2.3'],
  '(1.2.3, )': ['> 1.2.3'],
  '[1.0, 1.2.3)': ['>= 1.0, < 1.2.3', '>= 1.0 < 1.2.3', '>=1.0,<1.2.3'],
  '(1.0, 1.2.3]': ['> 1.0, <= v1.2.3'],
  '[1.0, 1.5]': ['1.0 - 1.5', '1.0 – 1.5', '1.0 through 1.5', 'versions 1.0 to 1.5'],
  '(, 1.5]': [
    'n/a through 1.5',
    'up to and including 1.5',
    'up to (including) 1.5',
    '1.5 and earlier',
    '1.5 and prior versions',
  ],
  '[1.0, 1.5)': ['from 1.0 before 1.5'],
  '(, 1.5)': ['before 1.5', 'prior to v1.5'],
  '[1.5, )': ['1.5 and later'],
  '[5.8, 5.9)': ['5.8.x'],
  '[9, 10)': ['9.*'],
  '[2, 3)': ['v2.x.x'],
  '(, )': ['*', 'All versions'],
};
const singles = [
  ['1.2.3', '1.2.3'],
  ['v1.2.3', '1.2.3'],
  [' 1.0.1f ', '1.0.1f'],
  ['2.0-beta9', '2.0-beta9'],
  ['= 1.2.3', '1.2.3'],
  ['version 4.2', '4.2'],
  ['1.0, 1.1, 1.2', '1.0 1.1 1.2'],
  ['1:1.18.0-6+deb11u3', '1:1.18.0-6+deb11u3'],
] as const;
const unknown = [
  ...['', 'n/a', 'unspecified', 'see advisory', 'FortiOS 7.0', '1.0-1.5', 'up to 1.5', '1.5+', '< 1.0, < 2.0'],
  ...['>= 2.0, < 1.0', '>= 1.0, < 2.0, < 3.0', '< ', '<', '1.x - 2.x', '1.5 - 1.0', '< 2.x', 'not 1.0', '~1.2', '^1.2'],
  ...['< 1.2.3 on Windows', '1.0 (and 2.0)', '>= 1.0 || < 0.5', '= 1.0, = 2.0', '1.0 < 2.0', '1'.repeat(300)],
];

describe('versions as text', () => {
  for (const [range, texts] of Object.entries(ranges))
    for (const text of texts)
      it(`'${text}' is the range ${range}`, () => {
        const read = readVersionText(text);
        assert.deepEqual([read?.ranges.map(written), read?.versions], [[range], []]);
      });
  for (const [text, versions] of singles)
    it(`'${text}' is ${versions}`, () =>
      assert.deepEqual(readVersionText(text), { ranges: [], versions: versions.split(' ') }));
  for (const text of unknown)
    it(`'${text.slice(0, 30)}' is not guessed`, () => assert.equal(readVersionText(text), undefined));
  it('a series ends before the next one, also at many digits', () =>
    assert.equal(seriesOf(`1.${'9'.repeat(30)}.x`)?.to.version, `1.1${'0'.repeat(30)}`));
  it('any text is read or not, in little time', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => void [readVersionText(text), plainVersion(text)]));
    const started = performance.now();
    for (const piece of ['1.', '1 ', '< ', '.x', ' to ', ',', '1-'])
      for (const count of [500_000, 60]) readVersionText(piece.repeat(count));
    assert.ok(performance.now() - started < 20_000);
  });
});
