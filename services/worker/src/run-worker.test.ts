// The life of a worker: two gateways, one that restarts, an engine that dies, and leaving.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { decodeOffer, settleSignedBytes } from '@strata/inference';
import { simulatedAnswer, tinyChatModel } from '@strata/testnet';
import pino from 'pino';
import { readWorkerConfig } from './config.ts';
import { startWorker } from './run-worker.ts';
import { PROMPT, requestOf, SEED, simulatedModel, startTestWorker } from './test/running-worker.ts';
import { startScriptedGateway } from './test/scripted-gateway.ts';

describe('a running worker', () => {
  it('serves two gateways at once', async () => {
    await using first = await startScriptedGateway();
    await using second = await startScriptedGateway();
    await using tested = await startTestWorker({ join: [first.address, second.address], tokensPerSecond: 500 });
    const channels = await Promise.all([first.greeted(), second.greeted()]);
    for (const channel of channels) await channel.send(requestOf(1, { maxTokens: 50 }));
    for (const channel of channels) {
      assert.equal((await channel.endOf(1)).kind, 'done');
      assert.deepEqual(channel.tokensOf(1), simulatedAnswer(PROMPT, { seed: SEED, count: 50 }));
    }
    assert.deepEqual([...tested.worker.serving()].sort(), [first.node.id, second.node.id].sort());
    assert.deepEqual([first.opened, second.opened], [1, 1], 'one channel each');
  });

  it('comes back to a gateway that restarts', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-restart-'));
    const keyFile = path.join(directory, 'peer.key');
    try {
      const before = await startScriptedGateway({ keyFile });
      const port = Number(/\/tcp\/(\d+)/.exec(before.address)?.[1]);
      await using _tested = await startTestWorker({ join: [before.address] });
      await before.greeted();
      await before[Symbol.asyncDispose]();
      await using again = await startScriptedGateway({ keyFile, port });
      const channel = await again.greeted();
      await channel.send(requestOf(1, { maxTokens: 5 }));
      assert.equal((await channel.endOf(1)).kind, 'done');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('is the same worker after a restart, and refuses what it has served before', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-again-'));
    try {
      await using gateway = await startScriptedGateway();
      const request = requestOf(1, { maxTokens: 5 });
      const ids: string[] = [];
      const sequences: number[] = [];
      const outcomes: string[] = [];
      for (let start = 0; start < 2; start += 1) {
        await using tested = await startTestWorker({ join: [gateway.address], directory });
        const channel = await gateway.greeted();
        ids.push(tested.worker.id);
        sequences.push(decodeOffer((await channel.until('offer')).offer).sequence);
        await channel.send(request);
        const end = await channel.endOf(1);
        outcomes.push(end.kind === 'failed' ? end.code : end.reason);
      }
      assert.equal(ids[0], ids[1]);
      assert.ok((sequences[0] ?? 0) < (sequences[1] ?? 0), 'a later offer is not taken for a replay');
      assert.deepEqual(outcomes, ['length', 'protocol']);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('keeps an agreement that comes after it was started again, and one that comes twice', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-settle-'));
    try {
      await using gateway = await startScriptedGateway();
      const request = requestOf(1, { maxTokens: 5 });
      let receipt = new Uint8Array();
      for (let start = 0; start < 2; start += 1) {
        await using tested = await startTestWorker({ join: [gateway.address], directory });
        const channel = await gateway.greeted();
        if (start === 0) {
          await channel.send(request);
          const end = await channel.endOf(1);
          assert.ok(end.kind === 'done');
          receipt = Uint8Array.from(end.receipt);
          continue;
        }
        const signature = await gateway.node.sign(settleSignedBytes(receipt));
        for (let i = 0; i < 100; i += 1) await channel.send({ kind: 'settle', nonce: request.nonce, signature });
        await channel.send(requestOf(2, { maxTokens: 5 }));
        assert.equal((await channel.endOf(2)).kind, 'done', 'what is said again is no fault');
        const [total] = await tested.worker.store.segments.totals({ by: 'worker' });
        assert.deepEqual([total?.segments, total?.settled], [2, 1]);
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('is one for its directory', async () => {
    await using first = await startTestWorker();
    await assert.rejects(startTestWorker({ directory: first.directory }), {
      name: 'WorkerStartError',
      message: /another worker runs with .+ already/,
    });
  });

  it('can be ended while it starts, in the midst of a download or a load', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-start-'));
    // A hub that never answers.
    const asked = Promise.withResolvers<void>();
    const hub = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => hub.once('listening', resolve));
      const { port } = hub.address() as { readonly port: number };
      const config = readWorkerConfig({
        ...{ STRATA_DATA: directory, STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' },
        ...{ STRATA_MODEL: 'hf:someone/something', STRATA_HF_ENDPOINT: `http://127.0.0.1:${port}` },
      });
      const parts = { logger: pino({ level: 'silent' }) };
      const downloading = new AbortController();
      const started = startWorker(config, { ...parts, signal: downloading.signal });
      await asked.promise;
      downloading.abort(new Error('enough'));
      await assert.rejects(started, /enough/);

      const loading = { ...config, model: tinyChatModel };
      const signal = AbortSignal.timeout(50);
      await assert.rejects(startWorker(loading, { ...parts, signal }), { name: 'TimeoutError' });
      // Nothing is left of it: the directory is free.
      await using _again = await startTestWorker({ directory });
    } finally {
      hub.closeAllConnections();
      hub.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('says when its engine fails, so that the gateway can go on elsewhere', async () => {
    await using gateway = await startScriptedGateway();
    const model = simulatedModel({ tokensPerSecond: 100 });
    await using _tested = await startTestWorker({ join: [gateway.address], model });
    const channel = await gateway.greeted();
    await channel.send(requestOf(1, { maxTokens: 10_000 }));
    await channel.untilTokens(1, 3);
    await model.engine[Symbol.asyncDispose]();
    const end = await channel.endOf(1);
    assert.deepEqual([end.kind, end.kind === 'failed' && end.code], ['failed', 'engine-failed']);
    assert.doesNotMatch(end.kind === 'failed' ? end.message : '', /simulated/, 'in words of its own');
  });

  it('finishes its answers before it leaves, and takes no new ones', async () => {
    await using gateway = await startScriptedGateway();
    await using tested = await startTestWorker({ join: [gateway.address], tokensPerSecond: 100 });
    const channel = await gateway.greeted();
    await channel.send(requestOf(1, { maxTokens: 50 }));
    await channel.untilTokens(1, 1);
    const left = tested.worker.leave();
    await channel.until('offer', ({ offer }) => decodeOffer(offer).models.length === 0);
    await channel.send(requestOf(2));
    const refused = await channel.endOf(2);
    assert.equal(refused.kind === 'failed' && refused.code, 'leaving');
    assert.equal((await channel.endOf(1)).kind, 'done');
    assert.deepEqual(channel.tokensOf(1), simulatedAnswer(PROMPT, { seed: SEED, count: 50 }));
    await left;
    await channel.ended;
    assert.equal(gateway.opened, 1, 'it does not come back');
  });

  it('tells who runs it what it joined, and whom it serves', async () => {
    await using gateway = await startScriptedGateway();
    const nobody = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWGp1yn9Z7SGR3LvakYs8etmjbQ5tz2xiSs4dTKHkLYhXA';
    await using tested = await startTestWorker({ join: [gateway.address, nobody] });
    await gateway.greeted();
    for (let tries = 0; tries < 500 && tested.news.length < 4; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const kinds = tested.news.map(({ kind }) => kind);
    assert.deepEqual(kinds.toSorted(), ['joined', 'not-joined', 'serving', 'started']);
    assert.equal(kinds[0], 'started');
  });
});
