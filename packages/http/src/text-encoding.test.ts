// Uploaded text in UTF-8 and UTF-16, however its bytes are split.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { asUtf8, textOf } from './text-encoding.ts';

const text = 'domain\nbücher.de\n😀\n';
const little = Buffer.from(`\ufeff${text}`, 'utf16le');

for (const [name, bytes] of [
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
  ['UTF-16LE', little],
  ['UTF-16BE', Buffer.from(little).swap16()],
] as const)
  it(`${name} is read at once and in parts`, async () => {
    assert.equal(textOf(bytes), text);
    for (const size of [1, 3, 100]) {
      const parts = async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      };
      assert.equal(new TextDecoder().decode(Buffer.concat(await Array.fromAsync(asUtf8(parts())))), text);
    }
  });
it('bytes that are no text are refused, and few bytes are kept', async () => {
  const of = (...bytes: number[]) => Array.fromAsync(asUtf8(Readable.from([Uint8Array.from(bytes)])));
  assert.deepEqual(Buffer.concat(await of(0x61)), Buffer.from('a'));
  assert.deepEqual(await of(), []);
  await assert.rejects(of(0xff, 0xfe, 0), /not text in UTF-8/);
  assert.throws(() => textOf(Uint8Array.of(0xc3)), /not text in UTF-8/);
});
