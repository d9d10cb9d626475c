import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { readVector } from '../test/fixture.ts';
import { AmbiguousJsonError, parseStrictJson } from './strict-json.ts';

const { refused, accepted } = JSON.parse(readVector('jcs/ambiguous.json')) as Record<'refused' | 'accepted', string[]>;

for (const text of refused)
  it(`strict JSON refuses ${text || 'nothing'}`, () => assert.throws(() => parseStrictJson(text), AmbiguousJsonError));
for (const text of accepted)
  it(`strict JSON reads ${text}`, () => assert.deepEqual(parseStrictJson(text), JSON.parse(text)));
it('strict JSON reads everything that JSON.stringify writes', () =>
  holds(100, [fc.jsonValue(), fc.constantFrom(0, 2)], (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    assert.deepEqual(parseStrictJson(text), JSON.parse(text));
  }));
it('strict JSON reads a number that is written out in full, and refuses one that is longer than any', () => {
  const exact = (2 ** -1_074).toFixed(100);
  assert.equal(parseStrictJson(exact), Number(exact));
  const zeros = (count: number) => `1.${'0'.repeat(count)}`;
  assert.equal(parseStrictJson(zeros(1_100)), 1);
  assert.throws(() => parseStrictJson(zeros(2_000)), AmbiguousJsonError);
  // Time that grows with the square of its length would not end.
  assert.throws(() => parseStrictJson(`1.${'0'.repeat(5_000_000)}1`), AmbiguousJsonError);
});
it('strict JSON reads a string of any length', () => {
  const long = { 'a"\\:': `${'ab:1"'.repeat(2_000_000)}\\`, b: 1 };
  assert.equal(JSON.stringify(parseStrictJson(JSON.stringify(long))).length, JSON.stringify(long).length);
});
it('strict JSON reads any depth without exhausting the stack', () =>
  assert.ok(Array.isArray(parseStrictJson('['.repeat(5000) + ']'.repeat(5000)))));
