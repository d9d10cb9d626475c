import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { leafHash } from '@strata/receipts';
import { upTo } from '../test/conformance.ts';
import { leafOf } from '../test/fixture.ts';
import { GrowingTree } from './growing-tree.ts';
import { LeafIndex } from './leaf-index.ts';
import { TreeEdge } from './tree-edge.ts';

const hashesOf = (count: number) => upTo(count).map((number) => leafHash(leafOf(number)));

describe('the edge of a tree', () => {
  it('has the root of the complete tree at every size, from its bytes alone', () => {
    const tree = GrowingTree.empty();
    let edge = TreeEdge.empty;
    for (let number = 0; number < 1_100; number++) {
      const { hash } = tree.append(leafOf(number));
      edge = TreeEdge.of(edge.size, edge.bytes())?.grow([hash]).edge ?? assert.fail(`no edge at ${number}`);
      assert.deepEqual(Buffer.from(edge.root()), Buffer.from(tree.root()), `${number + 1} leaves`);
    }
  });

  it('gives the subtrees that leaves complete, however many are added at once', () => {
    const hashes = hashesOf(65_536 + 300);
    const { edge, sealed } = TreeEdge.empty.grow(hashes.slice(0, 700));
    const all = [...sealed, ...edge.grow(hashes.slice(700)).sealed];
    const indexesAt = (asked: number) => all.filter(({ level }) => level === asked).map(({ index }) => index);
    assert.deepEqual([1, 2, 3].map(indexesAt), [upTo(257), [0], []]);
    for (const { level, index, hash } of all) {
      const width = 256 ** level;
      const { edge: alone } = TreeEdge.empty.grow(hashes.slice(index * width, (index + 1) * width));
      assert.deepEqual(hash, alone.root());
    }
  });

  it('is undefined for another number of hashes than its size has', () => {
    const { edge } = TreeEdge.empty.grow(hashesOf(3));
    const [bytes, none] = [edge.bytes(), new Uint8Array()];
    assert.equal(bytes.length, 64);
    const invalid = [
      TreeEdge.of(3, bytes.subarray(32)),
      TreeEdge.of(4, bytes),
      TreeEdge.of(2 ** 53, new Uint8Array(32)),
    ];
    assert.deepEqual(invalid, [undefined, undefined, undefined]);
    for (const size of [-1, 0.5, Number.NaN]) assert.equal(TreeEdge.of(size, none), undefined, String(size));
  });
});

const hashOf = (number: number): Uint8Array => createHash('sha256').update(String(number)).digest();

describe('the leaf index', () => {
  it('finds every leaf among few candidates, in about 16 bytes each', () => {
    const [index, leaves] = [new LeafIndex(), 200_000];
    for (let number = 0; number < leaves; number++) index.add(hashOf(number), number);
    let candidates = 0;
    for (let number = 0; number < leaves; number += 37) {
      const found = [...index.candidates(hashOf(number))];
      assert.ok(found.includes(number));
      candidates += found.length;
    }
    assert.ok(candidates < (leaves / 37) * 1.01);
    assert.ok(index.sizeBytes / leaves <= 22, `${index.sizeBytes / leaves} bytes a leaf`);
    assert.deepEqual([...index.candidates(hashOf(leaves))], []);
  });

  it('keeps apart leaves whose stored bits are the same', () => {
    const [index, same] = [new LeafIndex(), new Uint8Array(20)];
    for (let number = 0; number < 50; number++) index.add(same, number);
    assert.deepEqual(new Set(index.candidates(same)), new Set(Array(50).keys()));
    assert.throws(() => index.add(same, 2 ** 32), RangeError);
  });
});
