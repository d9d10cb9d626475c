// A gateway in front of another server that speaks the contract: here another gateway, with keys of its own.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

let behind: Harness;
let service: Harness;
let client: OpenAI;
before(async () => {
  behind = await startHarness();
  service = await startHarness({
    STRATA_MODEL: '',
    STRATA_UPSTREAM: `${behind.base}/v1`,
    STRATA_UPSTREAM_KEY: behind.key,
    STRATA_UPSTREAM_MODELS: MODEL,
    STRATA_UPSTREAM_PLACES: '2',
  });
  client = new OpenAI({ baseURL: `${service.base}/v1`, apiKey: service.key });
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await behind?.[Symbol.asyncDispose]();
});

const messages = [{ role: 'user' as const, content: 'What is DMARC?' }];
const ask = { model: MODEL, messages, temperature: 0 };

describe('an upstream server', () => {
  it('answers through the gateway what it answers itself, whole and streamed', async () => {
    const direct = await behind.post('/v1/chat/completions', ask);
    const whole = await client.chat.completions.create({ ...ask, n: 2 });
    const expected = direct.body.choices[0].message.content;
    assert.deepEqual(
      whole.choices.map(({ message }) => message.content),
      [expected, expected],
    );
    assert.equal(whole.usage?.prompt_tokens, direct.body.usage.prompt_tokens);
    assert.equal(whole.usage?.completion_tokens, 2 * direct.body.usage.completion_tokens);
    const stream = await client.chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), expected);
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, direct.body.usage.completion_tokens);
  });

  it('calls tools, completes prompts, gives vectors', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'look_up',
          parameters: { type: 'object', properties: { domain: { type: 'string' } }, required: ['domain'] },
        },
      },
    ];
    const called = await client.chat.completions.create({ ...ask, tools, tool_choice: 'required', max_tokens: 60 });
    const [call] = called.choices[0]?.message.tool_calls ?? [];
    assert.ok(call?.type === 'function' && call.function.name === 'look_up');
    assert.equal(typeof JSON.parse(call.function.arguments).domain, 'string');
    const text = await client.completions.create({
      model: MODEL,
      prompt: ['DMARC', 'SPF'],
      max_tokens: 3,
      temperature: 0,
    });
    assert.deepEqual(
      text.choices.map(({ index }) => index),
      [0, 1],
    );
    const vectors = await client.embeddings.create({ model: MODEL, input: 'DMARC' });
    assert.equal(
      vectors.data[0]?.embedding.length,
      (await behind.post('/v1/embeddings', { model: MODEL, input: 'DMARC' })).body.data[0].embedding.length,
    );
  });

  it('is told of in the list of models and in receipts, as far as it tells of itself', async () => {
    const { body } = await service.get(`/v1/models/${MODEL}`);
    assert.deepEqual([body.id, body.sha256, body.slots], [MODEL, null, 2]);
    const { headers } = await service.post('/v1/chat/completions', ask);
    const receipt = await service.get(`/v1/receipts/${headers.get('x-receipt-id')}`);
    assert.equal(receipt.body.model.sha256, null);
    assert.ok(receipt.body.usage.completion_tokens > 0);
  });

  it('is refused by name where it cannot do something, and its refusals come through', async () => {
    const table: [target: string, body: object, status: number, param: string | null][] = [
      ['/v1/completions', { model: MODEL, prompt: [1, 2] }, 400, 'prompt'],
      ['/v1/completions', { model: MODEL, prompt: 'a', echo: true }, 400, 'echo'],
      ['/v1/chat/completions', { ...ask, messages: [{ role: 'user', content: 'word '.repeat(500) }] }, 400, null],
    ];
    for (const [target, body, status, param] of table) {
      const refused = await service.post(target, body);
      assert.equal(refused.status, status, refused.text);
      if (param !== null) assert.equal((refused.body as Json).error.param, param);
    }
    const { body } = await service.post('/v1/chat/completions', {
      ...ask,
      messages: [{ role: 'user', content: 'word '.repeat(500) }],
    });
    assert.equal(body.error.code, 'context_length_exceeded');
  });

  it('stops when the client leaves', async () => {
    const leaving = new AbortController();
    const response = await fetch(`${service.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask, stream: true, logit_bias: { 1023: -100 } }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    for (
      let i = 0;
      i < 100 && (behind.running.gateway.models.busy > 0 || service.running.gateway.models.busy > 0);
      i += 1
    )
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual([behind.running.gateway.models.busy, service.running.gateway.models.busy], [0, 0]);
  });

  it('that does not take our key is our fault, and not told in its words', async () => {
    const { stored } = await behind.running.gateway.keys.create({ tier: 'unlimited' });
    assert.ok(stored);
    const [own] = await behind.running.gateway.keys.list();
    await behind.running.gateway.keys.revoke(own?.id ?? '');
    // Keys are remembered for a moment.
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const { status, body } = await service.post('/v1/chat/completions', ask);
    assert.deepEqual([status, body.error.code], [503, 'engine_failed']);
    assert.doesNotMatch(body.error.message, /sk-|key/i);
  });
});
