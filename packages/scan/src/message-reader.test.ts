// Names on the wire, as they come and as they were made up: the reader beside the plainest reading of RFC 1035 §4.1.4.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomFrom } from '../../../tests/support/random.ts';
import { Malformed, MessageReader } from './message-reader.ts';

/** Label by label, without anything remembered; null for whatever is no name. */
function plainName(bytes: Buffer, offset: number): { readonly name: string; readonly end: number } | null {
  const labels: string[] = [];
  let wireLength = 1;
  let end: number | null = null;
  let limit = offset;
  for (let at = offset; ; ) {
    const length = bytes[at];
    if (length === undefined) return null;
    if (length === 0) return { name: labels.join('.'), end: end ?? at + 1 };
    if (length >= 0xc0) {
      const low = bytes[at + 1];
      const target = ((length & 0x3f) << 8) | (low ?? 0);
      if (low === undefined || target >= limit) return null;
      end ??= at + 2;
      limit = target;
      at = target;
      continue;
    }
    wireLength += length + 1;
    if (length >= 0x40 || wireLength > 255 || at + 1 + length > bytes.length) return null;
    labels.push([...bytes.subarray(at + 1, at + 1 + length)].map(plainCharacter).join(''));
    at += 1 + length;
  }
}

function plainCharacter(byte: number): string {
  const character = String.fromCharCode(byte);
  if (/[!-~]/.test(character) && !/[.\\]/.test(character)) return character.toLowerCase();
  return `\\${String(byte).padStart(3, '0')}`;
}

/** The next name of a reader; null when it is malformed, after which the reader is of no use. */
function read(reader: MessageReader): string | null {
  try {
    return reader.name();
  } catch (error) {
    assert.ok(error instanceof Malformed);
    return null;
  }
}

it('names made of labels, pointers and rubbish read as the plainest reader reads them, one after another', () => {
  const next = randomFrom(20_261_122);
  const random = (below: number) => Math.floor(next() * below);
  const counts = { found: 0, refused: 0 };
  for (let round = 0; round < 20_000; round++) {
    const bytes: number[] = [];
    let target = 0;
    while (bytes.length < 20 + random(300)) {
      const kind = random(10);
      if (kind < 4) {
        const length = random(20) === 0 ? random(256) : random(8);
        bytes.push(length);
        for (let i = 0; i < Math.min(length, 70); i++) bytes.push(random(4) === 0 ? random(256) : 0x41 + random(58));
      } else if (kind < 8) {
        // Often the same one again, as the records of a set point to their name.
        if (random(2) === 0) target = random(bytes.length + 4) & 0xff;
        bytes.push(0xc0, target);
      } else bytes.push(0);
    }
    const message = Buffer.from(bytes);
    const reader = new MessageReader(message, random(20));
    for (let names = 0; names < 12; names++) {
      const expected = plainName(message, reader.offset);
      assert.equal(read(reader), expected?.name ?? null, `${message.toString('hex')} at ${reader.offset}`);
      counts[expected ? 'found' : 'refused'] += 1;
      if (expected === null) break;
      assert.equal(reader.offset, expected.end);
    }
  }
  assert.ok(counts.found > 5_000 && counts.refused > 5_000, JSON.stringify(counts));
});

it('a name that is known is taken as given, and only where a pointer leads to it exactly', () => {
  const bytes = Buffer.from('\x03www\x07example\x00\xc0\x00\xc0\x04\xc0\x00', 'latin1');
  const reader = new MessageReader(bytes, 13, { start: 0, name: 'www.example' });
  assert.deepEqual([reader.name(), reader.name(), reader.name()], ['www.example', 'example', 'www.example']);
  assert.equal(reader.offset, bytes.length);
});
