import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { randomFrom } from '../../../../tests/support/random.ts';
import { buildSets } from './build-sets.ts';
import { DomainSet } from './domain-set.ts';
import { difference, filter, intersection, intersectionSize, union } from './set-operations.ts';

const LARGEST = 5_000_000;
/**
 * Sparse over the full range, dense at the bottom, dense runs with distant numbers: arrays, bitmaps and transitions.
 */
const membersOf: fc.Arbitrary<number[]> = fc.oneof(
  fc.array(fc.nat(LARGEST), { maxLength: 80, size: 'max' }),
  fc.array(fc.nat(300), { maxLength: 400, size: 'max' }),
  fc.tuple(fc.nat(LARGEST - 3_000), fc.integer({ min: 1, max: 3_000 })).map(([from, size]) => run(from, size)),
  fc
    .tuple(fc.integer({ min: 0, max: 3_000 }), fc.array(fc.nat(LARGEST), { maxLength: 5 }))
    .map(([size, far]) => [...run(0, size), ...far]),
  fc.tuple(fc.integer({ min: 1, max: 70 }), fc.nat(900)).map(([step, size]) => run(0, size).map((n) => n * step)),
);

const run = (from: number, size: number): number[] => Array.from({ length: size }, (_, i) => from + i);

const ascending = (members: Iterable<number>) => [...members].sort((a, b) => a - b);

function check(set: DomainSet, expected: ReadonlySet<number>): void {
  const sorted = ascending(expected);
  assert.equal(set.size, expected.size);
  assert.deepEqual([...set.toArray()], sorted);
  for (const count of [0, 1, 5, sorted.length + 1]) assert.deepEqual(set.first(count), sorted.slice(0, count));
  const visited: number[] = [];
  set.each((member) => visited.push(member));
  assert.deepEqual(visited, sorted);
  for (const member of sorted.slice(0, 50)) {
    assert.ok(set.has(member));
    assert.equal(set.has(member + 1), expected.has(member + 1));
  }
  assert.equal(set.has(LARGEST + 1), expected.has(LARGEST + 1));
}

it('a set of domains holds what was added and not deleted, with most changes at its end', () => {
  // Lists of four, two and one bytes a member, a bitmap, a bitmap that a distant number makes a list.
  const starts = ['0 90 3000000', '0 500 3000000', '3000 40 300000', '900 300 1200', '1500 0 5000000'];
  for (const start of starts) {
    const [dense = 0, more = 0, limit = 0] = start.split(' ').map(Number);
    const random = randomFrom(more);
    const below = (end: number) => Math.floor(random() * end);
    const expected = new Set([...run(0, dense), ...Array.from({ length: more }, () => below(limit))]);
    const set = DomainSet.of(expected);
    check(set, expected);
    for (let step = 0; step < 300; step += 1) {
      const members = [...expected];
      const greatest = members.reduce((a, b) => Math.max(a, b), -1);
      assert.equal(set.sparse?.last ?? greatest, greatest);
      const choices = [greatest, greatest, below(limit), below(limit), below(200), members[below(members.length)] ?? 0];
      const member = Math.max(0, choices[below(choices.length)] ?? 0);
      const isIn = expected.delete(member);
      if (!isIn) expected.add(member);
      assert.equal(set[isIn ? 'add' : 'delete'](member), false);
      assert.equal(set[isIn ? 'delete' : 'add'](member), true);
      assert.equal(set.has(member), !isIn);
      if (step % 50 === 0) check(set, expected);
    }
    check(set, expected);
    for (const member of expected) assert.ok(set.delete(member));
    check(set, new Set());
  }
});
it('a set of domains joins, cuts and subtracts like plain sets; what is done later to operand or result reaches no other', () =>
  holds(100, [membersOf, membersOf, fc.array(fc.nat(400), { minLength: 1, maxLength: 40 })], (a, b, changes) => {
    type Operation<T> = (x: T, y: T) => T;
    const operations: readonly (readonly [Operation<DomainSet>, Operation<Set<number>>])[] = [
      [intersection, (x, y) => x.intersection(y)],
      // Of three sets, since a single one is not copied.
      [(x, y) => union([x, y, DomainSet.of([7])]), (x, y) => x.union(y).union(new Set([7]))],
      [difference, (x, y) => x.difference(y)],
      [(x) => filter([x], []), (x) => new Set(x)],
      [
        (x, y) => filter([x, DomainSet.of(run(0, 2_900))], [y, DomainSet.of([7])]),
        (x, y) => x.intersection(new Set(run(0, 2_900))).difference(y.union(new Set([7]))),
      ],
    ];
    for (const [operation, plainly] of operations) {
      for (const [one, other] of [[a, b] as const, [b, a] as const, [a, a] as const]) {
        const left = DomainSet.of(one);
        const right = one === other ? left : DomainSet.of(other);
        const plain = [new Set(one), new Set(other)] as const;
        const result = operation(left, right);
        assert.equal(intersectionSize(left, right), plain[0].intersection(plain[1]).size);
        for (const [i, set] of [left, right].entries()) check(set, plain[i] ?? new Set());
        change([left, right], changes);
        check(result, plainly(...plain));
        const now = [left, right].map((set) => new Set(set.toArray()));
        change([result], changes);
        for (const [i, set] of [left, right].entries()) check(set, now[i] ?? new Set());
      }
    }
  }));
