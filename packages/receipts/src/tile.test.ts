import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { leafHash } from './merkle.ts';
import { inclusionProof, treeRoot } from './proof.ts';
import { bytesOf, readerOver, readVector } from './test/fixture.ts';
import * as tile from './tile.ts';
import { TileNodes, tileHashReader } from './tile-nodes.ts';

const { decodeEntries, encodeEntries, parseTilePath, TILE_WIDTH, tilePath, tilesOfTree } = tile;

describe('tiles', () => {
  it('have one path, and only that path is read', () => {
    const lines = readVector('merkle/tile-paths.txt').trim().split('\n').slice(1);
    for (const words of lines.map((line) => line.split(' '))) {
      const path = words.at(-1) ?? '';
      const level = words[0] === 'entries' ? ('entries' as const) : Number(words[0]);
      const address = words[0] === 'refused' ? undefined : { level, index: Number(words[1]), width: Number(words[2]) };
      assert.deepEqual(parseTilePath(path), address, path);
      if (address) assert.equal(tilePath(address), path);
    }
  });

  it('of a tree of 70,000 leaves are those of the specification', () => {
    const hashTiles = [...tilesOfTree(70_000)].filter(({ level }) => level !== 'entries');
    const full = (level: number) =>
      hashTiles.filter((each) => each.level === level && each.width === TILE_WIDTH).length;
    const partial = hashTiles.filter(({ width }) => width < TILE_WIDTH).map(({ level, width }) => `${level} ${width}`);
    assert.deepEqual([full(0), full(1), partial], [273, 1, ['0 112', '1 17', '2 1']]);
    assert.deepEqual([[...tilesOfTree(0)], [...tilesOfTree(256)].length], [[], 3]);
  });

  it('prove as well as the whole tree does', async () => {
    const leaves = Array.from({ length: 700 }, (_, at) => bytesOf(`leaf ${at}`));
    const tiles: TileNodes[][] = [[], []];
    const push = (level: number, hash: Uint8Array): void => {
      const row = tiles[level] ?? assert.fail();
      if (row.length === 0 || row.at(-1)?.isFull) row.push(new TileNodes());
      const tile = row.at(-1) ?? assert.fail();
      tile.push(hash);
      if (tile.isFull) push(level + 1, tile.node(8, 0));
    };
    for (const leaf of leaves) push(0, leafHash(leaf));
    assert.equal(tiles[1]?.[0]?.count, tile.hashesAtLevel(700, 1));
    const byTiles = tileHashReader(async (level, index) => tiles[level]?.[index] ?? assert.fail());
    const byLeaves = readerOver(leaves);
    const indexes = { 700: [0, 699], 256: [255], 257: [256], 513: [511], 699: [3] };
    const claims = Object.entries(indexes).flatMap(([size, all]) => all.map((index) => [index, Number(size)] as const));
    for (const [index, size] of claims) {
      assert.deepEqual(await inclusionProof(byTiles, index, size), await inclusionProof(byLeaves, index, size));
      assert.deepEqual(await treeRoot(byTiles, size), await treeRoot(byLeaves, size));
    }
    const stored = tiles[0]?.[0]?.hashes() ?? assert.fail();
    assert.deepEqual(TileNodes.of(stored).node(8, 0), tiles[0]?.[0]?.node(8, 0));
    assert.throws(() => tiles[0]?.[0]?.push(leafHash(new Uint8Array())), RangeError);
    assert.throws(() => TileNodes.of(stored.subarray(1)), RangeError);
    assert.throws(() => TileNodes.of(stored.subarray(0, 96)).node(1, 1), RangeError);
  });

  it('of entries read back, and never past their end', () => {
    const entry = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(fc.array(entry), fc.nat(), (entries, cut) => {
        const bundle = encodeEntries(entries);
        const decoded = decodeEntries(bundle)?.map((bytes) => Uint8Array.from(bytes));
        assert.deepEqual(decoded, entries);
        const shorter = decodeEntries(bundle.subarray(0, cut % (bundle.length + 1)));
        assert.ok(shorter === undefined || shorter.length <= entries.length);
      }),
    );
    assert.throws(() => encodeEntries([new Uint8Array(65_536)]), RangeError);
    assert.equal(decodeEntries(Uint8Array.of(0)), undefined);
    assert.equal(decodeEntries(Uint8Array.of(0, 2, 1)), undefined);
  });
});
