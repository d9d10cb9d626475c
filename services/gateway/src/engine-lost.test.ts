// The engine's process is killed: the gateway tells it, starts another, and never goes down with it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
before(async () => {
  service = await startHarness({ STRATA_MODEL_PROCESSES: '1' });
});
after(() => service?.[Symbol.asyncDispose]());

const body = { model: MODEL, messages: [{ role: 'user' as const, content: 'What is DMARC?' }], temperature: 0 };
/** Never ends by itself: the model's last word is forbidden. */
const endless = { ...body, logit_bias: { 1023: -100 } };

function kill(): void {
  const [model] = service.running.gateway.models.list();
  assert.ok(model);
  const { pid } = ((model.backend as unknown as { engine: unknown }).engine as unknown as { process: { pid: number } })
    .process;
  process.kill(pid, 'SIGKILL');
}

describe('an engine that is killed', () => {
  it('ends a stream with an error and without [DONE]', async () => {
    const response = await fetch(`${service.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...endless, stream: true }),
    });
    assert.equal(response.status, 200);
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      if (text === '') kill();
      text += decoder.decode(chunk, { stream: true });
    }
    const blocks = text.trimEnd().split('\n\n');
    const last = JSON.parse((blocks.at(-1) ?? '').replace(/^data: /, '')) as Json;
    assert.deepEqual([last.error.type, last.error.code], ['server_error', 'engine_failed']);
    assert.ok(!text.includes('[DONE]'));
  });

  it('is started again, and official clients get their answer by trying again', async () => {
    const client = new OpenAI({ baseURL: `${service.base}/v1`, apiKey: service.key, maxRetries: 3 });
    await client.chat.completions.create(body);
    const asked = client.chat.completions.create(body);
    kill();
    const { choices } = await asked;
    assert.match(choices[0]?.message.content ?? '', /^DMARC tells/);
  });

  it('is a 503 with words and when to try again', async () => {
    const asked = service.post('/v1/chat/completions', endless);
    await new Promise((resolve) => setTimeout(resolve, 50));
    kill();
    const { status, body: told, headers } = await asked;
    assert.deepEqual([status, told.error.code], [503, 'engine_failed']);
    assert.deepEqual(
      ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) => headers.get(name)),
      ['1', '1000', 'true'],
    );
    assert.equal((await service.get('/v1/models')).status, 200, 'the gateway itself goes on');
    assert.equal(service.running.gateway.models.busy, 0);
  });
});
