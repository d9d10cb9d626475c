// The network's vectors are what this code reads, writes and signs. Regenerate: node packages/inference/src/network/test/write-vectors.ts
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gumbel, uniform } from '../sampling.ts';
import { decodeFrame, decodeOffer, decodeSegmentReceipt, encodeFrame } from './frame-codec.ts';
import { bytesSha256, fromHex, segmentProblems, TokenChain, toHex, tokensSha256 } from './segment.ts';
import { networkVectors, plain } from './test/vectors.ts';

const directory = new URL('../../../../vectors/network/', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: files of many shapes, which are what is tested
const vector = (name: string): any => JSON.parse(readFileSync(new URL(name, directory), 'utf8'));

function isSigned(bytes: string, signature: string, { publicKey }: { readonly publicKey: string }): boolean {
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, fromHex(bytes), key, fromHex(signature));
}

describe('the network vectors', () => {
  it('are all that the code makes, and no more', () => {
    const made = networkVectors();
    assert.deepEqual(readdirSync(directory).sort(), Object.keys(made).sort());
    for (const [name, value] of Object.entries(made)) assert.deepEqual(vector(name), plain(value), name);
  });

  it('of frames are read, and written byte by byte', () => {
    const kinds = new Set<string>();
    for (const { hex, frame } of vector('frames.json')) {
      const read = decodeFrame(fromHex(hex));
      assert.deepEqual(plain(read), frame);
      assert.equal(toHex(encodeFrame(read)), hex);
      kinds.add(read.kind);
    }
    assert.equal(kinds.size, 17);
  });

  it('of other encodings are read alike', () => {
    for (const { name, hex, frame } of vector('read-alike.json'))
      assert.deepEqual(plain(decodeFrame(fromHex(hex))), frame, name);
  });

  it('of what is no frame are refused for their reasons', () => {
    for (const { name, hex, code } of vector('refused.json'))
      assert.throws(() => decodeFrame(fromHex(hex)), { name: 'FrameError', code }, name);
  });

  it('of a segment hold from the request to both signatures', () => {
    const it = vector('segment.json');
    const request = decodeFrame(fromHex(it.request));
    const receipt = decodeSegmentReceipt(fromHex(it.receiptHex));
    assert.deepEqual(plain(receipt), it.receipt);
    assert.ok(request.kind === 'request');
    const { nonce, modelSha256, prompt, given } = request;
    const start = { nonce, modelSha256, promptSha256: tokensSha256(prompt), from: given.length };
    const chain = new TokenChain(start);
    assert.equal(chain.head, it.chainHeads[0]);
    for (const [i, token] of it.tokens.entries()) {
      chain.push(token);
      assert.equal(chain.head, it.chainHeads[i + 1]);
    }
    const peers = { worker: it.worker.peer, gateway: it.gateway.peer };
    const made = { to: given.length + it.tokens.length, chainHead: chain.head, promptTokens: prompt.length };
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

  it('of draws are the noise that is drawn with', () => {
    for (const { seed, position, token, ...noise } of vector('draws.json').noise)
      assert.deepEqual(noise, { uniform: uniform(seed, position, token), gumbel: gumbel(seed, position, token) });
  });
});
