// Gateways that break the protocol: each gets an error, its channel is closed, and others are served as before.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PROMPT, requestOf, startTestWorker, type TestWorker, truth } from './test/running-worker.ts';
import { outcomeOf, type ScriptedChannel, startScriptedGateway } from './test/scripted-gateway.ts';

describe('a worker, asked by a hostile gateway', () => {
  let tested: TestWorker;
  before(async () => {
    tested = await startTestWorker({ slots: 2, queue: 4, tokensPerSecond: 200 });
  });
  after(() => tested?.[Symbol.asyncDispose]());

  /** A gateway of its own that dials the worker, which then opens a channel. */
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
    it(`refuses ${name}, and closes the channel`, async () => {
      await using gateway = await connected();
      const channel = name in asHello ? await gateway.nextChannel() : await gateway.greeted();
      await breach(channel);
      assert.equal((await channel.until('failed', ({ id }) => id === 0)).code, 'protocol');
      await channel.ended;
      assert.equal(gateway.opened, 1, 'it does not open another at once');
    });

  it('goes on serving others while one says nonsense, and frees what it had', async () => {
    await using good = await connected();
    await using bad = await connected();
    const fine = await good.greeted();
    const spoilt = await bad.greeted();
    for (const id of [1, 2, 3]) await spoilt.send(requestOf(id, { maxTokens: 100_000 }));
    await spoilt.untilTokens(1, 1);
    const request = requestOf(fine.nextId(), { maxTokens: 20 });
    await fine.send(request);
    await fine.until('pulse', ({ waiting }) => waiting > 0);
    await spoilt.channel.send(new Uint8Array(8).fill(0xff));
    assert.equal((await fine.endOf(request.id)).kind, 'done');
    assert.deepEqual(fine.tokensOf(request.id), truth(20));
    await fine.until('pulse', ({ running, waiting }) => running === 0 && waiting === 0);
    const used = { promptTokens: PROMPT.length, cachedTokens: 0, outputTokens: 20 };
    const totals = await tested.worker.store.segments.totals({ by: 'gateway' });
    assert.deepEqual(totals, [{ key: good.node.id, segments: 1, settled: 0, ...used }]);
  });

  it('serves a second gateway, though the first asks for everything', async () => {
    await using greedy = await connected();
    await using modest = await connected();
    const many = await greedy.greeted();
    const few = await modest.greeted();
    const wanted = Array.from({ length: 50 }, () => requestOf(many.nextId(), { maxTokens: 60 }));
    for (const request of wanted) await many.send(request);
    await many.untilTokens(1, 1);
    assert.equal((await few.ask(requestOf(1, { maxTokens: 10 }))).kind, 'done');
    const outcomes = (await Promise.all(wanted.map(({ id }) => many.endOf(id)))).map(outcomeOf);
    const served = outcomes.filter((outcome) => outcome === 'length').length;
    assert.ok(served >= 2 && served <= 6, `${served} of 50 were served: its slots and its line`);
    assert.equal(outcomes.filter((outcome) => outcome === 'busy').length, 50 - served);
  });
});
