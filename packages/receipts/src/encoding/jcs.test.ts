import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { readVector } from '../test/fixture.ts';
import { CanonicalFormError, canonicalize } from './jcs.ts';

const examples = JSON.parse(readVector('jcs/examples.json')) as { name: string; input: string; canonical: string }[];
for (const { name, input, canonical } of examples)
  it(`the canonical form agrees with: ${name}`, () => assert.equal(canonicalize(JSON.parse(input)), canonical));

it('the canonical form writes every number of RFC 8785 appendix B', () => {
  const lines = readVector('jcs/numbers.txt').trim().split('\n').slice(1);
  assert.equal(lines.length, 26);
  for (const line of lines) {
    const [bits = '', expected = ''] = line.split(' ');
    const number = Buffer.from(bits, 'hex').readDoubleBE();
    if (expected === 'refused') assert.throws(() => canonicalize(number), CanonicalFormError, bits);
    else assert.equal(canonicalize(number), expected, bits);
  }
});

const refused = JSON.parse(readVector('jcs/refused.json')) as { name: string; input: string }[];
for (const { name, input } of refused)
  it(`there is no form of ${name}`, () => assert.throws(() => canonicalize(JSON.parse(input)), CanonicalFormError));
it('the canonical form refuses what JSON cannot say', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const objects = [new Date(0), new Map(), new Uint8Array(1), { a: undefined }, cycle];
  const values = [undefined, () => 1, Symbol('s'), 1n, ...objects];
  for (const value of values) assert.throws(() => canonicalize(value), CanonicalFormError);
  assert.throws(() => canonicalize(new Array(3)), CanonicalFormError);
});
it('the canonical form refuses hostile depth instead of exhausting the stack', () => {
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  assert.throws(() => canonicalize(deep), CanonicalFormError);
});

it('the canonical form means the same value and does not depend on the order of members', () =>
  holds(100, [fc.jsonValue({ depthSize: 'medium' })], (value) => {
    const text = canonicalize(value);
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    assert.equal(canonicalize(JSON.parse(text)), text);
    assert.equal(canonicalize(JSON.parse(text, reversed)), text);
  }));

function reversed(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}
