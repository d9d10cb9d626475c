// What a worker signs: a receipt is held, field by field, against what the gateway saw.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SegmentReceipt } from './frame.ts';
import { bytesSha256, type SeenSegment, segmentProblems, TokenChain, tokensSha256 } from './segment.ts';

const utf8 = new TextEncoder();
const seen: SeenSegment = {
  ...{ nonce: new Uint8Array(16).fill(7), worker: 'worker', gateway: 'gateway', modelSha256: 'a'.repeat(64) },
  ...{ promptSha256: tokensSha256([1, 2, 3]), requestSha256: bytesSha256(utf8.encode('request')) },
  ...{ from: 2, to: 5, chainHead: 'b'.repeat(64), promptTokens: 3, reason: 'stop' },
};
const times = { startedAtMs: 10, firstTokenAtMs: 20, endedAtMs: 20 };
const right: SegmentReceipt = { version: 1, ...seen, cachedTokens: 3, engine: 'engine', ...times };

describe('the digests of a segment', () => {
  it('are SHA-256 of the bytes, and of token ids of 4 bytes each, little-endian', () => {
    assert.equal(bytesSha256(utf8.encode('abc')), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    assert.equal(tokensSha256([0x04030201]), bytesSha256(Uint8Array.of(1, 2, 3, 4)));
    assert.equal(tokensSha256([]), bytesSha256(new Uint8Array()));
  });

  it('give another chain for another nonce, model, prompt, position, token or order', () => {
    const start = { nonce: seen.nonce, modelSha256: seen.modelSha256, promptSha256: seen.promptSha256, from: 0 };
    const headOf = (change: Partial<typeof start>, tokens: readonly number[]) => {
      const chain = new TokenChain({ ...start, ...change });
      for (const token of tokens) chain.push(token);
      return chain.head;
    };
    const other = 'c'.repeat(64);
    const changes = [{ nonce: new Uint8Array(16) }, { modelSha256: other }, { promptSha256: other }, { from: 1 }];
    const heads = [
      ...[[], [1], [1, 2], [2, 1]].map((tokens) => headOf({}, tokens)),
      ...changes.map((change) => headOf(change, [1, 2])),
    ];
    assert.equal(new Set(heads).size, 8);
  });
});

describe('a receipt', () => {
  it('that says what was seen is right', () => assert.deepEqual(segmentProblems(right, seen), []));

  it('of no tokens has no time of a first one', () => {
    const empty = { ...right, to: 2, firstTokenAtMs: 0 };
    assert.deepEqual(segmentProblems(empty, { ...seen, to: 2 }), []);
    assert.deepEqual(segmentProblems({ ...empty, firstTokenAtMs: 15 }, { ...seen, to: 2 }), ['times']);
  });

  const other = 'c'.repeat(64);
  const lies: readonly (readonly [string, ...Partial<SegmentReceipt>[]])[] = [
    ['nonce', { nonce: new Uint8Array(16) }],
    ['worker', { worker: 'another' }],
    ['gateway', { gateway: 'another' }],
    ...(['modelSha256', 'promptSha256', 'requestSha256', 'chainHead'] as const).map(
      (field) => [field, { [field]: other }] as const,
    ),
    ['from', { from: 1 }],
    ['to', { to: 6 }, { to: 1 }],
    ['promptTokens', { promptTokens: 4 }],
    ['reason', { reason: 'length' }],
    ['cachedTokens', { cachedTokens: 4 }],
    ['times', { startedAtMs: 21 }, { firstTokenAtMs: 9 }, { firstTokenAtMs: 21 }, { firstTokenAtMs: 0 }],
  ];
  for (const [field, ...changes] of lies)
    it(`with a wrong value is refused: ${field}`, () => {
      for (const change of changes) assert.ok(segmentProblems({ ...right, ...change }, seen).includes(field));
    });

  it('cannot end before it begins, whatever was seen', () => {
    assert.deepEqual(segmentProblems({ ...right, to: 1 }, { ...seen, to: 1 }), ['to']);
  });
});
