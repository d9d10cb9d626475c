import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leafHash } from '@strata/receipts';
import { GrowingTree } from './growing-tree.ts';
import { leafOf } from './test/fixture.ts';
import { TreeEdge } from './tree-edge.ts';

describe('the edge of a tree', () => {
  it('has the root of the whole tree at every size, from its bytes alone', () => {
    const tree = GrowingTree.empty();
    let edge = TreeEdge.empty;
    for (let number = 0; number < 1_100; number++) {
      const { hash } = tree.append(leafOf(number));
      edge = TreeEdge.of(edge.size, edge.bytes())?.grow([hash]).edge ?? assert.fail(`no edge at ${number}`);
      assert.deepEqual(Buffer.from(edge.root()), Buffer.from(tree.root()), `${number + 1} leaves`);
    }
  });

  it('tells the subtrees that leaves complete, however many come at once', () => {
    const hashes = Array.from({ length: 65_536 + 300 }, (_, number) => leafHash(leafOf(number)));
    const { edge, sealed } = TreeEdge.empty.grow(hashes.slice(0, 700));
    const more = edge.grow(hashes.slice(700));
    const all = [...sealed, ...more.sealed];
    const indexesAt = (asked: number) => all.filter(({ level }) => level === asked).map(({ index }) => index);
    assert.deepEqual(
      indexesAt(1),
      Array.from({ length: 257 }, (_, index) => index),
    );
    assert.deepEqual([indexesAt(2), indexesAt(3)], [[0], []]);
    for (const { level, index, hash } of all) {
      const width = 256 ** level;
      const { edge: alone } = TreeEdge.empty.grow(hashes.slice(index * width, (index + 1) * width));
      assert.deepEqual(hash, alone.root());
    }
  });

  it('is none for another number of hashes than its size has', () => {
    const { edge } = TreeEdge.empty.grow([leafHash(leafOf(0)), leafHash(leafOf(1)), leafHash(leafOf(2))]);
    assert.equal(edge.bytes().length, 64);
    for (const [size, bytes] of [
      [3, edge.bytes().subarray(32)],
      [4, edge.bytes()],
      [-1, new Uint8Array()],
      [0.5, new Uint8Array()],
      [Number.NaN, new Uint8Array()],
      [2 ** 53, new Uint8Array(32)],
    ] as const) {
      assert.equal(TreeEdge.of(size, bytes), undefined, String(size));
    }
  });
});
