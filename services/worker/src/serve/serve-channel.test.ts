// A worker and a scripted gateway over real sockets.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CHUNK_BYTES } from '@strata/engine';
import {
  bytesSha256,
  decodeOffer,
  decodeSegmentReceipt,
  encodeFrame,
  type FrameOf,
  offerSignedBytes,
  segmentProblems,
  segmentSignedBytes,
  settleSignedBytes,
  TokenChain,
  tokensSha256,
} from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import { until } from '../../../../tests/support/until.ts';
import { PROMPT, requestOf, startTestWorker, type TestWorker, truth, vocabularyBytes } from '../test/running-worker.ts';
import {
  reasonOf,
  type ScriptedChannel,
  type ScriptedGateway,
  startScriptedGateway,
} from '../test/scripted-gateway.ts';

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

  async function sent(change: Partial<FrameOf<'request'>> = {}): Promise<FrameOf<'request'>> {
    const request = requestOf(channel.nextId(), change);
    await channel.send(request);
    return request;
  }
  async function endOf({ id }: FrameOf<'request'>) {
    const end = await channel.endOf(id);
    assert.ok(end.kind === 'done');
    return { ...end, signed: decodeSegmentReceipt(end.receipt), tokens: channel.tokensOf(id) };
  }
  const cancelled = async (request: FrameOf<'request'>) => {
    await channel.send({ kind: 'cancel', id: request.id });
    return endOf(request);
  };
  const isWriting = ({ id }: FrameOf<'request'>) =>
    channel.until('pulse', ({ jobs }) => jobs.some((job) => job.id === id && job.phase === 'writing'));
  it('sends hello first, then its signed offer', async () => {
    const [first, second] = channel.frames;
    assert.deepEqual([first?.kind, second?.kind], ['hello', 'offer']);
    const { offer, signature } = await channel.until('offer');
    assert.ok(await verifyPeerSignature(tested.worker.id, offerSignedBytes(offer), signature));
    const { peer, models, expiresAtMs, issuedAtMs } = decodeOffer(offer);
    assert.deepEqual([peer, expiresAtMs - issuedAtMs, models.length], [tested.worker.id, 120_000, 1]);
    assert.partialDeepStrictEqual(models[0], { name: 'simulated', slots: 2, contextLength: 131_072 });
  });
  it('sends the tokens of the answer in order, and a correct receipt', async () => {
    const request = await sent({ maxTokens: 100 });
    const { tokens, receipt, signature, signed } = await endOf(request);
    assert.deepEqual(tokens, truth(100));
    const frames = channel.framesOf(request.id);
    let made = 0;
    for (const { position, tokens } of frames) {
      assert.equal(position, made);
      made += tokens.length;
    }
    assert.ok(frames.length < 100, 'tokens that come fast are sent together');
    assert.ok(await verifyPeerSignature(tested.worker.id, segmentSignedBytes(receipt), signature));
    const start = { nonce: request.nonce, modelSha256: request.modelSha256, promptSha256: tokensSha256(PROMPT) };
    const chain = new TokenChain({ ...start, from: 0 });
    for (const token of tokens) chain.push(token);
    const observed = {
      ...{ ...start, worker: tested.worker.id, gateway: gateway.node.id },
      ...{ requestSha256: bytesSha256(encodeFrame(request)), from: 0, to: 100, chainHead: chain.head },
    };
    assert.deepEqual(segmentProblems(signed, { ...observed, promptTokens: PROMPT.length, reason: 'length' }), []);
  });
  it('sends no more tokens than it has credit for, and continues with more credit', async () => {
    const request = await sent({ maxTokens: 30, credit: 10 });
    await channel.untilTokens(request.id, 10);
    // The second of two more heartbeats comes after everything that was sent until now.
    const heartbeats = () => channel.frames.filter(({ kind }) => kind === 'pulse').length;
    const count = heartbeats();
    await channel.until('pulse', () => heartbeats() > count + 1);
    assert.equal(channel.tokensOf(request.id).length, 10);
    await channel.send({ kind: 'credit', id: request.id, tokens: 100 });
    assert.deepEqual((await endOf(request)).tokens, truth(30));
  });

  for (const given of [0, 12, 29, 30])
    it(`continues ${given} of 30 tokens, and ends with exactly the credit that it needs`, async () => {
      const request = await sent({ maxTokens: 30, given: truth(given), credit: 30 - given });
      const { tokens, signed } = await endOf(request);
      assert.deepEqual([tokens, signed.from, signed.to], [truth(30).slice(given), given, 30]);
      assert.equal(channel.framesOf(request.id)[0]?.position, given < 30 ? given : undefined);
    });
  it('ends a cancelled answer with a receipt for exactly what it sent', async () => {
    const request = await sent({ maxTokens: 100_000 });
    await channel.untilTokens(request.id, 20);
    assert.equal((await isWriting(request)).running, 1);
    const { reason, tokens, signed } = await cancelled(request);
    assert.deepEqual([reason, tokens], ['cancelled', truth(signed.to)]);
  });
  it('signs an empty receipt for an answer that was cancelled before it had credit', async () => {
    const request = await sent({ credit: 0 });
    await isWriting(request);
    const { from, to, firstTokenAtMs } = (await cancelled(request)).signed;
    assert.deepEqual([from, to, firstTokenAtMs], [0, 0, 0]);
  });
  it('serves as many as it has slots, queues as many as its queue holds, and rejects the rest', async () => {
    const requests = Array.from({ length: 6 }, () => requestOf(channel.nextId(), { maxTokens: 200 }));
    for (const request of requests) await channel.send(request);
    const ends = await Promise.all(requests.map(({ id }) => channel.endOf(id)));
    assert.equal(ends.map(reasonOf).join(), 'length,length,length,length,busy,busy');
  });
  it('rejects a request whose nonce it has served, and requests that its model cannot serve', async () => {
    const request = await sent();
    await endOf(request);
    for (const [change, code] of [
      [{ nonce: request.nonce }, 'protocol'],
      [{ modelSha256: 'f'.repeat(64) }, 'unknown-model'],
      [{ prompt: [] }, 'unusable'],
      [{ prompt: [4_096] }, 'unusable'],
      [{ prompt: Array.from({ length: 131_072 }, () => 1) }, 'unusable'],
    ] as const)
      assert.equal(reasonOf(await channel.ask(requestOf(channel.nextId(), change))), code);
  });
  it('scores answers, computes embeddings, and sends its vocabulary in parts', async () => {
    const { modelSha256, sampling } = requestOf(1);
    const asked = { modelSha256, prompt: PROMPT, sampling };
    const [score, embed, vocabulary] = [channel.nextId(), channel.nextId(), channel.nextId()];
    await channel.send({ kind: 'score', id: score, ...asked, answer: [...truth(4), 0], hasEnd: false });
    assert.deepEqual((await channel.until('scored', ({ id }) => id === score)).margins, [0, 0, 0, 0, 20]);
    await channel.send({ kind: 'embed', id: embed, modelSha256, tokens: PROMPT });
    assert.equal((await channel.until('embedded', ({ id }) => id === embed)).vector.length, 8);
    const { offer } = await channel.until('offer');
    const vocabularySha256 = decodeOffer(offer).models[0]?.vocabularySha256 ?? '';
    const parts: Uint8Array[] = [];
    for (let from = 0; from < vocabularyBytes.length; ) {
      await channel.send({ kind: 'vocabularyAsk', id: vocabulary, vocabularySha256, from });
      const { sizeBytes, part } = await channel.until('vocabularyPart', (frame) => frame.from === from);
      assert.ok(sizeBytes === vocabularyBytes.length && part.byteLength <= 1024 * 1024);
      parts.push(part);
      from += part.byteLength;
    }
    assert.deepEqual(Buffer.concat(parts), vocabularyBytes);
    const chunk = (id: number, index: number) => channel.send({ kind: 'chunkAsk', id, modelSha256, index });
    await chunk(9_000, 1);
    const { part, sizeBytes } = await channel.until('chunk');
    assert.deepEqual([sizeBytes, ...part], [CHUNK_BYTES + 2, 7, 7], 'the last chunk of the file');
    for (let id = 9_001; id < 9_258; id += 1) await chunk(id, id === 9_001 ? 2 : 0);
    const codes = [reasonOf(await channel.endOf(9_001)), reasonOf(await channel.endOf(9_257))];
    assert.deepEqual(codes, ['unusable', 'busy'], 'a large model is not downloaded');
  });
  it('stores the signature of a gateway under a receipt, and no other', async () => {
    const request = await sent();
    const { receipt } = await endOf(request);
    const { segments } = tested.worker.store;
    const kept = async () => (await segments.list({ limit: 1 }))[0];
    assert.deepEqual(Buffer.from((await kept())?.receipt ?? []), Buffer.from(receipt));
    const signature = await gateway.node.sign(settleSignedBytes(receipt));
    const wrong = await gateway.node.sign(new Uint8Array(64));
    const settle = async (nonce: Uint8Array, signed: Uint8Array) => {
      await channel.send({ kind: 'settle', nonce, signature: signed });
      // The reply to a later call comes after what was sent before it was handled.
      const id = channel.nextId();
      await channel.send({ kind: 'embed', id, modelSha256: request.modelSha256, tokens: PROMPT });
      await channel.until('embedded', (frame) => frame.id === id);
    };
    await settle(request.nonce, wrong);
    await settle(new Uint8Array(16), signature);
    assert.equal((await kept())?.gatewaySignature, undefined);
    await settle(request.nonce, signature);
    await until(async () => (await kept())?.gatewaySignature !== undefined);
    assert.deepEqual(Buffer.from((await kept())?.gatewaySignature ?? []), Buffer.from(signature));
    const [totals] = await segments.totals({ by: 'gateway' });
    assert.deepEqual([totals?.key, totals?.settled], [gateway.node.id, 1]);
  });
});

