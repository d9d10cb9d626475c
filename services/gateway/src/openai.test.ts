// The official client, unchanged: only its base address and key are set.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { type Harness, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
let client: OpenAI;
before(async () => {
  service = await startHarness();
  client = new OpenAI({ baseURL: `${service.base}/v1`, apiKey: service.key });
});
after(() => service?.[Symbol.asyncDispose]());

const messages = [{ role: 'user' as const, content: 'What is DMARC?' }];
const answer = /^DMARC tells receivers what to do with mail that fails SPF and DKIM alignment/;

describe('the official client', () => {
  it('gets an answer', async () => {
    const completion = await client.chat.completions.create({ model: MODEL, messages, temperature: 0 });
    const [choice] = completion.choices;
    assert.match(choice?.message.content ?? '', answer);
    assert.deepEqual([choice?.message.role, choice?.finish_reason, choice?.index], ['assistant', 'stop', 0]);
    assert.match(completion.id, /^chatcmpl-/);
    assert.deepEqual([completion.object, completion.model], ['chat.completion', MODEL]);
    assert.match(completion.system_fingerprint ?? '', /^fp_/);
    const { prompt_tokens, completion_tokens, total_tokens } = completion.usage ?? {};
    assert.ok(prompt_tokens && completion_tokens && total_tokens === prompt_tokens + completion_tokens);
  });

  it('streams one, the same, with its usage', async () => {
    const whole = await client.chat.completions.create({ model: MODEL, messages, temperature: 0 });
    const stream = await client.chat.completions.create({
      model: MODEL,
      messages,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
    assert.deepEqual(chunks[0]?.choices[0]?.delta.role, 'assistant');
    assert.equal(
      chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
      whole.choices[0]?.message.content,
    );
    const ends = chunks.filter(({ choices }) => choices[0]?.finish_reason);
    assert.deepEqual(
      ends.map(({ choices }) => choices[0]?.finish_reason),
      ['stop'],
    );
    assert.deepEqual(chunks.at(-1)?.choices, []);
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, whole.usage?.completion_tokens);
    assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null));
  });

  it('gathers a stream by its own helper', async () => {
    const stream = client.chat.completions.stream({ model: MODEL, messages, temperature: 0 });
    assert.match((await stream.finalContent()) ?? '', answer);
  });

  it('gets several choices, the same again by a seed', async () => {
    const ask = () =>
      client.chat.completions.create({ model: MODEL, messages, n: 3, seed: 11, temperature: 1.8, max_tokens: 12 });
    const [a, b] = [await ask(), await ask()];
    const texts = a.choices.map(({ message }) => message.content);
    assert.deepEqual(
      a.choices.map(({ index }) => index),
      [0, 1, 2],
    );
    assert.equal(new Set(texts).size, 3);
    assert.deepEqual(
      b.choices.map(({ message }) => message.content),
      texts,
    );
  });

  it('stops where it is told to', async () => {
    const stop = [' what to do'];
    const { choices } = await client.chat.completions.create({ model: MODEL, messages, temperature: 0, stop });
    assert.deepEqual([choices[0]?.message.content, choices[0]?.finish_reason], ['DMARC tells receivers', 'stop']);
    const short = await client.chat.completions.create({
      model: MODEL,
      messages,
      temperature: 0,
      max_completion_tokens: 3,
    });
    assert.deepEqual([short.choices[0]?.finish_reason, short.usage?.completion_tokens], ['length', 3]);
  });

  it('gets log-probabilities', async () => {
    const { choices } = await client.chat.completions.create({
      model: MODEL,
      messages,
      temperature: 0,
      logprobs: true,
      top_logprobs: 3,
    });
    const tokens = choices[0]?.logprobs?.content ?? [];
    assert.equal(tokens.map(({ token }) => token).join(''), choices[0]?.message.content);
    assert.ok(tokens.every(({ top_logprobs, logprob }) => top_logprobs.length === 3 && logprob <= 0));
    assert.equal(Buffer.from(tokens.flatMap(({ bytes }) => bytes ?? [])).toString(), choices[0]?.message.content);
  });

  it('gets JSON by a schema', async () => {
    const schema = {
      type: 'object',
      properties: {
        kind: { enum: ['mail', 'web'] },
        weight: { type: 'integer', minimum: 1, maximum: 9 },
        ok: { type: 'boolean' },
      },
      required: ['kind', 'weight', 'ok'],
      additionalProperties: false,
    };
    for (const seed of [1, 2, 3]) {
      const { choices } = await client.chat.completions.create({
        model: MODEL,
        messages,
        seed,
        response_format: { type: 'json_schema', json_schema: { name: 'thing', schema, strict: true } },
      });
      const value = JSON.parse(choices[0]?.message.content ?? '');
      assert.ok(
        ['mail', 'web'].includes(value.kind) && value.weight >= 1 && value.weight <= 9 && typeof value.ok === 'boolean',
      );
    }
  });

  it('gets a tool called, whole and in a stream', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'look_up',
          parameters: { type: 'object', properties: { type: { enum: ['MX', 'TXT'] } }, required: ['type'] },
        },
      },
    ];
    const ask = { model: MODEL, messages, tools, tool_choice: 'required' as const, temperature: 0 };
    const { choices } = await client.chat.completions.create(ask);
    const [call] = choices[0]?.message.tool_calls ?? [];
    assert.ok(call?.type === 'function' && call.function.name === 'look_up');
    assert.ok(['MX', 'TXT'].includes(JSON.parse(call.function.arguments).type));
    assert.deepEqual([choices[0]?.finish_reason, choices[0]?.message.content], ['tool_calls', null]);

    const final = await client.chat.completions.stream({ ...ask, stream: true }).finalChatCompletion();
    const [streamed] = final.choices[0]?.message.tool_calls ?? [];
    assert.ok(streamed?.type === 'function');
    assert.equal(streamed.function.arguments, call.function.arguments);
    assert.equal(final.choices[0]?.finish_reason, 'tool_calls');
    const answered = await client.chat.completions.create({
      ...ask,
      tool_choice: 'none',
      messages: [
        ...messages,
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: '10 mx.example.com' },
      ],
    });
    assert.equal(typeof answered.choices[0]?.message.content, 'string');
  });

  it('gets responses of the newer form: text, a stream, a call', async () => {
    const whole = await client.responses.create({ model: MODEL, input: 'What is DMARC?', temperature: 0 });
    assert.match(whole.output_text, answer);
    assert.deepEqual([whole.object, whole.status, whole.error], ['response', 'completed', null]);
    assert.ok((whole.usage?.output_tokens ?? 0) > 10);
    const stream = await client.responses.create({
      model: MODEL,
      input: [{ role: 'user', content: 'What is DMARC?' }],
      temperature: 0,
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, i) => i),
    );
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ['response.created', 'response.completed']);
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    assert.equal(deltas.map(({ delta }) => delta).join(''), whole.output_text);
    const last = events.at(-1);
    assert.ok(last?.type === 'response.completed');
    assert.deepEqual(
      last.response.output.map(({ type }) => type),
      ['message'],
    );

    const tools = [
      {
        type: 'function' as const,
        name: 'look_up',
        strict: true,
        parameters: { type: 'object', properties: { type: { enum: ['MX', 'TXT'] } }, required: ['type'] },
      },
    ];
    const ask = { model: MODEL, input: 'Look it up.', tools, tool_choice: 'required' as const, temperature: 0 };
    const called = await client.responses.create(ask);
    const [call] = called.output;
    assert.ok(call?.type === 'function_call' && call.name === 'look_up');
    const final = await client.responses.stream(ask).finalResponse();
    assert.ok(final.output[0]?.type === 'function_call');
    assert.equal(final.output[0].arguments, call.arguments);
    const answered = await client.responses.create({
      ...ask,
      tool_choice: 'none',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Look it up.' },
        call,
        { type: 'function_call_output', call_id: call.call_id, output: '10 mx.example.com' },
      ],
    });
    assert.equal(typeof answered.output_text, 'string');
    const short = await client.responses.create({ model: MODEL, input: 'What is DMARC?', max_output_tokens: 3 });
    assert.deepEqual([short.status, short.incomplete_details?.reason], ['incomplete', 'max_output_tokens']);
    const refused = (more: object) => client.responses.create({ model: MODEL, input: 'x', ...more } as never);
    await assert.rejects(
      refused({ previous_response_id: 'resp_1' }),
      (error) => error instanceof BadRequestError && error.param === 'previous_response_id',
    );
    await assert.rejects(
      refused({ max_output_tokens: 0 }),
      (error) => error instanceof BadRequestError && error.param === 'max_output_tokens',
    );
    await assert.rejects(
      refused({ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }),
      (error) => error instanceof BadRequestError && error.code === 'unsupported_value',
    );
  });

  it('completes plain text', async () => {
    const { choices, object, usage } = await client.completions.create({
      model: MODEL,
      prompt: 'DMARC tells receivers',
      max_tokens: 8,
      temperature: 0,
    });
    assert.equal(object, 'text_completion');
    assert.ok((choices[0]?.text ?? '').length > 3 && choices[0]?.finish_reason === 'length');
    assert.equal(usage?.completion_tokens, 8);
  });

  it('gets vectors, as numbers and as base64', async () => {
    const ask = (encoding_format: 'float' | 'base64') =>
      client.embeddings.create({ model: MODEL, input: ['What is DMARC?', 'Who are you?'], encoding_format });
    const floats = await ask('float');
    assert.deepEqual(
      floats.data.map(({ index, embedding }) => [index, embedding.length]),
      [
        [0, 192],
        [1, 192],
      ],
    );
    // Without a format the client asks for base64 and reads it itself.
    const read = await client.embeddings.create({ model: MODEL, input: 'What is DMARC?' });
    assert.ok(
      read.data[0]?.embedding.every((value, i) => Math.abs(value - (floats.data[0]?.embedding[i] ?? 9)) < 1e-6),
    );
    assert.equal(typeof (await ask('base64')).data[0]?.embedding, 'string');
  });

  it('lists models and knows one', async () => {
    const models = await Array.fromAsync(await client.models.list());
    assert.deepEqual(
      models.map(({ id, object }) => [id, object]),
      [[MODEL, 'model']],
    );
    assert.equal((await client.models.retrieve(MODEL)).id, MODEL);
  });

  it('gets errors of its own classes', async () => {
    const other = new OpenAI({ baseURL: `${service.base}/v1`, apiKey: 'sk-wrong', maxRetries: 0 });
    const create = (more: object, from = client) => from.chat.completions.create({ model: MODEL, messages, ...more });
    await assert.rejects(
      create({}, other),
      (error) => error instanceof AuthenticationError && error.code === 'invalid_api_key',
    );
    await assert.rejects(
      create({ model: 'gpt-9' }),
      (error) => error instanceof NotFoundError && error.code === 'model_not_found',
    );
    await assert.rejects(
      create({ temperature: 3 }),
      (error) =>
        error instanceof BadRequestError && error.param === 'temperature' && error.type === 'invalid_request_error',
    );
    await assert.rejects(
      create({ messages: [{ role: 'user', content: 'word '.repeat(600) }] }),
      (error) =>
        error instanceof BadRequestError &&
        error.code === 'context_length_exceeded' &&
        /256 tokens.*\d{3,} tokens/.test(error.message),
    );
  });

  it('leaves, and its slot is free at once', async () => {
    const long = { model: MODEL, messages, stream: true as const, logit_bias: { 1023: -100 }, temperature: 0 };
    for (let i = 0; i < 6; i += 1) {
      const stream = await client.chat.completions.create(long);
      let count = 0;
      for await (const _chunk of stream) if (++count === 3) break;
    }
    const controller = new AbortController();
    const aborted = client.chat.completions.create({ ...long, stream: false }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await assert.rejects(aborted, APIUserAbortError);
    const startedAt = performance.now();
    await client.chat.completions.create({ model: MODEL, messages, max_tokens: 1 });
    assert.ok(performance.now() - startedAt < 1_000);
  });
});
