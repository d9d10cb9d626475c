import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { LeafIndex } from './leaf-index.ts';

const hashOf = (number: number): Uint8Array => createHash('sha256').update(String(number)).digest();

describe('the leaf index', () => {
  it('finds every leaf among few candidates, in about 16 bytes each', () => {
    const index = new LeafIndex();
    const leaves = 200_000;
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
    const index = new LeafIndex();
    const same = new Uint8Array(20);
    for (let number = 0; number < 50; number++) index.add(same, number);
    assert.deepEqual(new Set(index.candidates(same)), new Set(Array(50).keys()));
    assert.throws(() => index.add(same, 2 ** 32), RangeError);
  });
});
