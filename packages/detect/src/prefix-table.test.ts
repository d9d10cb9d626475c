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
  it('is empty without entries', () => {
    assert.equal(new PrefixTable([], 1).find([1]), undefined);
    assert.equal(new PrefixTable([], 4).sizeBytes, 0);
  });
  it('joins neighbours that say the same', () => {
    const entries = Array.from({ length: 256 }, (_, i) => entry(`10.0.${i}.0/24`, 1));
    assert.equal(new PrefixTable(entries, 1).sizeBytes, 2 * 8);
  });

  for (const width of [1, 4] as const) {
    it(`finds what a search through all entries finds, ${width * 32} bits`, () =>
      holds(600, [spaceOf(width)], ({ entries, addresses }) => {
        const table = new PrefixTable(entries, width);
        for (const address of [...addresses, ...entries.map(({ words }) => words)])
          assert.deepEqual(table.find(address), findSlowly(entries, address));
      }));
  }
});
