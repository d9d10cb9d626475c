// A service that stops: who waits is refused at once, who is served is finished, or told that it ends.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { tinyChatModel } from '@strata/testnet';
import { openGatewayKeys, readGatewayConfig, startGateway } from './index.ts';
import { MODEL } from './test/harness.ts';

const messages = [{ role: 'user', content: 'What is DMARC?' }];

describe('a gateway that stops', () => {
  it('finishes what is short, refuses who waits, and tells who would take too long', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-stopping-'));
    try {
      const config = readGatewayConfig({
        STRATA_DATA: directory,
        STRATA_INFERENCE_PORT: '0',
        STRATA_MODEL: tinyChatModel,
        STRATA_MODEL_SLOTS: '2',
      });
      const running = await startGateway(config, createLogger({ level: 'silent' }), { shutdownMs: 100 });
      const { key } = await running.gateway.keys.create({ tier: 'unlimited' });
      const ask = (more: object) =>
        fetch(`http://127.0.0.1:${running.port}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: MODEL, messages, ...more }),
        });
      const long = { stream: true, n: 8, logit_bias: { 1023: -100 } };
      const streams = await Promise.all([ask(long), ask({ ...long, n: 1 })]);
      const waiting = [ask({}), ask({})];
      while (running.gateway.models.busy < 4) await new Promise((resolve) => setTimeout(resolve, 5));
      const stopped = running[Symbol.asyncDispose]();
      const startedAt = performance.now();
      for (const refused of await Promise.all(waiting)) assert.equal(refused.status, 503);
      assert.ok(performance.now() - startedAt < 90, 'refused before the others are told');
      for (const text of await Promise.all(streams.map((stream) => stream.text()))) {
        assert.match(text, /"error":\{"message":"The service is stopping/);
        assert.doesNotMatch(text, /\[DONE\]/);
      }
      await stopped;
      await using store = await openGatewayKeys(config);
      assert.deepEqual(await store.answers.unentered(10), [], 'receipts of what was cut off are in the ledger');
      assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
