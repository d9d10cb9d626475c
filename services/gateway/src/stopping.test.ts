// A service that stops: who waits is refused at once, who is served is finished, or told that it ends.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '@strata/http';
import { type RandomModelOptions, randomModel } from '@strata/testnet';
import type { EngineBackend } from './engine-backend.ts';
import { openGatewayStore, readGatewayConfig, startGateway } from './index.ts';

const SHAPE: RandomModelOptions = {
  ...{ seed: 1, name: 'noise', layers: 2, width: 64, heads: 4, hidden: 128, context: 8_192, weights: 'F16' },
};
const messages = [{ role: 'user', content: 'What is DMARC?' }];

describe('a gateway that stops', () => {
  it('finishes what is short, refuses who waits, and tells who would take too long', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-stopping-'));
    try {
      // With room for answers that take far longer than the service waits.
      const file = path.join(directory, 'noise.gguf');
      await writeFile(file, randomModel(SHAPE));
      const config = readGatewayConfig({
        STRATA_DATA: directory,
        STRATA_INFERENCE_PORT: '0',
        STRATA_MODEL: file,
        STRATA_MODEL_SLOTS: '2',
      });
      const running = await startGateway(config, createLogger({ level: 'silent' }), { shutdownMs: 100 });
      const { key } = await running.gateway.keys.create({ tier: 'unlimited' });
      const ask = (more: object) =>
        fetch(`http://127.0.0.1:${running.port}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'noise', messages, ...more }),
        });
      const [model] = running.gateway.models.list();
      assert.ok(model);
      const { engine } = model.backend as EngineBackend;
      const long = { stream: true, logit_bias: { [engine.info.vocabularySize - 1]: -100 } };
      // A place for each.
      const streams = await Promise.all([ask(long), ask(long)]);
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
      await using store = await openGatewayStore(config);
      assert.deepEqual(await store.answers.unentered(10), [], 'receipts of what was cut off are in the ledger');
      assert.equal((await store.answers.usage({ since: '2000-01-01' }))[0]?.requests, 2);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
