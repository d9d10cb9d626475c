// Uploaded text in UTF-8 and UTF-16, however its bytes are split.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { asUtf8, textOf } from './text-encoding.ts';

const text = 'domain\nbücher.de\n😀\n';
const little = Buffer.from(`\ufeff${text}`, 'utf16le');
const parts = async function* (bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
};

it('UTF-8 and UTF-16 are read at once and in parts; bytes that are not text are refused', async () => {
  for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`), little, Buffer.from(little).swap16()]) {
    assert.equal(textOf(bytes), text);
    for (const size of [1, 3, 100])
      assert.equal(textOf(Buffer.concat(await Array.fromAsync(asUtf8(parts(bytes, size))))), text);
  }
  assert.deepEqual(await Array.fromAsync(asUtf8(parts(Buffer.from('a'), 1))), [Buffer.from('a')]);
  await assert.rejects(Array.fromAsync(asUtf8(parts(Uint8Array.of(0xff, 0xfe, 0), 9))), /not text in UTF-8/);
  assert.throws(() => textOf(Uint8Array.of(0xc3)), /not text in UTF-8/);
});