describe('a worker, asked by a hostile gateway', () => {
  let tested: TestWorker;
  before(async () => {
    tested = await startTestWorker({ slots: 2, queue: 4, tokensPerSecond: 200 });
  });
  after(() => tested?.[Symbol.asyncDispose]());

  /** A separate gateway that connects to the worker, which then opens a channel. */
  async function connected() {
    const gateway = await startScriptedGateway();
    await gateway.node.peers.join(tested.worker.addresses()[0] ?? '', { signal: AbortSignal.timeout(15_000) });
    return gateway;
  }

  type Breach = (channel: ScriptedChannel) => Promise<void>;
  const settle = { kind: 'settle', nonce: new Uint8Array(16), signature: new Uint8Array(64) } as const;
  const afterHello: Readonly<Record<string, Breach>> = {
    'bytes that are not a frame': ({ channel }) => channel.send(new Uint8Array(64).fill(0xff)),
    'a full message without a frame': ({ channel }) => channel.send(new Uint8Array(4 * 1024 * 1024)),
    'a second hello': (channel) => channel.hello(),
    'signatures of receipts that it never made': async (channel) => {
      for (let i = 0; i < 65; i += 1) await channel.send(settle);
    },
    'a frame of workers': (channel) => channel.send({ kind: 'begin', id: 1, cachedTokens: 0 }),
    'two requests with one number': async (channel) => {
      for (const maxTokens of [10_000, 40]) await channel.send(requestOf(1, { maxTokens }));
    },
  };
  const asHello: Readonly<Record<string, Breach>> = {
    'another version': (channel) => channel.hello({ version: 2 }),
    'the role of a worker': (channel) => channel.hello({ role: 'worker' }),
    'a request before hello': (channel) => channel.send(requestOf(1)),
  };
  for (const [name, breach] of Object.entries({ ...afterHello, ...asHello }))
    it(`rejects ${name}, and closes the channel`, async () => {
      await using gateway = await connected();
      const channel = name in asHello ? await gateway.nextChannel() : await gateway.greeted();
      await breach(channel);
      assert.equal((await channel.until('failed', ({ id }) => id === 0)).code, 'protocol');
      await channel.ended;
      assert.equal(gateway.opened(), 1, 'it does not open another at once');
    });

  const endings: Readonly<Record<string, (gateway: ScriptedGateway, channel: ScriptedChannel) => Promise<void>>> = {
    'sends what is not a frame': (_gateway, { channel }) => channel.send(new Uint8Array(8).fill(0xff)),
    'breaks its connection': (gateway) => gateway[Symbol.asyncDispose](),
  };
  for (const [what, end] of Object.entries(endings))
    it(`serves other gateways while one ${what}, and releases the slots of that one`, async () => {
      await using good = await connected();
      await using bad = await connected();
      const [fine, spoilt] = await Promise.all([good.greeted(), bad.greeted()]);
      for (const id of [1, 2, 3]) await spoilt.send(requestOf(id, { credit: 1 }));
      await spoilt.untilTokens(1, 1);
      const request = requestOf(1, { maxTokens: 20 });
      await fine.send(request);
      await fine.until('pulse', ({ waiting }) => waiting > 0);
      await end(bad, spoilt);
      assert.deepEqual([reasonOf(await fine.endOf(request.id)), fine.tokensOf(request.id)], ['length', truth(20)]);
      await fine.until('pulse', ({ running, waiting }) => running === 0 && waiting === 0);
      const used = { promptTokens: PROMPT.length, cachedTokens: 0, outputTokens: 20 };
      const totals = await tested.worker.store.segments.totals({ by: 'gateway' });
      const ofBoth = totals.filter(({ key }) => [good.node.id, bad.node.id].includes(key));
      assert.deepEqual(ofBoth, [{ key: good.node.id, segments: 1, settled: 0, ...used }]);
    });
  it('serves a second gateway, though the first one requests everything', async () => {
    await using greedy = await connected();
    await using modest = await connected();
    const [many, few] = await Promise.all([greedy.greeted(), modest.greeted()]);
    const wanted = Array.from({ length: 50 }, () => requestOf(many.nextId(), { maxTokens: 60 }));
    for (const request of wanted) await many.send(request);
    await many.untilTokens(1, 1);
    assert.equal((await few.ask(requestOf(1, { maxTokens: 10 }))).kind, 'done');
    const outcomes = (await Promise.all(wanted.map(({ id }) => many.endOf(id)))).map(reasonOf);
    const served = outcomes.filter((outcome) => outcome === 'length').length;
    assert.ok(served >= 2 && served <= 6, `${served} of 50 were served: its slots and its line`);
    assert.equal(outcomes.filter((outcome) => outcome === 'busy').length, 50 - served);
  });
});
