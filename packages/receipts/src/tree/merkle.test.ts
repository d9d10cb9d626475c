import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { decodeHex, encodeHex } from '../encoding/base-encoding.ts';
import { bytesOf, readerOver, readVector } from '../test/fixture.ts';
import { equalBytes, leafHash, MAX_PROOF_HASHES, verifyConsistency, verifyInclusion } from './merkle.ts';
import { consistencyProof, inclusionProof, treeRoot } from './proof.ts';

interface Vectors {
  leaves: string[];
  leaf_hashes: string[];
  roots: string[];
  inclusion: { index: number; size: number; proof: string[] }[];
  consistency: { old_size: number; new_size: number; proof: string[] }[];
}
const vectors = JSON.parse(readVector('merkle/tree.json')) as Vectors;
const bytes = (hex: string): Uint8Array => decodeHex(hex) ?? assert.fail(`not hex: ${hex}`);
const leaves = vectors.leaves.map(bytes);
const roots = vectors.roots.map(bytes);
const rootOf = (size: number): Uint8Array => roots[size] ?? assert.fail();
const read = readerOver(leaves);
const upTo8 = Array.from({ length: 9 }, (_, at) => at);
const pairsUpTo8 = upTo8.flatMap((one) => upTo8.map((other) => [one, other] as const));

it('the tree of RFC 6962 hashes the customary leaves', () => {
  const hashes = leaves.map((leaf) => encodeHex(leafHash(leaf)));
  assert.deepEqual(hashes, vectors.leaf_hashes);
});
it('the tree of RFC 6962 has the published root at every size', async () => {
  for (const [size, root] of vectors.roots.entries()) assert.equal(encodeHex(await treeRoot(read, size)), root);
});

it('the tree of RFC 6962 builds and verifies every inclusion proof, and none at another index or size', async () => {
  for (const { index, size, proof: hex } of vectors.inclusion) {
    assert.deepEqual((await inclusionProof(read, index, size)).map(encodeHex), hex);
    const given = { leafHash: bytes(vectors.leaf_hashes[index] ?? ''), proof: hex.map(bytes) };
    for (const [otherIndex, otherSize] of pairsUpTo8) {
      const claim = { ...given, index: otherIndex, size: otherSize, root: rootOf(otherSize) };
      assert.equal(verifyInclusion(claim), otherIndex === index && otherSize === size);
    }
  }
});

it('the tree of RFC 6962 builds and verifies every consistency proof, and none between other sizes', async () => {
  for (const { old_size, new_size, proof: hex } of vectors.consistency) {
    assert.deepEqual((await consistencyProof(read, old_size, new_size)).map(encodeHex), hex);
    const proof = hex.map(bytes);
    for (const [oldSize, newSize] of pairsUpTo8.filter((pair) => !pair.includes(0))) {
      const claim = { oldSize, newSize, oldRoot: rootOf(oldSize), newRoot: rootOf(newSize), proof };
      const isSame = oldSize === old_size && newSize === new_size;
      const isTrivial = oldSize === newSize && proof.length === 0;
      assert.equal(verifyConsistency(claim), isSame || isTrivial, `${oldSize} ${newSize}`);
    }
  }
});

it('the tree of RFC 6962 holds for random trees, and fails when any bit of a proof, leaf or root changes', async () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 140 }), fc.integer({ min: 1, max: 140 }));
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), fc.nat({ max: 7 }), async (two, pick, bit) => {
      const [oldSize, newSize] = [Math.min(...two), Math.max(...two)];
      const reader = readerOver(Array.from({ length: newSize }, (_, at) => bytesOf(String(at))));
      const [oldRoot, root] = [await treeRoot(reader, oldSize), await treeRoot(reader, newSize)];
      const flip = (hash: Uint8Array) => hash.map((byte, at) => (at === pick % 32 ? byte ^ (1 << bit) : byte));
      const flipAt = (hashes: readonly Uint8Array[], at: number) => hashes.with(at, flip(hashes[at] ?? root));

      const index = pick % newSize;
      const proof = await inclusionProof(reader, index, newSize);
      const inclusion = { leafHash: await reader(0, index), index, size: newSize, root, proof };
      assert.ok(verifyInclusion(inclusion));
      const changed = [{ leafHash: flip(inclusion.leafHash) }, { root: flip(root) }, { proof: [...proof, root] }];
      for (const each of changed) assert.ok(!verifyInclusion({ ...inclusion, ...each }));
      for (const at of proof.keys()) {
        assert.ok(!verifyInclusion({ ...inclusion, proof: flipAt(proof, at) }));
        assert.ok(!verifyInclusion({ ...inclusion, proof: proof.toSpliced(at, 1) }));
      }

      const path = await consistencyProof(reader, oldSize, newSize);
      const consistency = { oldSize, newSize, oldRoot, newRoot: root, proof: path };
      assert.ok(verifyConsistency(consistency));
      const wrong = [{ newRoot: flip(root) }, { oldRoot: flip(oldRoot) }, { proof: [...path, root] }];
      for (const each of wrong) assert.ok(!verifyConsistency({ ...consistency, ...each }));
      for (const at of path.keys()) assert.ok(!verifyConsistency({ ...consistency, proof: flipAt(path, at) }));
    }),
    { numRuns: 40 },
  );
});

it('the tree of RFC 6962 answers false for claims that make no sense, however large', () => {
  const root = rootOf(1);
  const none = new Uint8Array();
  const proof: Uint8Array[] = Array.from({ length: MAX_PROOF_HASHES + 1 }, () => root);
  const inclusion = { leafHash: root, index: 0, size: 1, proof: [], root };
  const indexes = [-1, 1, 0.5, Number.NaN].map((index) => ({ index }));
  const sizes = [{ size: 0 }, { size: 2 ** 60 }, { index: 2 ** 53, size: 2 ** 54 }, { size: 2 ** 53 - 1, proof }];
  const hashes = [
    { size: 2, proof: [new Uint8Array(31)] },
    { leafHash: none, root: none },
  ];
  for (const changed of [...indexes, ...sizes, ...hashes])
    assert.ok(!verifyInclusion({ ...inclusion, ...changed }), JSON.stringify(changed));
  const consistency = { oldRoot: root, newRoot: root, proof: [] };
  const pairs = [
    { oldSize: 2, newSize: 1 },
    { oldSize: 0, newSize: 0 },
    { oldSize: 0, newSize: 1 },
  ];
  for (const changed of [...pairs, { oldSize: 1, newSize: 2, proof }])
    assert.ok(!verifyConsistency({ ...consistency, ...changed }));
});

it('the tree of RFC 6962 does not build proofs outside the tree', async () => {
  await assert.rejects(inclusionProof(read, 8, 8), RangeError);
  await assert.rejects(consistencyProof(read, 5, 4), RangeError);
  assert.deepEqual(await consistencyProof(read, 0, 4), []);
  assert.ok(verifyConsistency({ oldSize: 0, newSize: 4, oldRoot: rootOf(0), newRoot: rootOf(4), proof: [] }));
  assert.ok(!equalBytes(rootOf(0), rootOf(1)));
});
