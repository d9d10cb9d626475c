import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { CPE_ATTRIBUTES, parseCpe, productKeyOf } from './cpe.ts';
import { type CpeRelation, compareCpeValues } from './cpe-compare.ts';
import { ANY, type CpeValue } from './cpe-value.ts';

interface CpeVectors {
  names: { name: string; values: Record<string, CpeValue | string>; product: string | null; why: string }[];
  refused: { name: string; why: string }[];
  values: { source: CpeValue; target: CpeValue; relation: CpeRelation; why: string }[];
}

const file = path.join(import.meta.dirname, '../../../vectors/cpe.json');
const vectors: CpeVectors = JSON.parse(readFileSync(file, 'utf8'));
const plain = (text: string): CpeValue => ({ kind: 'text', text, before: '', after: '' });

describe('parseCpe reads', () => {
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
});

describe('compareCpeValues', () => {
  for (const { source, target, relation, why } of vectors.values) {
    const told = (value: CpeValue) => (value.kind === 'text' ? value.before + value.text + value.after : value.kind);
    it(`${told(source)} to ${told(target)} is ${relation}: row ${why}`, () =>
      assert.equal(compareCpeValues(source, target), relation));
  }

  it('escaped text comes back as it was', () => {
    const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    holds(100, [fc.array(character, { minLength: 1, maxLength: 30 })], (characters) => {
      const escaped = characters.map((each) => (/[a-z0-9_]/i.test(each) ? each : `\\${each}`)).join('');
      const cpe = parseCpe(`cpe:2.3:a:vendor:${escaped}:*:*:*:*:*:*:*:*`);
      assert.deepEqual(cpe?.product, plain(characters.join('').toLowerCase()));
    });
  });
});
