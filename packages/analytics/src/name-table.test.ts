import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { compareText } from './compare-text.ts';
import { bytesOf, NameTable } from './name-table.ts';
import { partsOf, uniqueNames } from './test/domain-names.ts';

/** Everything that can be asked of a table, against the plain list of numbers and names. */
function check(table: NameTable, entries: ReadonlyMap<number, string>, parts: readonly string[]): void {
  const sorted = [...entries].sort(([, a], [, b]) => compareText(a, b));
  const numbers = sorted.map(([number]) => number);
  assert.equal(table.count, entries.size);
  assert.equal(table.limit, Math.max(0, ...entries.keys().map((number) => number + 1)));
  assert.deepEqual([...table.order()], numbers);
  for (const [rank, number] of numbers.entries()) assert.equal(table.ranks()[number], rank);
  for (const [number, name] of sorted) {
    assert.ok(table.has(number));
    assert.equal(table.name(number), name);
    assert.equal(table.find(name), number);
  }
  assert.equal(table.has(table.limit), false);
  const visited: [number, string][] = [];
  table.each((number, bytes, from, to) => visited.push([number, String.fromCharCode(...bytes.subarray(from, to))]));
  const byNumber = [...entries].sort(([a], [b]) => a - b);
  assert.deepEqual(visited, byNumber);
  for (const part of parts) {
    assert.equal(table.find(part), sorted.find(([, name]) => name === part)?.[0]);
    const [from, to] = table.prefixRange(part);
    const prefixed = sorted.flatMap(([number, name]) => (name.startsWith(part) ? [number] : []));
    assert.deepEqual(numbers.slice(from, to), prefixed);
    for (const [number, name] of sorted) assert.equal(table.includes(number, bytesOf(part)), name.includes(part));
  }
}

/** Names, the numbers they get (not in order, with gaps), and what is looked for. */
const tables = uniqueNames(60).chain((all) =>
  fc.record({
    entries: fc
      .uniqueArray(fc.nat(3_000), { minLength: all.length, maxLength: all.length })
      .map((numbers) => all.map((name, i) => [numbers[i] ?? 0, name] as const)),
    parts: fc.array(partsOf(all), { maxLength: 8 }),
    /** After how many names one looks. */
    looks: fc.array(fc.nat(60), { maxLength: 4 }),
  }),
);

describe('the table of names', () => {
  it('keeps order, ranks and look-ups right while names come between the look-ups', () =>
    holds(60, [tables], ({ entries, parts, looks }) => {
      const table = new NameTable();
      for (const [i, [number, name]] of entries.entries()) {
        table.add(number, name);
        if (looks.includes(i)) check(table, new Map(entries.slice(0, i + 1)), parts);
      }
      check(table, new Map(entries), parts);
    }));

  it('keeps the name that a number got first', () => {
    const table = new NameTable();
    table.add(4, 'first.com');
    table.add(4, 'second.com');
    check(table, new Map([[4, 'first.com']]), ['second.com', 'fir']);
  });
  it('leaves an order that was given out as it was', () => {
    const table = new NameTable();
    table.add(1, 'b.com');
    const order = table.order();
    table.add(2, 'a.com');
    assert.deepEqual([...table.order()], [2, 1]);
    assert.deepEqual([...order], [1]);
  });
  it('takes a character beyond ASCII for no other one', () => {
    const table = new NameTable();
    table.add(1, 'a.com');
    assert.equal(table.find('\u0161.com'), undefined);
    assert.equal(table.includes(1, bytesOf('\u0161')), false);
    assert.deepEqual(table.prefixRange('\u0161'), [1, 1]);
  });
});