it('a set of domains is joined with any number of sets, which stay as they were', () =>
  holds(100, [fc.array(membersOf, { maxLength: 12 })], (lists) => {
    const sets = lists.map((list) => DomainSet.of(list));
    check(union(sets), new Set(lists.flat()));
    for (const [i, set] of sets.entries()) check(set, new Set(lists[i]));
  }));
it('a set of domains gives a copy of its members', () => {
  for (const set of [DomainSet.of([1, 900_000]), DomainSet.of(run(0, 2_000))]) {
    const expected = new Set(set.toArray());
    set.toArray().fill(7);
    check(set, expected);
  }
});
it('a set of domains does not write outside of the part of an array that it owns', () => {
  const shared = Uint32Array.of(5, 100_000, 200_000, 7, 300_000);
  const first = DomainSet.ofSorted(shared.subarray(0, 3));
  const second = DomainSet.ofSorted(shared.subarray(3));
  first.add(250_000);
  first.add(6);
  first.delete(5);
  check(first, new Set([6, 100_000, 200_000, 250_000]));
  check(second, new Set([7, 300_000]));
});
it('a set of domains takes over a bitmap with its size', () => {
  const bits = new Uint32Array(4);
  bits[0] = 0x8000_0001;
  bits[3] = 0x8000_0000;
  check(new DomainSet({ bits, size: 3 }), new Set([0, 31, 127]));
});
it('a set of domains is never much larger than the smaller of list and bitmap, growing or shrinking', () => {
  const within = (set: DomainSet, limit: number) => {
    const min = Math.min(4 * set.size, limit / 8);
    assert.ok(set.byteLength <= 3 * min + 512, `${set.byteLength} bytes for ${set.size} below ${limit}`);
  };
  // Dense in the beginning, then one here and there: numbers in the order of names come so.
  const thinning = DomainSet.of(run(0, 1_000));
  for (let member = 1_000; member < LARGEST; member += 50_000) {
    thinning.add(member);
    within(thinning, member);
  }
  const emptied = DomainSet.of(run(0, 100_000));
  for (let member = 0; member < 99_990; member += 1) emptied.delete(member);
  within(emptied, 100_000);
  check(emptied, new Set(run(99_990, 10)));
  for (const member of run(0, 50_000)) emptied.add(member);
  within(emptied, 100_000);
  check(emptied, new Set([...run(0, 50_000), ...run(99_990, 10)]));
});

const COUNT = 12;
/** For each member in ascending order, the sets that it is visited in, some of them several times in a row. */
const memberships = fc
  .uniqueArray(fc.oneof(fc.nat(3_000), fc.nat(200_000)), { maxLength: 400, size: 'max' })
  .chain((members) =>
    fc
      .array(fc.array(fc.nat(COUNT - 1), { maxLength: 6 }), { minLength: members.length, maxLength: members.length })
      .map((sets) => members.sort((a, b) => a - b).map((member, i) => ({ member, sets: sets[i] ?? [] }))),
  );
const build = (given: readonly { readonly member: number; readonly sets: readonly number[] }[], limit: number) =>
  buildSets(COUNT, limit, (visit) => {
    for (const { member, sets } of given) for (const set of sets) visit(set, member);
  });
it('sets built at once equal sets filled one by one, and change without their neighbours', () =>
  holds(200, [memberships, fc.nat(5), fc.array(fc.nat(3_000), { maxLength: 60 })], (given, more, changes) => {
    const built = build(given, (given.at(-1)?.member ?? 0) + 1 + more);
    assert.equal(built.length, COUNT);
    const expected = built.map(
      (_, number) => new Set(given.flatMap(({ member, sets }) => (sets.includes(number) ? member : []))),
    );
    for (const [number, set] of built.entries()) {
      for (const [other, members] of expected.entries()) {
        const found = [built[other]?.size ?? 0, ...(built[other]?.toArray() ?? [])];
        assert.deepEqual(found, [members.size, ...ascending(members)]);
      }
      for (const member of set ? changes : []) {
        const isIn = set?.delete(member) || !set?.add(member);
        expected[number]?.[isIn ? 'delete' : 'add'](member);
      }
    }
  }));
it('sets built at once keep a set without members undefined, and dense ones as bitmaps', () => {
  const [none, dense, sparse] = buildSets(3, 100_000, (visit) => {
    for (let member = 0; member < 100_000; member += 1) {
      if (member % 2 === 0) visit(1, member);
      if (member % 1_000 === 0) visit(2, member);
    }
  });
  assert.deepEqual([none, dense?.size, sparse?.byteLength], [undefined, 50_000, 212]);
  assert.ok((dense?.byteLength ?? 0) < 13_000);
});

function change(sets: readonly DomainSet[], members: readonly number[]): void {
  for (const set of sets) {
    const [first] = set.toArray();
    for (const member of members) {
      set.add(member);
      set.delete(member * 7);
    }
    if (first !== undefined) set.delete(first);
  }
}
