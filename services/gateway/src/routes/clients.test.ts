// Official and other clients, unmodified: OpenAI’s and the Vercel AI SDK.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import OpenAI, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { MODEL } from '../test/harness.ts';
import { until } from '../test/network/answers.ts';
import { ENDLESS, MESSAGES as messages, sharedGateway, untilIdle } from '../test/shared.ts';

const question = 'What is DMARC?';
const answer = /^DMARC tells receivers what to do with mail that fails SPF and DKIM alignment/;
const city = { enum: ['Bern', 'Oslo'] };
const weather = { type: 'object' as const, properties: { city }, required: ['city'], additionalProperties: false };
const greedy = { model: MODEL, messages, temperature: 0 };
type ChatOptions = Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming>;

describe('a client', () => {
  let client: OpenAI;
  before(async () => {
    const { base, key: apiKey } = await sharedGateway();
    client = new OpenAI({ baseURL: `${base}/v1`, apiKey });
  });
  const chat = (more: ChatOptions = {}) => client.chat.completions.create({ ...greedy, ...more });
  const choiceOf = async (more: ChatOptions) => (await chat(more)).choices[0] ?? assert.fail();

  it('gets an answer, and the same one as a stream with its usage', async () => {
    const { id, object, model, system_fingerprint, choices, usage } = await chat();
    const [{ message, ...choice }] = choices as [(typeof choices)[number]];
    assert.match(message.content ?? '', answer);
    assert.match(`${id} ${system_fingerprint}`, /^chatcmpl-\S+ fp_/);
    const facts = [object, model, message.role, choice.finish_reason, choice.index];
    assert.deepEqual(facts, ['chat.completion', MODEL, 'assistant', 'stop', 0]);
    const { prompt_tokens, completion_tokens, total_tokens } = usage ?? assert.fail();
    assert.ok(prompt_tokens && completion_tokens && total_tokens === prompt_tokens + completion_tokens);

    const options = { ...greedy, stream: true, stream_options: { include_usage: true } } as const;
    const chunks = await Array.fromAsync(await client.chat.completions.create(options));
    const last = chunks.pop();
    assert.deepEqual([last?.choices, last?.usage?.completion_tokens], [[], completion_tokens]);
    assert.ok(chunks.every((chunk) => chunk.usage === null && chunk.id === chunks[0]?.id));
    const parts = chunks.flatMap((chunk) => chunk.choices);
    assert.equal(parts[0]?.delta.role, 'assistant');
    assert.equal(parts.map(({ delta }) => delta.content ?? '').join(''), message.content);
    assert.deepEqual(parts.map(({ finish_reason }) => finish_reason).filter(Boolean), ['stop']);
    assert.match((await client.chat.completions.stream(greedy).finalContent()) ?? '', answer);
  });

  it('gets several choices, reproducible with the same seed', async () => {
    const ask = async () => (await chat({ n: 3, seed: 11, temperature: 1.8, max_tokens: 12 })).choices;
    const [first, second] = [await ask(), await ask()];
    assert.equal(first.map(({ index }) => index).join(), '0,1,2');
    assert.equal(new Set(first.map(({ message }) => message.content)).size, 3);
    assert.deepEqual(second, first);
  });

  it('gets an answer that ends at a stop string or at its limit', async () => {
    const stopped = await choiceOf({ stop: [' what to do'] });
    assert.deepEqual([stopped.message.content, stopped.finish_reason], ['DMARC tells receivers', 'stop']);
    const short = await chat({ max_completion_tokens: 3 });
    assert.deepEqual([short.choices[0]?.finish_reason, short.usage?.completion_tokens], ['length', 3]);
  });

  it('gets log-probabilities', async () => {
    const { message, logprobs } = await choiceOf({ logprobs: true, top_logprobs: 3 });
    const tokens = logprobs?.content ?? [];
    assert.equal(tokens.map(({ token }) => token).join(''), message.content);
    assert.ok(tokens.every(({ top_logprobs, logprob }) => top_logprobs.length === 3 && logprob <= 0));
    assert.equal(Buffer.from(tokens.flatMap(({ bytes }) => bytes ?? [])).toString(), message.content);
  });

  it('gets JSON by a schema', async () => {
    const weight = { type: 'integer', minimum: 1, maximum: 9 };
    const properties = { kind: { enum: ['mail', 'web'] }, weight, ok: { type: 'boolean' } };
    const schema = { type: 'object', properties, required: ['kind', 'weight', 'ok'], additionalProperties: false };
    const response_format = { type: 'json_schema', json_schema: { name: 'thing', schema, strict: true } } as const;
    const valid = /^\{\s*"kind":\s*"(mail|web)",\s*"weight":\s*[1-9],\s*"ok":\s*(true|false)\s*\}$/;
    for (const seed of [1, 2, 3])
      assert.match((await choiceOf({ seed, temperature: 1, response_format })).message.content ?? '', valid);
  });

  it('gets a tool call, also in a stream, and an answer to its result', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'find_domain', parameters: weather } }];
    const asked = { ...greedy, tools, tool_choice: 'required' as const };
    const { message, finish_reason } = await choiceOf(asked);
    assert.deepEqual([finish_reason, message.content], ['tool_calls', null]);
    const [call] = message.tool_calls ?? [];
    assert.ok(call?.type === 'function' && call.function.name === 'find_domain');
    assert.match(call.function.arguments, /^\{\s*"city":\s*"(Bern|Oslo)"\s*\}$/);
    const [streamed] = (await client.chat.completions.stream(asked).finalChatCompletion()).choices;
    const [streamedCall] = streamed?.message.tool_calls ?? [];
    assert.ok(streamedCall?.type === 'function' && streamedCall.function.arguments === call.function.arguments);
    assert.equal(streamed?.finish_reason, 'tool_calls');
    const result = { role: 'tool' as const, tool_call_id: call.id, content: '10 mx.example.com' };
    const exchange = [...messages, { role: 'assistant' as const, tool_calls: [call] }, result];
    const answered = await choiceOf({ tools, tool_choice: 'none', messages: exchange });
    assert.equal(typeof answered.message.content, 'string');
  });

  it('gets a response of the Responses API, the same one as a stream, and an incomplete one', async () => {
    const asked = { model: MODEL, input: question, temperature: 0 };
    const full = await client.responses.create(asked);
    assert.match(full.output_text, answer);
    assert.partialDeepStrictEqual(full, { object: 'response', status: 'completed', error: null });
    assert.ok((full.usage?.output_tokens ?? 0) > 10);
    const events = await Array.fromAsync(await client.responses.create({ ...asked, input: messages, stream: true }));
    assert.ok(events.every(({ sequence_number }, i) => sequence_number === i));
    const [first, last] = [events[0], events.at(-1)];
    assert.ok(first?.type === 'response.created' && last?.type === 'response.completed');
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    assert.equal(deltas.map(({ delta }) => delta).join(''), full.output_text);
    assert.equal(last.response.output.map(({ type }) => type).join(), 'message');
    const short = await client.responses.create({ ...asked, max_output_tokens: 3 });
    assert.deepEqual([short.status, short.incomplete_details?.reason], ['incomplete', 'max_output_tokens']);
  });

  it('gets a tool call in a response, also in a stream, and an answer to its result', async () => {
    const tools = [{ type: 'function' as const, name: 'find_domain', strict: true, parameters: weather }];
    const asked = { model: MODEL, input: 'Search for it.', tools, tool_choice: 'required' as const, temperature: 0 };
    const [call] = (await client.responses.create(asked)).output;
    assert.ok(call?.type === 'function_call' && call.name === 'find_domain');
    const [streamed] = (await client.responses.stream(asked).finalResponse()).output;
    assert.ok(streamed?.type === 'function_call' && streamed.arguments === call.arguments);
    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: '10 mx.example.com' };
    const next = { ...asked, tool_choice: 'none' as const, instructions: 'Be brief.' };
    const references = [call, streamed].map(({ id = '' }) => ({ type: 'item_reference' as const, id }));
    for (const each of [call, ...references]) {
      const input = [{ role: 'user' as const, content: 'Search for it.' }, each, result];
      assert.equal(typeof (await client.responses.create({ ...next, input })).output_text, 'string');
    }
  });

  it('gets embeddings, as numbers and as base64', async () => {
    const ask = async (more: object) =>
      (await client.embeddings.create({ model: MODEL, input: ['What is DMARC?', 'Who are you?'], ...more })).data;
    const floats = await ask({ encoding_format: 'float' });
    assert.equal(floats.map(({ index, embedding }) => `${index}: ${embedding.length}`).join(), '0: 192,1: 192');
    // Without a format the client requests base64 and decodes it itself.
    const [decoded] = await ask({});
    assert.ok(decoded?.embedding.every((value, i) => Math.abs(value - (floats[0]?.embedding[i] ?? 9)) < 1e-6));
    assert.equal(typeof (await ask({ encoding_format: 'base64' }))[0]?.embedding, 'string');
  });

  it('lists models, and gets one', async () => {
    const [model, ...more] = await Array.fromAsync(await client.models.list());
    assert.deepEqual([model?.id, model?.object, more], [MODEL, 'model', []]);
    assert.equal((await client.models.retrieve(MODEL)).id, MODEL);
  });

  it('gets errors of its own classes', async () => {
    const unknown = client.withOptions({ apiKey: 'sk-wrong', maxRetries: 0 });
    const long = [{ role: 'user' as const, content: 'word '.repeat(600) }];
    const table: readonly (readonly [Promise<unknown>, new (...of: never[]) => Error, object])[] = [
      [unknown.chat.completions.create(greedy), AuthenticationError, { code: 'invalid_api_key' }],
      [chat({ model: 'gpt-9' }), NotFoundError, { code: 'model_not_found' }],
      [chat({ temperature: 3 }), BadRequestError, { param: 'temperature', type: 'invalid_request_error' }],
      [chat({ messages: long }), BadRequestError, { message: /256 tokens.*\d{3,} tokens/ }],
    ];
    for (const [asked, type, facts] of table)
      for (const expected of [type, facts]) await assert.rejects(asked, expected);
  });

  it('releases its slots when it disconnects, including those that its choices wait for', async () => {
    const service = await sharedGateway();
    const long = { ...greedy, ...ENDLESS, n: 8 };
    for await (const _chunk of await client.chat.completions.create({ ...long, stream: true })) break;
    await untilIdle(service);
    const leaving = new AbortController();
    const aborted = client.chat.completions.create(long, { signal: leaving.signal });
    const isRejected = assert.rejects(aborted, APIUserAbortError);
    await until(() => service.running.gateway.models.busy > 0);
    leaving.abort();
    await isRejected;
    await untilIdle(service);
  });

  it('may be the AI SDK: text, streams, embeddings, tools, objects', async () => {
    const { baseURL, apiKey } = client;
    const options = { name: 'strata', baseURL, apiKey: apiKey ?? '', includeUsage: true };
    const provider = createOpenAICompatible({ ...options, supportsStructuredOutputs: true });
    const asked = { model: provider(MODEL), prompt: question };
    const { text, usage, finishReason } = await generateText({ ...asked, temperature: 0 });
    assert.match(text, answer);
    assert.ok(finishReason === 'stop' && (usage.outputTokens ?? 0) > 10);
    const stream = streamText({ ...asked, temperature: 0 });
    assert.equal((await Array.fromAsync(stream.textStream)).join(''), text);
    assert.equal((await stream.usage).outputTokens, usage.outputTokens);
    assert.equal((await embed({ model: provider.embeddingModel(MODEL), value: question })).embedding.length, 192);
    const schema = jsonSchema<{ city: string }>(weather);
    const forecast = tool({ inputSchema: schema, execute: async (input) => `sun in ${input.city}` });
    const { toolResults } = await generateText({ ...asked, tools: { forecast }, toolChoice: 'required' });
    assert.match(toolResults.map(({ output }) => String(output)).join(), /^sun in (Bern|Oslo)$/);
    const { output } = await generateText({ ...asked, output: Output.object({ schema }) });
    assert.ok(city.enum.includes(output.city));
  });
});
