import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { buildSets } from './build-sets.ts';
import { DomainSet } from './domain-set.ts';

const COUNT = 12;

/** For each member in ascending order, the sets that it is told to, the same one several times in a row among them. */
const memberships = fc
  .uniqueArray(fc.oneof(fc.nat(3_000), fc.nat(200_000)), { maxLength: 400, size: 'max' })
  .chain((members) =>
    fc
      .array(fc.array(fc.nat(COUNT - 1), { maxLength: 6 }), { minLength: members.length, maxLength: members.length })
      .map((sets) => members.sort((a, b) => a - b).map((member, i) => ({ member, sets: sets[i] ?? [] }))),
  );

describe('sets built at once', () => {
  it('equal sets filled one by one', () =>
    holds(200, [memberships, fc.nat(5)], (told, more) => {
      const limit = (told.at(-1)?.member ?? 0) + 1 + more;
      const built = buildSets(COUNT, limit, (visit) => {
        for (const { member, sets } of told) for (const set of sets) visit(set, member);
      });
      assert.equal(built.length, COUNT);
      for (const [number, set] of built.entries()) {
        const expected = DomainSet.of(told.filter(({ sets }) => sets.includes(number)).map(({ member }) => member));
        assert.deepEqual(set?.toArray() ?? new Uint32Array(0), expected.toArray());
        assert.equal(set?.size ?? 0, expected.size);
      }
    }));

  it('can be changed without changing their neighbours', () =>
    holds(50, [memberships, fc.array(fc.nat(3_000), { minLength: 1, maxLength: 60, size: 'max' })], (told, changes) => {
      const built = buildSets(COUNT, 200_001, (visit) => {
        for (const { member, sets } of told) for (const set of sets) visit(set, member);
      });
      const before = built.map((set) => set?.toArray());
      for (const [number, set] of built.entries()) {
        for (const member of changes) if (!set?.delete(member)) set?.add(member);
        for (let other = number + 1; other < COUNT; other += 1) {
          assert.deepEqual(built[other]?.toArray(), before[other]);
        }
        if (number > 0) assert.equal(built[number - 1]?.size, built[number - 1]?.toArray().length);
      }
    }));

  it('keeps a set without members undefined, and dense ones as bitmaps', () => {
    const [none, dense, sparse] = buildSets(3, 100_000, (visit) => {
      for (let member = 0; member < 100_000; member += 1) {
        if (member % 2 === 0) visit(1, member);
        if (member % 1_000 === 0) visit(2, member);
      }
    });
    assert.equal(none, undefined);
    assert.equal(dense?.size, 50_000);
    assert.ok((dense?.byteLength ?? 0) < 13_000);
    assert.equal(sparse?.byteLength, 400);
  });
});
