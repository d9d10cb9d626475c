import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leafHash } from '@strata/receipts';
import { GrowingTree } from './growing-tree.ts';
import { upTo } from './test/conformance.ts';
import { leafOf } from './test/fixture.ts';
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
    const wrong = [
      [3, bytes.subarray(32)],
      [4, bytes],
      [-1, none],
      [0.5, none],
      [Number.NaN, none],
    ] as const;
    for (const [size, hashes] of [...wrong, [2 ** 53, new Uint8Array(32)] as const])
      assert.equal(TreeEdge.of(size, hashes), undefined, String(size));
  });
});
