import assert from 'node:assert/strict';
import { it } from 'node:test';
import { leafHash, TileNodes, tileHashReader, treeRoot } from '@strata/receipts';
import { upTo } from '../test/conformance.ts';
import { leafOf } from '../test/fixture.ts';
import { TreeEdge } from './tree-edge.ts';

const hashesOf = (count: number) => upTo(count).map((number) => leafHash(leafOf(number)));

it('the edge of a tree has the root of the complete tree at every size, from its bytes alone', async () => {
  const tile = new TileNodes();
  const read = tileHashReader(() => tile);
  let edge = TreeEdge.empty;
  for (const hash of hashesOf(255)) {
    tile.push(hash);
    edge = TreeEdge.of(edge.size, edge.bytes())?.grow([hash]).edge ?? assert.fail(`no edge at ${edge.size}`);
    assert.deepEqual(Buffer.from(edge.root()), Buffer.from(await treeRoot(read, edge.size)), `${edge.size} leaves`);
  }
});

it('the edge of a tree gives the subtrees that leaves complete, however many are added at once', () => {
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

it('the edge of a tree is undefined for another number of hashes than its size has', () => {
  const { edge } = TreeEdge.empty.grow(hashesOf(3));
  const [bytes, none] = [edge.bytes(), new Uint8Array()];
  assert.equal(bytes.length, 64);
  const invalid = [TreeEdge.of(3, bytes.subarray(32)), TreeEdge.of(4, bytes), TreeEdge.of(2 ** 53, new Uint8Array(32))];
  assert.deepEqual(invalid, [undefined, undefined, undefined]);
  for (const size of [-1, 0.5, Number.NaN]) assert.equal(TreeEdge.of(size, none), undefined, String(size));
});
