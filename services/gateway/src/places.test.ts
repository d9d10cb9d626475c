// Places come back, whatever becomes of an answer; and keys are asked for however a path is written.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
before(async () => {
  service = await startHarness({ STRATA_MODEL_PROCESSES: '1' });
});
after(() => service?.[Symbol.asyncDispose]());

const messages = [{ role: 'user', content: 'What is DMARC?' }];
const endless = { model: MODEL, messages, logit_bias: { 1023: -100 } };

async function untilFree(): Promise<void> {
  for (let i = 0; i < 100 && service.running.gateway.models.busy > 0; i += 1) await sleep(20);
  assert.equal(service.running.gateway.models.busy, 0);
}

async function killEngine(): Promise<void> {
  const [model] = service.running.gateway.models.list();
  assert.ok(model);
  while (!model.backend.isReady) await sleep(20);
  const { process: engine } = (model.backend as unknown as { engine: { process: { pid: number } } }).engine;
  process.kill(engine.pid, 'SIGKILL');
}

describe('places', () => {
  it('come back when the engine dies under more choices than there are places, streamed or not', async () => {
    for (const stream of [true, false]) {
      const asked = service.post('/v1/chat/completions', { ...endless, n: 8, stream });
      await sleep(60);
      await killEngine();
      const { status, text } = await asked;
      if (stream) assert.match(text, /"code":"engine_failed"/);
      else assert.equal(status, 503);
      assert.doesNotMatch(text, /\[DONE\]/);
      await untilFree();
    }
    assert.equal((await service.post('/v1/chat/completions', { model: MODEL, messages, n: 8 })).status, 200);
  });

  it('come back when a client leaves while its choices wait', async () => {
    const leaving = new AbortController();
    const asked = fetch(`${service.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...endless, n: 8, stream: true }),
      signal: leaving.signal,
    });
    await (await asked).body?.getReader().read();
    leaving.abort();
    await untilFree();
  });

  it('are not taken by a schema that the engine cannot hold to: that is a 400, streamed or not', async () => {
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'f', schema: { type: 'string', minLength: 5, maxLength: 3 } },
    };
    for (const stream of [true, false]) {
      const { status, body } = await service.post('/v1/chat/completions', {
        model: MODEL,
        messages,
        n: 8,
        stream,
        response_format,
      });
      assert.deepEqual([status, (body as Json).error.code], [400, 'invalid_value']);
    }
    await untilFree();
  });

  it('are shared by as many choices as are asked for', async () => {
    const { body } = await service.post('/v1/chat/completions', {
      model: MODEL,
      messages,
      n: 8,
      max_tokens: 3,
      seed: 1,
    });
    assert.deepEqual(
      body.choices.map(({ index }: Json) => index),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
  });
});

describe('a key', () => {
  it('is asked for however the path is written', async () => {
    const body = JSON.stringify({ model: MODEL, messages, max_tokens: 1 });
    for (const target of ['/v1/chat/completions', '/%761/chat/completions', `${service.base}/v1/chat/completions`]) {
      const answer = await raw(
        `POST ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      assert.match(answer, /^HTTP\/1\.1 401 /, target);
    }
  });

  it('is not needed to hear that this is no HTTP', async () => {
    const answer = await raw('GARBAGE\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.type, 'invalid_request_error');
    const large = await raw(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
    assert.match(large, /^HTTP\/1\.1 431 /);
  });
});

function raw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.running.port, '127.0.0.1', () => socket.write(request));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}
