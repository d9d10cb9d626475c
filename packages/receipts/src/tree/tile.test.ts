import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { history, readerOver, readVector, tilesOver } from '../test/fixture.ts';
import { leafHash } from './merkle.ts';
import { inclusionProof, treeRoot } from './proof.ts';
import * as tile from './tile.ts';
import { TileNodes, tileHashReader } from './tile-nodes.ts';

const { decodeEntries, encodeEntries, parseTilePath, TILE_WIDTH, tilePath, tilesOfTree, tileWidth } = tile;
const NONE = new Uint8Array();

it('tiles have one path, and only that path is read', () => {
  const lines = readVector('merkle/tile-paths.txt').trim().split('\n').slice(1);
  for (const fields of lines.map((line) => line.split(' '))) {
    const path = fields.at(-1) ?? '';
    const level = fields[0] === 'entries' ? ('entries' as const) : Number(fields[0]);
    const address = fields[0] === 'refused' ? undefined : { level, index: Number(fields[1]), width: Number(fields[2]) };
    assert.deepEqual(parseTilePath(path), address, path);
    if (address) assert.equal(tilePath(address), path);
  }
});

it('tiles of a tree of 70,000 leaves are those of the specification', () => {
  const hashTiles = [...tilesOfTree(70_000)].filter(({ level }) => level !== 'entries');
  const full = (level: number) => hashTiles.filter((each) => each.level === level && each.width === TILE_WIDTH).length;
  const partial = hashTiles.filter(({ width }) => width < TILE_WIDTH).map(({ level, width }) => `${level} ${width}`);
  assert.deepEqual([full(0), full(1), partial], [273, 1, ['0 112', '1 17', '2 1']]);
  assert.deepEqual([[...tilesOfTree(0)], [...tilesOfTree(256)].length], [[], 3]);
});

it('tiles give the same proofs as the complete tree', async () => {
  const leaves = history(700);
  const tileAt = async (level: number, index: number) =>
    TileNodes.of((await tilesOver(leaves)(tilePath({ level, index, width: tileWidth(700, level, index) }))) ?? NONE);
  const [byTiles, byLeaves] = [tileHashReader(tileAt), readerOver(leaves)];
  const indexes = { 700: [0, 699], 256: [255], 257: [256], 513: [511], 699: [3] };
  const claims = Object.entries(indexes).flatMap(([size, all]) => all.map((index) => [index, Number(size)] as const));
  for (const [index, size] of claims) {
    assert.deepEqual(await inclusionProof(byTiles, index, size), await inclusionProof(byLeaves, index, size));
    assert.deepEqual(await treeRoot(byTiles, size), await treeRoot(byLeaves, size));
  }
  const full = await tileAt(0, 0);
  assert.throws(() => full.push(leafHash(NONE)), RangeError);
  assert.throws(() => TileNodes.of(full.hashes().subarray(1)), RangeError);
  assert.throws(() => TileNodes.of(full.hashes(3)).node(1, 1), RangeError);
});

it('tiles of entries read back, and never past their end', () => {
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
