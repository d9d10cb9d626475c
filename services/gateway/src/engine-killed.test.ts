// The process of the engine is killed: clients get an error, slots are released, another process starts, and the gateway goes on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type Harness, MODEL, startHarness } from './test/harness.ts';
import { until } from './test/network/answers.ts';
import { ENDLESS, MESSAGES as messages, untilIdle } from './test/shared.ts';

const CHAT = '/v1/chat/completions';
const asked = { model: MODEL, messages, temperature: 0 };

describe('an engine that is killed', () => {
  let service: Harness;
  before(async () => {
    service = await startHarness({ STRATA_MODEL_PROCESSES: '1' });
  });
  after(() => service?.[Symbol.asyncDispose]());

  const backend = () => service.running.gateway.models.list()[0]?.backend ?? assert.fail();
  const isStarted = () => until(() => backend().isReady);
  const isBusy = () => until(() => service.running.gateway.models.busy > 0);
  function kill(): void {
    const { engine } = backend() as unknown as { readonly engine: { readonly process: { readonly pid: number } } };
    process.kill(engine.process.pid, 'SIGKILL');
  }

  it('ends a stream with an error and without [DONE], and releases the slots of more choices than there are', async () => {
    const response = await service.open(CHAT, { ...ENDLESS, n: 8, stream: true });
    assert.equal(response.status, 200);
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (text === '') kill();
      text += chunk;
    }
    const last = JSON.parse((text.trimEnd().split('\n\n').at(-1) ?? '').replace(/^data: /, ''));
    assert.deepEqual([last.error.type, last.error.code], ['server_error', 'engine_failed']);
    assert.doesNotMatch(text, /\[DONE\]/);
    await untilIdle(service);
  });

  it('is a 503 that says when to try again', async () => {
    await isStarted();
    const answer = service.post(CHAT, { ...ENDLESS, n: 8 });
    await isBusy();
    kill();
    const { status, body, headers } = await answer;
    const retry = ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) => headers.get(name));
    assert.deepEqual([status, body.error.code, ...retry], [503, 'engine_failed', '1', '1000', 'true']);
    assert.equal((await service.get('/v1/models')).status, 200, 'the gateway itself goes on');
    await untilIdle(service);
  });

  it('is started again, and official clients get their answer by trying again', async () => {
    await isStarted();
    const client = new OpenAI({ baseURL: `${service.base}/v1`, apiKey: service.key, maxRetries: 3 });
    const answer = client.chat.completions.create(asked);
    await isBusy();
    kill();
    const { choices } = await answer;
    assert.match(choices[0]?.message.content ?? '', /^DMARC tells/);
    assert.equal((await service.post(CHAT, { ...asked, n: 8 })).status, 200);
  });
});
