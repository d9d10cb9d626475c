// A gateway with an upstream server: another gateway with its own keys.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ends, events, says, startScripted, streams } from '../../../../tests/support/scripted-upstream.ts';
import { type Harness, MODEL, startHarness } from '../test/harness.ts';
import { assertRefusal, chunksOf, MESSAGES as messages, sharedGateway } from '../test/shared.ts';

const CHAT = '/v1/chat/completions';
const asked = { model: MODEL, messages, temperature: 0 };
const tooLong = { ...asked, messages: [{ role: 'user', content: 'word '.repeat(500) }] };

describe('an upstream server', () => {
  let upstream: Harness;
  let service: Harness;
  let keyId: string;
  before(async () => {
    upstream = await sharedGateway();
    const { key, stored } = await upstream.running.gateway.keys.create({ tier: 'unlimited' });
    keyId = stored.id;
    service = await startHarness({
      ...{ STRATA_MODEL: '', STRATA_UPSTREAM: `${upstream.base}/v1`, STRATA_UPSTREAM_KEY: key },
      ...{ STRATA_UPSTREAM_MODELS: MODEL, STRATA_UPSTREAM_OPTIONS: 'slots=2' },
    });
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('answers through the gateway as it does directly, including streams', async () => {
    const direct = (await upstream.post(CHAT, asked)).body;
    const expected = direct.choices[0].message.content;
    const { choices, usage } = (await service.post(CHAT, { ...asked, n: 2 })).body;
    const { prompt_tokens, completion_tokens } = direct.usage;
    assert.deepEqual([choices[0].message.content, choices[1].message.content], [expected, expected]);
    assert.partialDeepStrictEqual(usage, { prompt_tokens, completion_tokens: 2 * completion_tokens });
    const streamed = { ...asked, stream: true, stream_options: { include_usage: true } };
    const chunks = chunksOf(await service.post(CHAT, streamed));
    assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), expected);
    assert.equal(chunks.at(-1).usage.completion_tokens, completion_tokens);
  });

  it('is described by its model and by receipts, as far as it describes itself', async () => {
    const { body } = await service.get(`/v1/models/${MODEL}`);
    assert.deepEqual([body.id, body.sha256, body.slots], [MODEL, null, 2]);
    const { headers } = await service.post(CHAT, asked);
    const { model, usage } = (await service.get(`/v1/receipts/${headers.get('x-receipt-id')}`)).body;
    assert.ok(model.sha256 === null && usage.completion_tokens > 0);
  });

  it('does not receive unsupported requests, and its own errors reach the client', async () => {
    for (const [target, body, code, param] of [
      ['/v1/completions', { model: MODEL, prompt: [1, 2] }, 'unsupported_value', 'prompt'],
      ['/v1/completions', { model: MODEL, prompt: 'a', echo: true }, 'unsupported_value', 'echo'],
      [CHAT, tooLong, 'context_length_exceeded', 'messages'],
    ] as const)
      assertRefusal(await service.post(target, body), [400, code, param]);
  });

  it('that rejects the gateway’s key is reported in general terms', async (context) => {
    await upstream.running.gateway.keys.revoke(keyId);
    // Keys are cached for two seconds.
    const now = performance.now.bind(performance);
    context.mock.method(performance, 'now', () => now() + 3_000);
    const { status, body } = await service.post(CHAT, asked);
    assert.deepEqual([status, body.error.code], [503, 'engine_failed']);
    assert.doesNotMatch(body.error.message, /sk-|key/i);
  });
});

it('a stream that arrives at once is sent after its receipt is stored', async (context) => {
  await using server = await startScripted();
  server.script(streams(events(says('Hi'), ends('stop'), '[DONE]')));
  const settings = { STRATA_MODEL: '', STRATA_UPSTREAM: server.base, STRATA_UPSTREAM_MODELS: 'm' };
  await using gateway = await startHarness(settings);
  const ask = () => gateway.post(CHAT, { model: 'm', messages, stream: true });
  const texts = chunksOf(await ask()).map(({ choices }) => choices[0].delta.content);
  assert.deepEqual(texts, ['', 'Hi', undefined]);
  context.mock.method(gateway.running.gateway.recorder, 'keep', () => Promise.reject(new Error('disk')));
  assert.equal((await ask()).status, 500);
});
