// Queries against dns-packet's reading of them; the answers' side is tested over sockets beside the resolver.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import dnsPacket from 'dns-packet';
import { randomFrom } from '../../../../../tests/support/random.ts';
import { encodeQuery, isAskable, stampId } from './message.ts';
import { Malformed, MessageReader } from './message-reader.ts';

for (const name of ['a', 'example.com', '_dmarc.xn--bcher-kva.example', `${'x'.repeat(63)}.${'y.'.repeat(90)}z`])
  it(`the question for ${name.slice(0, 30)} reads back as it was meant, with EDNS0 or without, to be checked or not`, () => {
    const { RECURSION_DESIRED: RD, AUTHENTIC_DATA: AD, CHECKING_DISABLED: CD } = dnsPacket;
    const both = [[true, false, RD | AD] as const, [true, true, RD | CD] as const];
    for (const [hasEdns, isUnchecked, expected] of [...both, [false, false, RD] as const, [false, true, RD] as const]) {
      assert.ok(isAskable(name));
      const query = encodeQuery(name, 'CAA', { hasEdns, isUnchecked });
      stampId(query, 0xabcd);
      const { id, flags, questions, additionals = [] } = dnsPacket.decode(query);
      assert.deepEqual([id, flags], [0xabcd, expected]);
      assert.deepEqual(questions, [{ name, type: 'CAA', class: 'IN' }]);
      assert.equal(additionals[0]?.type === 'OPT' && additionals[0].udpPayloadSize, hasEdns ? 1_232 : false);
      assert.equal(dnsPacket.decode.bytes, query.length);
    }
  });

it('a query owes nothing to what its memory held before', () => {
  for (let i = 0; i < 200; i++) {
    Buffer.allocUnsafe(200).fill(0xff);
    const read = dnsPacket.decode(encodeQuery(`n${i}.example`, 'A', { hasEdns: i % 2 === 0 }));
    assert.deepEqual([read.id, read.questions?.[0]?.name, read.additionals?.length], [0, `n${i}.example`, (i + 1) % 2]);
  }
});

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
  return /[^.\\]/.test(character) && /[!-~]/.test(character)
    ? character.toLowerCase()
    : `\\${String(byte).padStart(3, '0')}`;
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
  for (let round = 0; round < 4_000; round++) {
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
  assert.ok(counts.found > 1_000 && counts.refused > 1_000, JSON.stringify(counts));
});

it('a name that is known is taken as given, and only where a pointer leads to it exactly', () => {
  const bytes = Buffer.from('\x03www\x07example\x00\xc0\x00\xc0\x04\xc0\x00', 'latin1');
  const reader = new MessageReader(bytes, 13, { start: 0, name: 'www.example' });
  assert.deepEqual([reader.name(), reader.name(), reader.name()], ['www.example', 'example', 'www.example']);
  assert.equal(reader.offset, bytes.length);
});
