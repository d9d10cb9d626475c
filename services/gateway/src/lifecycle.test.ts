// A gateway that is stopped: while it starts, and while answers are made and awaited.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Engine } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import { openGatewayStore, readGatewayConfig } from './index.ts';
import { startHarness } from './test/harness.ts';
import { until } from './test/network/answers.ts';
import { MESSAGES as messages } from './test/shared.ts';

describe('a gateway that is stopped', () => {
  it('ends at once while it waits for a model', async (context) => {
    // It takes the request and never answers.
    const hub = createServer(() => {}).listen(0, '127.0.0.1');
    context.after(() => {
      hub.closeAllConnections();
      hub.close();
    });
    await once(hub, 'listening');
    const stopping = new AbortController();
    hub.once('request', () => stopping.abort());
    const endpoint = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
    const settings = { STRATA_MODEL: 'hf:somebody/some-model', STRATA_HF_ENDPOINT: endpoint };
    await assert.rejects(startHarness(settings, { signal: stopping.signal }), stopping.signal.reason);
  });

  it('refuses what waits, then ends what takes too long, and keeps receipts of it', async () => {
    await using directory = await mkdtempDisposable(path.join(tmpdir(), 'strata-stopping-'));
    const engine = createSimulatedEngine({ slots: 2, tokensPerSecond: 50, answerTokens: 100_000 });
    const settings = { STRATA_MODEL: '', STRATA_DATA: directory.path };
    const service = await startHarness(settings, { engines: { m: engine as unknown as Engine }, shutdownMs: 300 });
    const order: string[] = [];
    const ask = async (stream: boolean) => {
      const answer = await service.post('/v1/chat/completions', { model: 'm', messages, stream });
      order.push(stream ? 'cut off' : 'refused');
      return answer;
    };
    const streams = [ask(true), ask(true)];
    await until(() => service.running.gateway.models.busy === 2);
    const waiting = [ask(false), ask(false)];
    await until(() => service.running.gateway.models.busy === 4);
    await service[Symbol.asyncDispose]();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 503);
    for (const { text } of await Promise.all(streams)) {
      assert.match(text, /"error":\{"message":"The service is stopping/);
      assert.doesNotMatch(text, /\[DONE\]/);
    }
    assert.deepEqual(order, ['refused', 'refused', 'cut off', 'cut off']);
    await using store = await openGatewayStore(readGatewayConfig({ STRATA_DATA: directory.path }));
    assert.deepEqual(await store.answers.unentered(10), [], 'they are in the ledger');
    assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
  });
});
