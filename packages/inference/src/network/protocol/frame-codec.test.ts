// The codec: frames survive a round trip; untrusted bytes only ever cause a FrameError, at low cost.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs';
import { GREEDY } from '../../sampling.ts';
import { type Draw, drawFrom, drawn, randomFrame } from '../test/random-frames.ts';
import { Frame, type FrameOf, SegmentReceipt } from './frame.ts';
import * as codec from './frame-codec.ts';
import { decodeFrame, encodeFrame, FrameError, type FrameErrorCode } from './frame-codec.ts';
import { Offer } from './offer.ts';
import { wireTypeOfKinds } from './wire-types.ts';
import { writeMessage } from './wire-writer.ts';

const KINDS = Frame.options.map(({ shape }) => shape.kind.value);

interface Codec<Value> {
  readonly encode: (value: Value) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Value;
  readonly draw: (draw: Draw) => Value;
}
const anyKind = (draw: Draw) => randomFrame(draw, KINDS[draw(KINDS.length)] ?? 'hello');

function describeCodec<Value>(name: string, { encode, decode, draw }: Codec<Value>): void {
  describe(`${name}, random`, () => {
    it('survive a round trip', () => {
      for (let seed = 1; seed <= 500; seed += 1) {
        const value = draw(drawFrom(seed));
        assert.deepEqual(decode(encode(value)), value, `seed ${seed}`);
      }
    });
    it('are decoded or rejected after any corruption, and decoded frames can be encoded again', () => {
      let read = 0;
      for (let seed = 1; seed <= 2_000; seed += 1) {
        const random = drawFrom(seed);
        const bytes = mutated(encode(draw(random)), random);
        const value = orFrameError(() => decode(bytes), seed);
        if (value === undefined) continue;
        read += 1;
        assert.deepEqual(decode(encode(value)), value, `seed ${seed}`);
      }
      assert.ok(read > 50 && read < 1_900, `${read} were read`);
    });
  });
}
describeCodec('frames', { encode: encodeFrame, decode: decodeFrame, draw: anyKind });
const offers = { encode: codec.encodeOffer, decode: codec.decodeOffer };
describeCodec('offers', { ...offers, draw: (draw) => drawn(Offer, draw) });
const receipts = { encode: codec.encodeSegmentReceipt, decode: codec.decodeSegmentReceipt };
describeCodec('receipts', { ...receipts, draw: (draw) => drawn(SegmentReceipt, draw) });

it('a frame is rejected at every length but its own', () => {
  for (const [i, kind] of KINDS.entries()) {
    const bytes = encodeFrame(randomFrame(drawFrom(i + 1), kind));
    for (let length = 0; length < bytes.byteLength; length += 1)
      assert.throws(() => decodeFrame(bytes.subarray(0, length)), FrameError, `${kind} of ${length} bytes`);
  }
});

const proto = new URL('../../../../../docs/network-protocol.proto', import.meta.url);
const { root } = protobuf.parse(readFileSync(proto, 'utf8'));
const type = root.lookupType('strata.inference.v1.Frame');
it('another Protocol Buffers implementation reads our encoding, and we read its encoding', () => {
  for (const [i, kind] of KINDS.entries())
    for (let round = 0; round < 20; round += 1) {
      const frame = randomFrame(drawFrom(i * 100 + round), kind);
      const bytes = encodeFrame(frame);
      // It also writes zeros that were set.
      const zerosToo = type.encode(type.toObject(type.decode(bytes), { defaults: true })).finish();
      assert.deepEqual(decodeFrame(type.encode(type.decode(bytes)).finish()), frame);
      // It cannot distinguish an absent optional field from an empty one.
      if (kind !== 'request' && kind !== 'score') assert.deepEqual(decodeFrame(zerosToo), frame);
    }
});

const sampling = { ...GREEDY, logitBias: [], seed: 0 };
const request: FrameOf<'request'> = {
  ...{ kind: 'request', id: 1, nonce: new Uint8Array(16), modelSha256: 'a'.repeat(64), prompt: [1], given: [] },
  ...{ replay: 'exact', maxTokens: 1, sampling, credit: 0 },
};

it('a frame keeps the sign of a zero', () => {
  const choice = { token: 1, text: new Uint8Array(), logprob: -0, top: [] };
  const bytes = encodeFrame({ kind: 'tokens', id: 1, position: 0, tokens: [choice] });
  const { tokens } = decodeFrame(bytes) as FrameOf<'tokens'>;
  assert.ok(Object.is(tokens[0]?.logprob, -0));
});
it('a frame never contains an unpaired surrogate', () => {
  const frame = decodeFrame(encodeFrame({ ...request, grammar: 'a\ud800b' })) as FrameOf<'request'>;
  assert.equal(frame.grammar, 'a\ufffdb');
});

