import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageReader, MOST_MESSAGE_BYTES } from './message-reader.ts';

const framed = (message: Uint8Array) => {
  const head: number[] = [];
  let rest = message.byteLength;
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Uint8Array.of(...head, rest), message]);
};

describe('message reader', () => {
  it('gives the same messages, however the bytes are cut', () => {
    const sizes = [1, 127, 128, 5_000, 0, 20_000];
    const sent = sizes.map((size, at) => Buffer.alloc(size, at + 1));
    const bytes = Buffer.concat(sent.map(framed));
    for (const step of [1, 2, 3, 7, 1_000, 4_096, bytes.byteLength]) {
      const reader = new MessageReader();
      const received: Uint8Array[] = [];
      for (let at = 0; at < bytes.byteLength; at += step)
        received.push(...reader.read(bytes.subarray(at, Math.min(at + step, bytes.byteLength))));
      assert.deepEqual(received, sent, `pieces of ${step}`);
      assert.equal(reader.heldBytes, 0);
    }
  });

  it('holds no more than twice what came of a message, in whatever pieces', () => {
    const reader = new MessageReader();
    assert.deepEqual([...reader.read(Uint8Array.of(0x80, 0x80, 0x80))], []);
    assert.equal(reader.heldBytes, 3);
    assert.deepEqual([...reader.read(Uint8Array.of(0x02))], []);
    assert.ok(reader.heldBytes <= 4_096, 'a length alone takes no memory');
    for (let count = 1; count <= 100_000; count += 1) {
      assert.equal([...reader.read(Uint8Array.of(7))].length, 0);
      assert.ok(reader.heldBytes <= Math.max(4_096, 2 * count));
    }
  });

  it('refuses a length that is too long or does not end', () => {
    const longest = framed(Buffer.alloc(MOST_MESSAGE_BYTES));
    assert.equal([...new MessageReader().read(longest)][0]?.byteLength, MOST_MESSAGE_BYTES);
    for (const head of [
      [0x81, 0x80, 0x80, 0x02],
      [0x80, 0x80, 0x80, 0x80, 0x01],
      [0xff, 0xff, 0xff, 0xff],
    ])
      assert.throws(() => [...new MessageReader().read(Uint8Array.from(head))], RangeError);
  });
});
