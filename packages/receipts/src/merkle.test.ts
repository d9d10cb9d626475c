import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeHex, encodeHex } from './base-encoding.ts';
import { equalBytes, leafHash, MAX_PROOF_HASHES, verifyConsistency, verifyInclusion } from './merkle.ts';
import { consistencyProof, inclusionProof, treeRoot } from './proof.ts';
import { bytesOf, readerOver, readVector } from './test/fixture.ts';

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

describe('the tree of RFC 6962', () => {
  it('hashes the customary leaves', () => {
    assert.deepEqual(
      leaves.map((leaf) => encodeHex(leafHash(leaf))),
      vectors.leaf_hashes,
    );
  });

  it('has the published root at every size', async () => {
    for (const [size, root] of vectors.roots.entries()) assert.equal(encodeHex(await treeRoot(read, size)), root);
  });

  it('builds and verifies every inclusion proof, and none at another index or size', async () => {
    for (const { index, size, proof } of vectors.inclusion) {
      assert.deepEqual((await inclusionProof(read, index, size)).map(encodeHex), proof);
      const hash = bytes(vectors.leaf_hashes[index] ?? '');
      for (let otherSize = 0; otherSize <= 8; otherSize++) {
        for (let otherIndex = 0; otherIndex <= 8; otherIndex++) {
          const root = rootOf(otherSize);
          const claim = { leafHash: hash, index: otherIndex, size: otherSize, proof: proof.map(bytes), root };
          assert.equal(verifyInclusion(claim), otherIndex === index && otherSize === size);
        }
      }
    }
  });

  it('builds and verifies every consistency proof, and none between other sizes', async () => {
    for (const { old_size, new_size, proof } of vectors.consistency) {
      assert.deepEqual((await consistencyProof(read, old_size, new_size)).map(encodeHex), proof);
      for (let oldSize = 1; oldSize <= 8; oldSize++) {
        for (let newSize = 1; newSize <= 8; newSize++) {
          const claim = {
            oldSize,
            newSize,
            oldRoot: rootOf(oldSize),
            newRoot: rootOf(newSize),
            proof: proof.map(bytes),
          };
          const isSame = oldSize === old_size && newSize === new_size;
          const isTrivial = oldSize === newSize && proof.length === 0;
          assert.equal(verifyConsistency(claim), isSame || isTrivial, `${oldSize} ${newSize}`);
        }
      }
    }
  });

  it('holds for random trees, and fails when any bit of a proof, leaf or root changes', async () => {
    const size = fc.integer({ min: 1, max: 140 });
    await fc.assert(
      fc.asyncProperty(size, size, fc.nat(), fc.nat({ max: 7 }), async (one, two, pick, bit) => {
        const [oldSize, newSize] = one < two ? [one, two] : [two, one];
        const reader = readerOver(Array.from({ length: newSize }, (_, at) => bytesOf(String(at))));
        const root = await treeRoot(reader, newSize);
        const index = pick % newSize;
        const inclusion = {
          leafHash: await reader(0, index),
          index,
          size: newSize,
          root,
          proof: await inclusionProof(reader, index, newSize),
        };
        assert.ok(verifyInclusion(inclusion));
        const consistency = {
          oldSize,
          newSize,
          oldRoot: await treeRoot(reader, oldSize),
          newRoot: root,
          proof: await consistencyProof(reader, oldSize, newSize),
        };
        assert.ok(verifyConsistency(consistency));
        const flip = (hash: Uint8Array) => hash.map((byte, at) => (at === pick % 32 ? byte ^ (1 << bit) : byte));
        assert.ok(!verifyInclusion({ ...inclusion, leafHash: flip(inclusion.leafHash) }));
        assert.ok(!verifyInclusion({ ...inclusion, root: flip(root) }));
        assert.ok(!verifyConsistency({ ...consistency, newRoot: flip(root) }));
        assert.ok(!verifyConsistency({ ...consistency, oldRoot: flip(consistency.oldRoot) }));
        for (const at of inclusion.proof.keys()) {
          assert.ok(
            !verifyInclusion({
              ...inclusion,
              proof: inclusion.proof.map((hash, other) => (at === other ? flip(hash) : hash)),
            }),
          );
          assert.ok(!verifyInclusion({ ...inclusion, proof: inclusion.proof.toSpliced(at, 1) }));
        }
        for (const at of consistency.proof.keys()) {
          assert.ok(
            !verifyConsistency({
              ...consistency,
              proof: consistency.proof.map((hash, other) => (at === other ? flip(hash) : hash)),
            }),
          );
        }
        assert.ok(!verifyInclusion({ ...inclusion, proof: [...inclusion.proof, root] }));
        assert.ok(!verifyConsistency({ ...consistency, proof: [...consistency.proof, root] }));
      }),
      { numRuns: 40 },
    );
  });

  it('answers false for claims that make no sense, however large', () => {
    const root = rootOf(1);
    const proof: Uint8Array[] = Array.from({ length: MAX_PROOF_HASHES + 1 }, () => root);
    for (const [index, size] of [
      [-1, 1],
      [0, 0],
      [1, 1],
      [0.5, 1],
      [Number.NaN, 1],
      [0, 2 ** 60],
      [2 ** 53, 2 ** 54],
    ] as const) {
      assert.ok(!verifyInclusion({ leafHash: root, index, size, proof: [], root }), `${index} of ${size}`);
    }
    assert.ok(!verifyInclusion({ leafHash: root, index: 0, size: 2 ** 53 - 1, proof, root }));
    assert.ok(!verifyConsistency({ oldSize: 2, newSize: 1, oldRoot: root, newRoot: root, proof: [] }));
    assert.ok(!verifyConsistency({ oldSize: 1, newSize: 2, oldRoot: root, newRoot: root, proof }));
    assert.ok(!verifyInclusion({ leafHash: root, index: 0, size: 2, proof: [new Uint8Array(31)], root }));
    const none = new Uint8Array();
    assert.ok(!verifyInclusion({ leafHash: none, index: 0, size: 1, proof: [], root: none }));
    assert.ok(!verifyConsistency({ oldSize: 0, newSize: 0, oldRoot: root, newRoot: root, proof: [] }));
    assert.ok(!verifyConsistency({ oldSize: 0, newSize: 1, oldRoot: root, newRoot: root, proof: [] }));
  });

  it('does not build proofs outside the tree', async () => {
    await assert.rejects(inclusionProof(read, 8, 8), RangeError);
    await assert.rejects(consistencyProof(read, 5, 4), RangeError);
    assert.deepEqual(await consistencyProof(read, 0, 4), []);
    assert.ok(verifyConsistency({ oldSize: 0, newSize: 4, oldRoot: rootOf(0), newRoot: rootOf(4), proof: [] }));
    assert.ok(!equalBytes(rootOf(0), rootOf(1)));
  });
});