// Malformed encodings are in vectors/network/refused.json, which segment.test.ts reads.
const infinite = { token: 1, text: new Uint8Array(), logprob: Number.NEGATIVE_INFINITY, top: [] };
const notAllowed = { name: 'FrameError', code: 'not-allowed' };
for (const [name, frame] of [
  ['an id of 0', { kind: 'cancel', id: 0 }],
  ['a temperature that is not a number', { ...request, sampling: { ...sampling, temperature: Number.NaN } }],
  ['an infinite penalty', { ...request, sampling: { ...sampling, presencePenalty: Number.POSITIVE_INFINITY } }],
  ['a token outside every vocabulary', { ...request, prompt: [2 ** 21] }],
  ['a nonce of 15 bytes', { ...request, nonce: new Uint8Array(15) }],
  ['a digest of 31 bytes', { ...request, modelSha256: 'a'.repeat(62) }],
  ['another way of replaying', { ...request, replay: 'slow' as 'fast' }],
  ['a long grammar', { ...request, grammar: '日'.repeat(333_334) }],
  ['a margin that is not a number', { kind: 'scored', id: 1, margins: [Number.NaN] }],
  ['a negative margin', { kind: 'scored', id: 1, margins: [-1] }],
  ['an infinite logarithm', { kind: 'tokens', id: 1, position: 0, tokens: [infinite] }],
  ['no tokens', { kind: 'tokens', id: 1, position: 0, tokens: [] }],
] as readonly (readonly [string, Frame])[])
  it(`a frame with ${name} is rejected`, () => {
    assert.throws(() => encodeFrame(frame), notAllowed);
    const { kind, ...body } = frame;
    assert.throws(() => decodeFrame(writeMessage(wireTypeOfKinds(Frame.options), { [kind]: body })), notAllowed);
  });

const million = Array.from({ length: 1_000_000 }, (_, i) => 2 ** 21 - 1 - (i % 1_000));
it('the limits of a frame allow the largest request in one message', () => {
  const logitBias = Array.from({ length: 10_000 }, () => ({ token: 2 ** 21 - 1, bias: -1.5 }));
  const texts = { grammar: '日'.repeat(333_333), cacheKey: '日'.repeat(500) };
  const largest: Frame = { ...request, ...texts, prompt: million, sampling: { ...sampling, logitBias } };
  const bytes = encodeFrame(largest);
  assert.ok(bytes.byteLength < 4 * 1024 * 1024, `${bytes.byteLength} bytes`);
  assert.deepEqual(decodeFrame(bytes), largest);
  // The longest answer with its end.
  const scored = encodeFrame({ kind: 'scored', id: 1, margins: Array(1_000_001).fill(99) });
  assert.equal((decodeFrame(scored) as FrameOf<'scored'>).margins.length, 1_000_001);
});
it('the limits of a frame reject a longer prompt, and a prompt that is too long together with its answer', () => {
  const tooLarge = { name: 'FrameError', code: 'too-large' };
  assert.throws(() => encodeFrame({ ...request, prompt: million, given: [1, 2] }), tooLarge);
  const notAllowed = { name: 'FrameError', code: 'not-allowed' };
  assert.throws(() => encodeFrame({ ...request, prompt: [...million, 1] }), notAllowed);
});
it('the limits of a frame reject more tokens and alternatives than a receiver accepts: a sender splits them', () => {
  const choice = { token: 1, text: new Uint8Array(), logprob: 0 };
  const tokens = Array.from({ length: 4_096 }, () => ({ ...choice, top: Array(4).fill(choice) }));
  const frame: Frame = { kind: 'tokens', id: 1, position: 0, tokens };
  assert.throws(() => encodeFrame(frame), { name: 'FrameError', code: 'too-large' });
  assert.doesNotThrow(() => encodeFrame({ ...frame, tokens: tokens.slice(0, 3_000) }));
});

for (const [name, code, tag, part] of [
  ['millions of empty tokens', 'too-large', 0x32, [0x1a, 0]],
  ['millions of numbers', 'too-large', 0x12, [0x22, 0x80, 0x04, ...Array(512).fill(1)]],
  ['millions of numbers, one by one', 'too-large', 0x12, [0x20, 1]],
  ['unknown fields only', 'not-allowed', 0x1a, [0xf8, 0x7f, 1]],
  ['empty unknown fields only', 'not-allowed', 0x1a, [0xfa, 0x7f, 0]],
  ['one long number', 'malformed', 0x1a, [0x80]],
] as readonly (readonly [string, FrameErrorCode, number, readonly number[]])[])
  it(`the limits of a frame are checked cheaply against 4 MiB of ${name}`, () => {
    const bytes = new Uint8Array(4 * 1024 * 1024 - 8);
    const length = bytes.byteLength - 5 - ((bytes.byteLength - 5) % part.length);
    const varint = [0, 7, 14].map((shift) => ((length >> shift) & 0x7f) | 0x80);
    bytes.set([tag, ...varint, length >> 21]);
    for (let at = 0; at < length; at += part.length) bytes.set(part, 5 + at);
    const startedAt = performance.now();
    assert.throws(() => decodeFrame(bytes.subarray(0, 5 + length)), { name: 'FrameError', code });
    // Tens of milliseconds on an idle core; seconds if each element became an object.
    assert.ok(performance.now() - startedAt < 15_000);
  });

/** Undefined for a FrameError; anything else is a bug. */
function orFrameError<Value>(decode: () => Value, seed: number): Value | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof FrameError) return undefined;
    throw new Error(`seed ${seed}`, { cause: error });
  }
}

function mutated(bytes: Uint8Array, draw: Draw): Uint8Array {
  let result = [...bytes];
  for (let times = draw(3) + 1; times > 0; times -= 1) {
    const at = draw(result.length + 1);
    const other = draw(result.length + 1);
    const [from, to] = [Math.min(at, other), Math.max(at, other)];
    const kind = draw(6);
    if (kind === 0) result[at] = draw(256);
    else if (kind === 1) result[at] = (result[at] ?? 0) ^ (1 << draw(8));
    else if (kind === 2) result = result.slice(0, at);
    else if (kind === 3) result.splice(at, 0, draw(256));
    else if (kind === 4) result.splice(at, 0, ...result.slice(from, to));
    else result.splice(from, to - from);
  }
  return Uint8Array.from(result);
}
