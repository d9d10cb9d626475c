import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { it } from 'node:test';
import { saltedDigest } from './salted-digest.ts';

for (const bytes of [0, 1, 32, 63, 64])
  it(`a digest under a salt of ${bytes} bytes is the HMAC-SHA-256 of RFC 2104`, () => {
    const salt = Buffer.alloc(bytes, 0xa5);
    for (const text of ['', 'ä', 'x'.repeat(1_000), 'ä'.repeat(10_000), 'y']) {
      const expected = createHmac('sha256', salt).update(text).digest('hex');
      assert.equal(saltedDigest(salt.toString('hex'), text), expected);
      assert.equal(saltedDigest(salt.toString('hex'), Buffer.from(text)), expected);
    }
  });
