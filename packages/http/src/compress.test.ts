import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { encodedBytes, encodedNow } from './compress.ts';

const answer = () => ({ bytes: Buffer.from('compressible '.repeat(500)), etag: '"x"', status: 200 });

describe('a compressed answer', () => {
  it('is made once for a crowd, and kept beside its other encoding', async () => {
    const plain = answer();
    const [one, other] = [encodedBytes(plain, 'gzip'), encodedBytes(plain, 'gzip')];
    assert.equal(encodedNow(plain, 'gzip'), undefined, 'what is still being made is not there yet');
    assert.equal(await one, await other, 'the same buffer');
    assert.deepEqual(gunzipSync(await one), plain.bytes);
    const br = await encodedBytes(plain, 'br');
    assert.equal(encodedNow(plain, 'gzip'), await one);
    assert.equal(encodedNow(plain, 'br'), br);
    assert.equal(encodedNow(answer(), 'br'), undefined);
  });
});
