import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { compareText } from '../compare-text.ts';
import { NameGrams } from '../index/name-grams.ts';
import { TldSets } from '../index/tld-sets.ts';
import { DomainSet } from '../sets/domain-set.ts';
import { partsOf, uniqueNames } from '../test/domain-names.ts';
import { bytesOf } from './byte-text.ts';
import { NameTable } from './name-table.ts';

function filled<Names extends NameTable | NameGrams>(names: Names, all: Iterable<readonly [number, string]>): Names {
  for (const [number, name] of all) names.add(number, name);
  return names;
}

function check(table: NameTable, entries: ReadonlyMap<number, string>, parts: readonly string[]): void {
  const sorted = [...entries].sort(([, a], [, b]) => compareText(a, b));
  const numbers = sorted.map(([number]) => number);
  assert.equal(table.sorted.count, entries.size);
  assert.equal(table.limit, Math.max(0, ...entries.keys().map((number) => number + 1)));
  assert.deepEqual([...table.sorted.numbers()], numbers);
  for (const [rank, number] of numbers.entries()) assert.equal(table.sorted.rankOf(number), rank);
  for (const [number, name] of sorted)
    assert.deepEqual([table.has(number), table.name(number), table.sorted.find(name)], [true, name, number]);
  assert.equal(table.has(table.limit), false);
  const visited: [number, string][] = [];
  table.each((number, bytes, from, to) => visited.push([number, String.fromCharCode(...bytes.subarray(from, to))]));
  const ascending = sorted.toSorted(([a], [b]) => a - b);
  assert.deepEqual(visited, ascending);
  for (const part of parts) {
    assert.equal(table.sorted.find(part), sorted.find(([, name]) => name === part)?.[0]);
    const [from, to] = table.sorted.prefixRange(part);
    const prefixed = sorted.flatMap(([number, name]) => (name.startsWith(part) ? [number] : []));
    assert.deepEqual(numbers.slice(from, to), prefixed);
    for (const [number, name] of sorted) assert.equal(table.includes(number, bytesOf(part)), name.includes(part));
  }
}

const tables = uniqueNames(60).chain((all) =>
  fc.record({
    entries: fc
      .uniqueArray(fc.nat(3_000), { minLength: all.length, maxLength: all.length })
      .map((numbers) => all.map((name, i) => [numbers[i] ?? 0, name] as const)),
    parts: fc.array(partsOf(all), { maxLength: 8 }),
    checks: fc.array(fc.nat(60), { maxLength: 4 }),
  }),
);

it('the table of names keeps order, ranks and look-ups right while names come between the look-ups', () =>
  holds(60, [tables], ({ entries, parts, checks }) => {
    const table = new NameTable();
    for (const [i, [number, name]] of entries.entries()) {
      table.add(number, name);
      if (checks.includes(i)) check(table, new Map(entries.slice(0, i + 1)), parts);
    }
    check(table, new Map(entries), parts);
  }));
it('the table of names keeps the name that a number got first', () => {
  const table = new NameTable();
  table.add(4, 'first.com');
  table.add(4, 'second.com');
  check(table, new Map([[4, 'first.com']]), ['second.com', 'fir']);
});
it('the table of names leaves an order that was given out as it was', () => {
  const table = filled(new NameTable(), [[1, 'b.com']]);
  const order = table.sorted.numbers();
  table.add(2, 'a.com');
  assert.deepEqual([...table.sorted.numbers()], [2, 1]);
  assert.deepEqual([...order], [1]);
});
it('the table of names does not confuse non-ASCII characters with ASCII characters', () => {
  const table = filled(new NameTable(), [[1, 'a.com']]);
  assert.equal(table.sorted.find('\u0161.com'), undefined);
  assert.equal(table.includes(1, bytesOf('\u0161')), false);
  assert.deepEqual(table.sorted.prefixRange('\u0161'), [1, 1]);
});

const holding = (all: readonly string[], part: string) =>
  [...all.entries()]
    .filter(([, name]) => part.split(' ').every((word) => name.includes(word)))
    .map(([number]) => number);

const tableOf = (all: readonly string[]) => filled(new NameTable(), all.entries());
const found = (grams: NameGrams, part: string, table: NameTable) => [
  ...grams.search(part, table, TldSets.of(table)).toArray(),
];

const namesAndParts = uniqueNames(120).chain((all) =>
  fc.record({ all: fc.constant(all), parts: fc.array(partsOf(all), { minLength: 1, maxLength: 25, size: 'max' }) }),
);
it('parts of names are found in every name that holds them and in no other, built at once or one by one', () =>
  holds(30, [namesAndParts], ({ all, parts }) => {
    const table = tableOf(all);
    const middle = all.length >> 1;
    const half = filled(NameGrams.of(tableOf(all.slice(0, middle))), [...all.entries()].slice(middle));
    for (const grams of [NameGrams.of(table), filled(new NameGrams(), all.entries()), half])
      for (const part of [...parts, parts.slice(0, 2).join(' '), parts.slice(-3).join(' ')])
        assert.deepEqual(found(grams, part, table), holding(all, part), part);
  }));

/** In `parts` a plus separates words. */
const finds = (all: readonly string[], parts: string) => {
  const table = tableOf(all);
  const grams = NameGrams.of(table);
  for (const part of parts.split(' ').map((each) => each.replaceAll('+', ' ')))
    assert.deepEqual(found(grams, part, table), holding(all, part), part);
};
it('parts of names are found among many names, where sets are joined before names are read', () => {
  const nameOf = (i: number) => `${(i * 7919) % 4_000}-shop-${i % 10}.${i % 3 === 0 ? 'com' : 'net'}`;
  const all = Array.from({ length: 4_000 }, (_, i) => nameOf(i));
  finds(all, '.com .co .net. shop+99+com .net+-shop-3+1+1 1+2+3+4+5 p-7+zz 7+p-7.n+shop+39');
  finds(all, '1 12 -sh shop shop-3 9-shop-9.c p-3.com 3.com3 p-7.net 0-shop-0.com');
});
it('parts of names that hold what no name may hold are found nowhere', () => {
  const table = tableOf(['a.com', 'sa.com']);
  for (const part of ['\u0161', '\u0161a', 'a.c\u0161m', '\u0141.com', ' ', 'a\u0000', 'A', '\u{1f600}'])
    assert.equal(found(NameGrams.of(table), part, table).length, 0, part);
});
it('parts of names distinguish rare characters that share a code', () =>
  finds(['a~b.com', 'a%b.com', '~~', '%~%'], '~ % ~b %b a~b a%b ~~ %~% ~%~ a~b.com'));
it('the domains of the last words are kept, up to 32 MiB and sixteen words', () => {
  const keptOf = (words: number) => {
    const set = new DomainSet({ bits: new Uint32Array(words).fill(2 ** 32 - 1), size: words * 32 });
    const grams = new NameGrams(Array.from({ length: 65_600 }, () => set));
    const table = tableOf([]);
    for (const last of 'abcdefghijklmnopqr') grams.search(`aa${last}`, table, TldSets.of(table));
    return (grams.byteLength - 65_600 * set.byteLength) / set.byteLength;
  };
  assert.deepEqual([keptOf(16), keptOf(2 ** 20)], [16, 8]);
});
