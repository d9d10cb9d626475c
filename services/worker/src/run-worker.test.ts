// The lifecycle of a worker: two gateways, its own restart, an engine that crashes, and leaving.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { decodeOffer, settleSignedBytes } from '@strata/inference';
import { tinyChatModel } from '@strata/testnet';
import pino from 'pino';
import { temporaryDirectory, until } from '../../../tests/support/index.ts';
import { startWorker } from './run-worker.ts';
import { configOf, requestOf, simulatedModel, startTestWorker, truth } from './test/running-worker.ts';
import { reasonOf, startScriptedGateway } from './test/scripted-gateway.ts';

const offline = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWGp1yn9Z7SGR3LvakYs8etmjbQ5tz2xiSs4dTKHkLYhXA';

describe('a running worker', () => {
  it('serves two gateways concurrently, and reports what it joined', async () => {
    await using first = await startScriptedGateway();
    await using second = await startScriptedGateway();
    const join = [first.address, second.address, offline];
    await using tested = await startTestWorker({ join, tokensPerSecond: 500 });
    const channels = await Promise.all([first.greeted(), second.greeted()]);
    for (const channel of channels) await channel.send(requestOf(1, { maxTokens: 50 }));
    for (const channel of channels)
      assert.deepEqual([reasonOf(await channel.endOf(1)), channel.tokensOf(1)], ['length', truth(50)]);
    assert.deepEqual([...tested.worker.serving()].sort(), [first.node.id, second.node.id].sort());
    assert.deepEqual([first.opened(), second.opened()], [1, 1], 'one channel each');
    await until(() => tested.news.length === 6);
    const [started, ...later] = tested.news.map(({ kind }) => kind);
    assert.equal([started, ...later.sort()].join(), 'started,joined,joined,not-joined,serving,serving');
  });
  it('is the same worker after a restart: it rejects a repeated request, and stores a late agreement once', async () => {
    await using directory = await temporaryDirectory();
    await using gateway = await startScriptedGateway();
    const request = requestOf(1, { maxTokens: 5 });
    const start = async () => {
      const tested = await startTestWorker({ join: [gateway.address], directory: directory.path });
      const channel = await gateway.greeted();
      const { sequence } = decodeOffer((await channel.until('offer')).offer);
      return { tested, channel, sequence };
    };
    const first = await start();
    const end = await first.channel.ask(request);
    assert.ok(end.kind === 'done' && end.reason === 'length');
    await first.tested[Symbol.asyncDispose]();

    const second = await start();
    await using tested = second.tested;
    assert.equal(tested.worker.id, first.tested.worker.id);
    assert.ok(first.sequence < second.sequence, 'a later offer is not taken for a replay');
    const { channel } = second;
    const signature = await gateway.node.sign(settleSignedBytes(end.receipt));
    for (let i = 0; i < 100; i += 1) await channel.send({ kind: 'settle', nonce: request.nonce, signature });
    assert.equal((await channel.ask(requestOf(2, { maxTokens: 5 }))).kind, 'done', 'repetition is not a fault');
    const totals = await tested.worker.store.segments.totals({ by: 'worker' });
    assert.partialDeepStrictEqual(totals, [{ segments: 2, settled: 1 }]);
    assert.equal(reasonOf(await channel.ask(request)), 'protocol');
  });
  it('is the only one for its directory', async () => {
    await using first = await startTestWorker();
    const error = { name: 'StartError', message: /another worker already uses .+/ };
    await assert.rejects(startTestWorker({ directory: first.directory }), error);
  });
  it('can be stopped during its start, a download or a load, and while it joins', async () => {
    await using directory = await temporaryDirectory();
    // It never answers.
    await using hub = createServer().listen(0, '127.0.0.1');
    const asked = once(hub, 'request');
    await once(hub, 'listening');
    const { port } = hub.address() as { readonly port: number };
    const hf = { STRATA_MODEL: 'hf:someone/something', STRATA_MODEL_OPTIONS: `hf-endpoint=http://127.0.0.1:${port}` };
    const config = configOf({ STRATA_DATA: directory.path, ...hf });
    const parts = { logger: pino({ level: 'silent' }) };
    const downloading = new AbortController();
    const started = startWorker(config, { ...parts, signal: downloading.signal });
    await asked;
    downloading.abort(new Error('enough'));
    await assert.rejects(started, /enough/);
    const loading = { ...parts, signal: AbortSignal.timeout(50) };
    await assert.rejects(startWorker({ ...config, models: [tinyChatModel] }, loading), { name: 'TimeoutError' });
    // The directory is unlocked again. A worker that leaves while it joins does not report that as a failure.
    const again = await startTestWorker({ directory: directory.path, join: [offline] });
    await again.worker.leave();
    assert.equal(again.news.map(({ kind }) => kind).join(), 'started');
  });
  it('reports that its engine failed, so that the gateway can continue elsewhere', async () => {
    await using gateway = await startScriptedGateway();
    const model = simulatedModel({ tokensPerSecond: 100 });
    await using _tested = await startTestWorker({ join: [gateway.address], model });
    const channel = await gateway.greeted();
    await channel.send(requestOf(1, { maxTokens: 10_000 }));
    await channel.untilTokens(1, 3);
    await model.engine[Symbol.asyncDispose]();
    const end = await channel.endOf(1);
    assert.ok(end.kind === 'failed' && end.code === 'engine-failed' && !/simulated/.test(end.message), 'by our text');
  });
  it('finishes its answers before it leaves, and accepts no new ones', async () => {
    await using gateway = await startScriptedGateway();
    await using tested = await startTestWorker({ join: [gateway.address], tokensPerSecond: 100 });
    const channel = await gateway.greeted();
    await channel.send(requestOf(1, { maxTokens: 50 }));
    await channel.untilTokens(1, 1);
    const left = tested.worker.leave();
    await channel.until('offer', ({ offer }) => decodeOffer(offer).models.length === 0);
    assert.equal(reasonOf(await channel.ask(requestOf(2))), 'leaving');
    assert.deepEqual([reasonOf(await channel.endOf(1)), channel.tokensOf(1)], ['length', truth(50)]);
    await left;
    await channel.ended;
    assert.equal(gateway.opened(), 1, 'it does not come back');
  });
});
