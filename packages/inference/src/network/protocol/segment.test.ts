// The protocol: its vectors, its document, and receipts held against what the gateway observed. Regenerate the vectors: test/write-vectors.ts
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { networkVectors, plain } from '../test/vectors.ts';
import { FAILURE_CODES, Frame, MAX_PART_BYTES, PROTOCOL, PROTOCOL_VERSION, type SegmentReceipt } from './frame.ts';
import { decodeFrame, decodeOffer, decodeSegmentReceipt } from './frame-codec.ts';
import { FRAME_PROTO } from './frame-proto.ts';
import {
  bytesSha256,
  fromHex,
  offerSignedBytes,
  type SeenSegment,
  segmentProblems,
  segmentSignedBytes,
  settleSignedBytes,
  TokenChain,
  toHex,
  tokensSha256,
} from './segment.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGES, MAX_NUMBERS } from './wire-types.ts';

const directory = new URL('../../../../../vectors/network/', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: files of many shapes, which are what is tested
const vector = (name: string): any => JSON.parse(readFileSync(new URL(name, directory), 'utf8'));

function isSigned(bytes: string, signature: string, { publicKey }: { readonly publicKey: string }): boolean {
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, fromHex(bytes), key, fromHex(signature));
}

describe('the network vectors', () => {
  // That other encodings are read alike, and what is refused for which reason, is in what the code makes.
  it('are all that the code makes, and no more', () => {
    const made = networkVectors();
    assert.deepEqual(readdirSync(directory).sort(), Object.keys(made).sort());
    for (const [name, value] of Object.entries(made)) assert.deepEqual(vector(name), plain(value), name);
  });
  it('of frames are read', () => {
    for (const { hex, frame } of vector('frames.json')) assert.deepEqual(plain(decodeFrame(fromHex(hex))), frame);
  });
  it('of a segment hold from the request to both signatures', () => {
    const it = vector('segment.json');
    const request = decodeFrame(fromHex(it.request));
    const receipt = decodeSegmentReceipt(fromHex(it.receiptHex));
    assert.deepEqual(plain(receipt), it.receipt);
    assert.ok(request.kind === 'request');
    const { nonce, modelSha256, prompt, given } = request;
    const start = { nonce, modelSha256, promptSha256: tokensSha256(prompt), from: given.length };
    const peers = { worker: it.worker.peer, gateway: it.gateway.peer };
    const made = { to: given.length + it.tokens.length, chainHead: it.chainHeads.at(-1), promptTokens: prompt.length };
    const seen = { ...start, ...peers, ...made, requestSha256: bytesSha256(fromHex(it.request)) };
    assert.deepEqual(segmentProblems(receipt, { ...seen, reason: 'length' }), []);
    assert.ok(isSigned(it.workerSigns, it.workerSignature, it.worker));
    assert.ok(isSigned(it.gatewaySigns, it.gatewaySignature, it.gateway));
    assert.ok(it.workerSigns.endsWith(it.receiptHex) && it.gatewaySigns.endsWith(it.receiptHex));
    assert.equal(isSigned(it.gatewaySigns, it.workerSignature, it.worker), false);
    const done = decodeFrame(fromHex(it.done));
    assert.ok(done.kind === 'done' && toHex(done.receipt) === it.receiptHex);
    const settle = decodeFrame(fromHex(it.settle));
    assert.ok(settle.kind === 'settle' && toHex(settle.signature) === it.gatewaySignature);
  });
  it('of an offer hold under its signature', () => {
    const { frame, offer, offerHex, worker, workerSigns, workerSignature } = vector('offer.json');
    const read = decodeFrame(fromHex(frame));
    assert.ok(read.kind === 'offer' && toHex(read.offer) === offerHex);
    assert.deepEqual(plain(decodeOffer(read.offer)), offer);
    assert.equal(offer.peer, worker.peer);
    assert.ok(isSigned(workerSigns, workerSignature, worker));
  });
});

const doc = readFileSync(new URL('../../../../../docs/network-protocol.md', import.meta.url), 'utf8');
const count = (value: number) => value.toLocaleString('en-US');

describe('docs/network-protocol.md', () => {
  it('has the messages word for word', () => {
    assert.equal(/```proto\n(.*?)```/s.exec(doc)?.[1]?.trim(), FRAME_PROTO.trim());
  });
  it('tells of every kind of frame and every code of failure', () => {
    const rows = [...doc.matchAll(/^\| ((?:`[a-z_-]+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([a-z_-]+)`/g)].map(([, name]) => name),
    );
    const kinds = Frame.options.map(({ shape }) => shape.kind.value.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
    for (const name of [...kinds, ...FAILURE_CODES]) assert.ok(rows.includes(name), name);
  });
  it('tells the bounds as they are', () => {
    assert.ok(doc.includes(`\`${PROTOCOL}\``) && doc.includes(`\`version\` ${PROTOCOL_VERSION};`));
    for (const bound of [MAX_FRAME_BYTES, MAX_NUMBERS, MAX_MESSAGES]) assert.ok(doc.includes(count(bound)), `${bound}`);
    assert.ok(doc.includes(`at most ${MAX_PART_BYTES / 1024 ** 2} MiB of it`));
  });
  it('tells what each signature begins with', () => {
    for (const signed of [offerSignedBytes, segmentSignedBytes, settleSignedBytes]) {
      const bytes = signed(new Uint8Array());
      assert.equal(bytes.at(-1), 0);
      assert.ok(doc.includes(`"${new TextDecoder().decode(bytes.subarray(0, -1))}"`));
    }
  });
});

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
    const heads = [[], [1], [1, 2], [2, 1]].map((tokens) => headOf({}, tokens));
    heads.push(...changes.map((change) => headOf(change, [1, 2])));
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
