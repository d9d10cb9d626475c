// A worker and a gateway that says what it is told to, over real sockets.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  bytesSha256,
  decodeOffer,
  decodeSegmentReceipt,
  encodeFrame,
  offerSignedBytes,
  segmentProblems,
  segmentSignedBytes,
  settleSignedBytes,
  TokenChain,
  tokensSha256,
} from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import { simulatedAnswer } from '@strata/testnet';
import { PROMPT, requestOf, SEED, startTestWorker, type TestWorker, vocabularyBytes } from './test/running-worker.ts';
import { type ScriptedChannel, type ScriptedGateway, startScriptedGateway } from './test/scripted-gateway.ts';

describe('a worker, asked by a gateway', () => {
  let gateway: ScriptedGateway;
  let tested: TestWorker;
  let channel: ScriptedChannel;
  before(async () => {
    gateway = await startScriptedGateway();
    tested = await startTestWorker({ join: [gateway.address], tokensPerSecond: 500, slots: 2, queue: 2 });
    channel = await gateway.greeted();
  });
  after(async () => {
    await tested?.[Symbol.asyncDispose]();
    await gateway?.[Symbol.asyncDispose]();
  });

  it('greets first, then offers its model, signed', async () => {
    const [first, second] = channel.frames;
    assert.deepEqual([first?.kind, second?.kind], ['hello', 'offer']);
    const { offer, signature } = await channel.until('offer');
    assert.ok(await verifyPeerSignature(tested.worker.id, offerSignedBytes(offer), signature));
    const { peer, models, expiresAtMs, issuedAtMs } = decodeOffer(offer);
    assert.equal(peer, tested.worker.id);
    assert.equal(expiresAtMs - issuedAtMs, 120_000);
    assert.deepEqual(
      models.map(({ name, slots, contextLength }) => ({ name, slots, contextLength })),
      [{ name: 'simulated', slots: 2, contextLength: 131_072 }],
    );
  });

  it('gives the tokens of the answer in order, and a receipt that is right', async () => {
    const request = requestOf(channel.nextId(), { maxTokens: 100 });
    await channel.send(request);
    const end = await channel.endOf(request.id);
    assert.equal(end.kind, 'done');
    const truth = simulatedAnswer(PROMPT, { seed: SEED, count: 100 });
    assert.deepEqual(channel.tokensOf(request.id), truth);
    const frames = channel.frames.filter((frame) => frame.kind === 'tokens' && frame.id === request.id);
    assert.ok(frames.length < 100, 'tokens that come fast are put together');
    const positions = frames.map((frame) => (frame.kind === 'tokens' ? frame.position : -1));
    const sizes = frames.map((frame) => (frame.kind === 'tokens' ? frame.tokens.length : 0));
    assert.deepEqual(
      positions,
      sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0)),
    );
    if (end.kind !== 'done') return;
    assert.ok(await verifyPeerSignature(tested.worker.id, segmentSignedBytes(end.receipt), end.signature));
    const start = { nonce: request.nonce, modelSha256: request.modelSha256, promptSha256: tokensSha256(PROMPT) };
    const chain = new TokenChain({ ...start, from: 0 });
    for (const token of truth) chain.push(token);
    assert.deepEqual(
      segmentProblems(decodeSegmentReceipt(end.receipt), {
        ...start,
        worker: tested.worker.id,
        gateway: gateway.node.id,
        requestSha256: bytesSha256(encodeFrame(request)),
        ...{ from: 0, to: 100, chainHead: chain.head, promptTokens: PROMPT.length, reason: 'length' },
      }),
      [],
    );
  });

  it('goes on after tokens that were given', async () => {
    const truth = simulatedAnswer(PROMPT, { seed: SEED, count: 30 });
    const request = requestOf(channel.nextId(), { given: truth.slice(0, 12), replay: 'fast', maxTokens: 30 });
    await channel.send(request);
    const end = await channel.endOf(request.id);
    assert.deepEqual(channel.tokensOf(request.id), truth.slice(12));
    assert.equal((await channel.until('tokens', ({ id }) => id === request.id)).position, 12);
    assert.ok(end.kind === 'done');
    const { from, to } = decodeSegmentReceipt(end.receipt);
    assert.deepEqual([from, to], [12, 30]);
  });

  it('sends no more tokens than it has credit for, and goes on when there is more', async () => {
    const request = requestOf(channel.nextId(), { maxTokens: 30, credit: 10 });
    await channel.send(request);
    await channel.untilTokens(request.id, 10);
    // Of two more pulses the second was sent when all that was on its way had come.
    const count = channel.frames.filter(({ kind }) => kind === 'pulse').length;
    await channel.until('pulse', () => channel.frames.filter(({ kind }) => kind === 'pulse').length > count + 1);
    assert.equal(channel.tokensOf(request.id).length, 10);
    await channel.send({ kind: 'credit', id: request.id, tokens: 100 });
    assert.equal((await channel.endOf(request.id)).kind, 'done');
    assert.deepEqual(channel.tokensOf(request.id), simulatedAnswer(PROMPT, { seed: SEED, count: 30 }));
  });

  it('ends an answer that has just as many tokens as it has credit, and one without any', async () => {
    for (const [maxTokens, given] of [
      [30, 0],
      [30, 29],
      [30, 30],
    ] as const) {
      const truth = simulatedAnswer(PROMPT, { seed: SEED, count: given });
      const request = requestOf(channel.nextId(), { maxTokens, given: truth, credit: maxTokens - given });
      await channel.send(request);
      assert.equal((await channel.endOf(request.id)).kind, 'done');
      assert.equal(channel.tokensOf(request.id).length, maxTokens - given);
    }
  });

  it('ends a cancelled answer with a receipt for exactly what it sent', async () => {
    const request = requestOf(channel.nextId(), { maxTokens: 100_000 });
    await channel.send(request);
    await channel.untilTokens(request.id, 20);
    await channel.send({ kind: 'cancel', id: request.id });
    const end = await channel.endOf(request.id);
    assert.ok(end.kind === 'done' && end.reason === 'cancelled');
    const sent = channel.tokensOf(request.id);
    assert.equal(decodeSegmentReceipt(end.receipt).to, sent.length);
    assert.deepEqual(sent, simulatedAnswer(PROMPT, { seed: SEED, count: sent.length }));
  });

  it('signs a receipt of nothing for an answer that was cancelled before it had credit', async () => {
    const request = requestOf(channel.nextId(), { credit: 0 });
    await channel.send(request);
    await channel.until('pulse', ({ jobs }) => jobs.some(({ id, phase }) => id === request.id && phase === 'writing'));
    await channel.send({ kind: 'cancel', id: request.id });
    const end = await channel.endOf(request.id);
    assert.ok(end.kind === 'done');
    const { from, to, firstTokenAtMs } = decodeSegmentReceipt(end.receipt);
    assert.deepEqual([from, to, firstTokenAtMs], [0, 0, 0]);
  });

  it('tells by pulses what is being done', async () => {
    const request = requestOf(channel.nextId(), { maxTokens: 100_000 });
    await channel.send(request);
    const isWriting = await channel.until('pulse', ({ jobs }) =>
      jobs.some(({ id, phase }) => id === request.id && phase === 'writing'),
    );
    assert.equal(isWriting.running, 1);
    await channel.send({ kind: 'cancel', id: request.id });
    await channel.endOf(request.id);
  });

  it('serves as many as it has slots, lets as many wait as its line holds, and refuses the rest', async () => {
    const requests = Array.from({ length: 6 }, () => requestOf(channel.nextId(), { maxTokens: 200 }));
    for (const request of requests) await channel.send(request);
    const ends = await Promise.all(requests.map(({ id }) => channel.endOf(id)));
    assert.deepEqual(
      ends.map((end) => (end.kind === 'failed' ? end.code : end.reason)),
      ['length', 'length', 'length', 'length', 'busy', 'busy'],
    );
  });

  it('refuses a request whose nonce it has seen, and what its model cannot answer', async () => {
    const request = requestOf(channel.nextId());
    await channel.send(request);
    assert.equal((await channel.endOf(request.id)).kind, 'done');
    for (const [change, code] of [
      [{ nonce: request.nonce }, 'protocol'],
      [{ modelSha256: 'f'.repeat(64) }, 'unknown-model'],
      [{ prompt: [] }, 'unusable'],
      [{ prompt: [4_096] }, 'unusable'],
      [{ prompt: Array.from({ length: 131_072 }, () => 1) }, 'unusable'],
    ] as const) {
      const id = channel.nextId();
      await channel.send(requestOf(id, change));
      const end = await channel.endOf(id);
      assert.equal(end.kind === 'failed' ? end.code : end.kind, code);
    }
  });

  it('scores answers, makes vectors, and gives its vocabulary in parts', async () => {
    const answer = simulatedAnswer(PROMPT, { seed: SEED, count: 5 });
    const { modelSha256, sampling } = requestOf(1);
    const score = channel.nextId();
    await channel.send({
      ...{ kind: 'score', id: score, modelSha256, sampling },
      ...{ prompt: PROMPT, answer: [...answer.slice(0, 4), 0], hasEnd: false },
    });
    assert.deepEqual((await channel.until('scored', ({ id }) => id === score)).margins, [0, 0, 0, 0, 20]);
    const embed = channel.nextId();
    await channel.send({ kind: 'embed', id: embed, modelSha256, tokens: PROMPT });
    assert.equal((await channel.until('embedded', ({ id }) => id === embed)).vector.length, 8);
    const { offer } = await channel.until('offer');
    const vocabularySha256 = decodeOffer(offer).models[0]?.vocabularySha256 ?? '';
    const parts: Uint8Array[] = [];
    const id = channel.nextId();
    for (let from = 0; from < vocabularyBytes.length; ) {
      await channel.send({ kind: 'vocabularyAsk', id, vocabularySha256, from });
      const part = await channel.until('vocabularyPart', (frame) => frame.id === id && frame.from === from);
      assert.equal(part.sizeBytes, vocabularyBytes.length);
      assert.ok(part.part.byteLength <= 1024 * 1024);
      parts.push(part.part);
      from += part.part.byteLength;
    }
    assert.deepEqual(Buffer.concat(parts), vocabularyBytes);
  });

  it('keeps the signature of a gateway that agrees to a receipt, and of no other', async () => {
    const request = requestOf(channel.nextId());
    await channel.send(request);
    const end = await channel.endOf(request.id);
    assert.ok(end.kind === 'done');
    const { nonce } = request;
    const { segments } = tested.worker.store;
    const kept = async () => (await segments.list({ limit: 1 }))[0];
    assert.deepEqual(Buffer.from((await kept())?.receipt ?? []), Buffer.from(end.receipt));
    await channel.send({ kind: 'settle', nonce, signature: await gateway.node.sign(new Uint8Array(64)) });
    await channel.send({
      kind: 'settle',
      nonce: new Uint8Array(16),
      signature: await gateway.node.sign(settleSignedBytes(end.receipt)),
    });
    // An answer to a later question says that the earlier ones were heard.
    const ask = channel.nextId();
    await channel.send({ kind: 'embed', id: ask, modelSha256: request.modelSha256, tokens: PROMPT });
    await channel.until('embedded', ({ id }) => id === ask);
    assert.equal((await kept())?.gatewaySignature, undefined);
    const signature = await gateway.node.sign(settleSignedBytes(end.receipt));
    await channel.send({ kind: 'settle', nonce, signature });
    for (let tries = 0; tries < 500 && (await kept())?.gatewaySignature === undefined; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(Buffer.from((await kept())?.gatewaySignature ?? []), Buffer.from(signature));
    const [totals] = await segments.totals({ by: 'gateway' });
    assert.deepEqual([totals?.key, totals?.settled], [gateway.node.id, 1]);
  });
});
