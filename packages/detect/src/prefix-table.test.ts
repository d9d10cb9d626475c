import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { type Cidr, parseCidr, prefixText, type Words } from './ip-address.ts';
import { PrefixTable, type TableEntry } from './prefix-table.ts';

const entry = (text: string, label: number, rank = 0): TableEntry => ({ ...(parseCidr(text) as Cidr), label, rank });

/** Every entry looked at: the longest that holds the address, of equals the lowest rank. */
function findSlowly(entries: readonly TableEntry[], address: Words): { label: number; length: number } | undefined {
  const [best] = entries
    .filter(({ words, length }) => prefixText(words, length) === prefixText(address, length))
    .toSorted((a, b) => b.length - a.length || a.rank - b.rank || a.label - b.label);
  return best && { label: best.label, length: best.length };
}

/** Few bits differ, so that prefixes nest, touch and repeat, also at both ends of the address space. */
function spaceOf(width: 1 | 4): fc.Arbitrary<{ entries: TableEntry[]; addresses: Words[] }> {
  const word = fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xc0000000, 0xfffffffe, 0xffffffff);
  const words = fc.array(word, { minLength: width, maxLength: width });
  const one = fc.tuple(words, fc.nat(width * 32), fc.nat(5), fc.nat(2)).map(([given, length, label, rank]) => {
    return { ...(parseCidr(prefixText(given, length)) as Cidr), label, rank };
  });
  return fc.record({ entries: fc.array(one, { maxLength: 24 }), addresses: fc.array(words, { minLength: 8 }) });
}

describe('PrefixTable', () => {
  it('finds the longest prefix', () => {
    const table = new PrefixTable([entry('10.0.0.0/8', 1), entry('10.1.0.0/16', 2), entry('10.1.2.0/24', 3)], 1);
    const at = (text: string) => table.find((parseCidr(text) as Cidr).words);
    assert.deepEqual(at('10.1.2.3'), { label: 3, length: 24 });
    assert.deepEqual(at('10.1.3.0'), { label: 2, length: 16 });
    assert.deepEqual(at('10.2.0.0'), { label: 1, length: 8 });
    assert.equal(at('9.255.255.255'), undefined);
    assert.equal(at('11.0.0.0'), undefined);
  });

  it('is empty without entries', () => {
    assert.equal(new PrefixTable([], 1).find([1]), undefined);
    assert.equal(new PrefixTable([], 4).sizeBytes, 0);
  });
  it('reaches to both ends of the address space', () => {
    const table = new PrefixTable([entry('0.0.0.0/1', 0), entry('255.255.255.255/32', 1)], 1);
    assert.deepEqual(table.find([0]), { label: 0, length: 1 });
    assert.deepEqual(table.find([0xffffffff]), { label: 1, length: 32 });
    assert.equal(table.find([0xfffffffe]), undefined);
    const whole = new PrefixTable([entry('::/0', 7)], 4);
    assert.deepEqual(whole.find([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff]), { label: 7, length: 0 });
  });
  it('takes the lowest rank of a repeated prefix, whatever the order', () => {
    const entries = [entry('10.0.0.0/8', 1, 2), entry('10.0.0.0/8', 9, 1), entry('10.0.0.0/8', 5, 3)];
    for (const given of [entries, entries.toReversed()]) {
      assert.equal(new PrefixTable(given, 1).find([0x0a000001])?.label, 9);
    }
  });
  it('joins neighbours that say the same', () => {
    const entries = Array.from({ length: 256 }, (_, i) => entry(`10.0.${i}.0/24`, 1));
    assert.equal(new PrefixTable(entries, 1).sizeBytes, 2 * 8);
  });

  for (const width of [1, 4] as const) {
    it(`finds what a search through all entries finds, ${width * 32} bits`, () =>
      holds(600, [spaceOf(width)], ({ entries, addresses }) => {
        const table = new PrefixTable(entries, width);
        for (const address of [...addresses, ...entries.map(({ words }) => words)]) {
          assert.deepEqual(table.find(address), findSlowly(entries, address));
        }
      }));
  }
});
