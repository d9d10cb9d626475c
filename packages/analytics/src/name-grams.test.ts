import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { NameGrams } from './name-grams.ts';
import { NameTable } from './name-table.ts';
import { partsOf, uniqueNames } from './test/domain-names.ts';

const tables = (most: number) =>
  uniqueNames(most).chain((all) =>
    fc.record({ all: fc.constant(all), parts: fc.array(partsOf(all), { minLength: 1, maxLength: 25, size: 'max' }) }),
  );

const holding = (all: readonly string[], part: string) =>
  [...all.entries()].filter(([, name]) => name.includes(part)).map(([number]) => number);

function tableOf(all: readonly string[]): NameTable {
  const table = new NameTable();
  for (const [number, name] of all.entries()) table.add(number, name);
  return table;
}

const found = (grams: NameGrams, part: string, table: NameTable) => [...grams.search(part, table).toArray()];

describe('parts of names', () => {
  it('are found in every name that holds them and in no other, built at once or one by one', () =>
    holds(30, [tables(120)], ({ all, parts }) => {
      const table = tableOf(all);
      const atOnce = NameGrams.of(table);
      const oneByOne = new NameGrams();
      for (const [number, name] of all.entries()) oneByOne.add(number, name);
      const half = NameGrams.of(tableOf(all.slice(0, all.length >> 1)));
      for (const [number, name] of all.entries()) if (number >= all.length >> 1) half.add(number, name);
      for (const part of parts) {
        const expected = holding(all, part);
        for (const grams of [atOnce, oneByOne, half]) assert.deepEqual(found(grams, part, table), expected, part);
      }
    }));

  it('are found among many names, where sets are joined before names are read', () => {
    const nameOf = (i: number) => `${(i * 7919) % 4_000}-shop-${i % 10}.${i % 3 === 0 ? 'com' : 'net'}`;
    const all = Array.from({ length: 4_000 }, (_, i) => nameOf(i));
    const table = tableOf(all);
    const grams = NameGrams.of(table);
    for (const part of '1 12 -sh shop shop-3 9-shop-9.c p-3.com 3.com3 p-7.net 0-shop-0.com'.split(' '))
      assert.deepEqual(found(grams, part, table), holding(all, part), part);
  });
  it('that hold what no name may hold are found nowhere', () => {
    const table = tableOf(['a.com', 'sa.com']);
    const grams = NameGrams.of(table);
    for (const part of ['\u0161', '\u0161a', 'a.c\u0161m', '\u0141.com', ' ', 'a\u0000', 'A', '\u{1f600}'])
      assert.equal(grams.search(part, table).size, 0, part);
  });
  it('tell rare characters apart, though they share a place', () => {
    const all = ['a~b.com', 'a%b.com', '~~', '%~%'];
    const table = tableOf(all);
    const grams = NameGrams.of(table);
    for (const part of ['~', '%', '~b', '%b', 'a~b', 'a%b', '~~', '%~%', '~%~', 'a~b.com'])
      assert.deepEqual(found(grams, part, table), holding(all, part), part);
  });
});
