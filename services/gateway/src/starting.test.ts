// A start that is stopped while a model comes: it ends at once, and leaves nothing behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { createLogger } from '@strata/http';
import { readGatewayConfig } from './config.ts';
import { startGateway } from './serve.ts';

it('a start ends when it is stopped, also while a model is awaited', { timeout: 10_000 }, async (context) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-starting-'));
  // It takes the question, and never answers.
  const hub = createServer(() => {}).listen(0, '127.0.0.1');
  context.after(async () => {
    hub.closeAllConnections();
    hub.close();
    await rm(directory, { recursive: true, force: true });
  });
  await once(hub, 'listening');
  const stopping = new AbortController();
  hub.once('request', () => stopping.abort());
  const config = readGatewayConfig({
    STRATA_DATA: directory,
    STRATA_INFERENCE_PORT: '0',
    STRATA_MODEL: 'hf:somebody/some-model',
    STRATA_HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
  });
  const starting = startGateway(config, createLogger({ level: 'silent' }), { signal: stopping.signal });
  await assert.rejects(starting, (error) => error === stopping.signal.reason);
});
