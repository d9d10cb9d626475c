// The bodies of chat completions that are accepted, and the errors of those that are rejected.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Json, MODEL } from '../test/harness.ts';
import { assertRefusal, chunksOf, MESSAGES, post } from '../test/shared.ts';

const TARGET = '/v1/chat/completions';
const [user] = MESSAGES;
const chat = (more: object = {}) => ({ model: MODEL, messages: MESSAGES, max_tokens: 4, ...more });
const say = (...messages: unknown[]) => ({ messages });
const finding = { name: 'find_domain', parameters: { type: 'object' } };
const tool = (more: object = {}) => ({ type: 'function', function: { ...finding, ...more } });
const schema = (value: unknown) => ({ type: 'json_schema', json_schema: { name: 'x', schema: value } });
const texts = (...parts: string[]) => parts.map((text) => ({ type: 'text', text }));
const call = { id: 'c1', type: 'function', function: { name: 'find_domain', arguments: '{"a":1}' } };
const optional = `temperature top_p n stop seed stream stream_options logprobs top_logprobs logit_bias tools tool_choice
  response_format user metadata max_tokens max_completion_tokens presence_penalty frequency_penalty parallel_tool_calls
  modalities audio functions function_call prompt_cache_key`.split(/\s+/);
const lower = { temperature: 0, top_p: 0, presence_penalty: -2, frequency_penalty: -2, n: 1, top_k: 0, min_p: 0 };
const upper = {
  ...{ temperature: 2, top_p: 1, presence_penalty: 2, frequency_penalty: 2, n: 128, top_logprobs: 20, min_p: 1 },
  ...{ logprobs: true, seed: Number.MAX_SAFE_INTEGER, stop: ['a', 'b', 'c', 'd'], max_tokens: 1 },
  logit_bias: { 5: -100, 6: 100, 999999: 1 },
};
const assistant = (more: object) => ({ role: 'assistant', ...more });
const result = { role: 'tool', tool_call_id: 'c1', content: 'x' };
const unused = {
  ...{ tools: [], functions: [], modalities: ['text'], user: 'u-1', prompt_cache_key: 'k', metadata: { a: 'b' } },
};
const named = (name: string) => ({ type: 'function', function: { name } });
const allowed = (mode: string, ...names: string[]) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(named) },
});

const accepted: readonly (readonly [name: string, more: object])[] = [
  ['only the required fields', {}],
  ['every number at its lower bound', { ...lower, seed: -1, stop: [], logprobs: false, top_logprobs: 0 }],
  ['every number at its upper bound, more choices than slots, and a bias on a token that does not exist', upper],
  ['null for every optional field', Object.fromEntries(optional.map((name) => [name, null]))],
  ['unknown fields', { verbosity: 'low', store: false, safety_identifier: 'x', 'x-y': [1], prediction: {} }],
  ['fields that change nothing', { ...unused, response_format: { type: 'text' } }],
  ['a system message', say({ role: 'system', content: 'Be brief.' }, user)],
  ['a developer message and a named user', say({ role: 'developer', content: 'Be brief.' }, { ...user, name: 'ada' })],
  ['an earlier answer', say(user, assistant({ content: 'A policy.' }), user)],
  ['an earlier refusal', say(user, assistant({ refusal: 'No.' }), user)],
  ['an earlier call and its result', say(user, assistant({ tool_calls: [call] }), result)],
  ['a null content beside a call', say(user, assistant({ content: null, tool_calls: [call] }), user)],
  ['the result of a legacy function', say(user, { role: 'function', name: 'f', content: 'x' })],
  ['parts of text', say({ role: 'user', content: texts('What is ', 'DMARC?') })],
  ['an empty text', say({ role: 'user', content: '' })],
  ['text of all planes', say({ role: 'user', content: 'Grüße, 日本, 🦊, \u0000 and \ud83e' })],
  ['one stop string, and log-probabilities alone', { stop: 'x', logprobs: true }],
  ['more tokens than fit', { max_tokens: 100_000 }],
  ['both limits', { max_tokens: 9, max_completion_tokens: 3 }],
  ['JSON as format', { response_format: { type: 'json_object' } }],
  ['a schema with JSON as format', { response_format: { type: 'json_object', schema: { type: 'boolean' } } }],
  ['a schema as format', { response_format: schema({ type: 'object', properties: { a: { type: 'boolean' } } }) }],
  ['a tool that is not called', { tools: [tool()], tool_choice: 'none' }],
  ['a tool that may be called, without parallel calls', { tools: [tool()], parallel_tool_calls: false }],
  ['a tool without parameters', { tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['one of the allowed tools', { tools: [tool()], tool_choice: allowed('required', 'find_domain'), max_tokens: 60 }],
  ['a tool that must be called', { tools: [tool()], tool_choice: 'required', max_tokens: 60 }],
  ['variables of the template', { reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: [{ a: 1 }] } }],
  ['a named tool', { tools: [tool(), tool({ name: 'g' })], tool_choice: named('g'), max_tokens: 60 }],
];

/** Values that are rejected as `invalid_value`, by field. */
const invalid: readonly (readonly [param: string, ...values: unknown[]])[] = [
  ['model', '', 4],
  ['messages', [], 'hello'],
  ['temperature', 2.1, -0.1, 'warm'],
  ['top_p', 1.5],
  ['n', 0, 129, 1.5],
  ['max_tokens', 0, 'many'],
  ['max_completion_tokens', 0],
  ['stop', ['a', 'b', 'c', 'd', 'e'], 5],
  ['seed', 1.5, 2 ** 64, -(2 ** 64)],
  ['presence_penalty', 3],
  ['frequency_penalty', -3],
  ['top_logprobs', 3],
  ['logprobs', 'yes'],
  ['stream', 'yes'],
  ['stream_options', { include_usage: true }],
  ['tools', Array.from({ length: 129 }, (_, i) => tool({ name: `t${i}` }))],
  ['tool_choice', 'required'],
  ['reasoning_effort', 'very', 1],
  ['chat_template_kwargs', 'x', { messages: [] }, { Range: 1 }],
];

const [MISSING, INVALID, UNSUPPORTED] = ['missing_required_parameter', 'invalid_value', 'unsupported_value'] as const;

/** Messages that are rejected: by error code, and the path of the error in the message. */
const refusedMessages: readonly (readonly [message: unknown, code: string, where: string])[] = [
  ['hello', INVALID, ''],
  [{ content: 'x' }, MISSING, '.role'],
  [{ role: 'robot', content: 'x' }, INVALID, '.role'],
  [{ role: 'user' }, MISSING, '.content'],
  [{ role: 'user', content: null }, INVALID, '.content'],
  [{ role: 'user', content: 7 }, INVALID, '.content'],
  [{ role: 'user', content: [{}] }, INVALID, '.content'],
  [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }, UNSUPPORTED, '.content[0].type'],
  [{ role: 'user', content: [...texts('a'), { type: 'input_audio' }] }, UNSUPPORTED, '.content[1].type'],
  [{ role: 'assistant' }, INVALID, '.content'],
  [{ role: 'assistant', tool_calls: [{ id: 'x', type: 'function' }] }, MISSING, '.tool_calls[0].function'],
  [{ role: 'tool', content: 'x' }, MISSING, '.tool_call_id'],
];

const strict = { strict: true, parameters: { properties: { a: { pattern: '(a)\\1' } } } };
const format = (more: object) => ({ response_format: more });
const refused: readonly (readonly [more: object, code: string, param: string])[] = [
  [{ model: undefined }, MISSING, 'model'],
  [{ messages: undefined }, MISSING, 'messages'],
  [{ logit_bias: { hello: 1 } }, INVALID, 'logit_bias.hello'],
  [{ logit_bias: { 5: 101 } }, INVALID, 'logit_bias.5'],
  [{ logprobs: true, top_logprobs: 21 }, INVALID, 'top_logprobs'],
  [format({ type: 'xml' }), INVALID, 'response_format.type'],
  [format({}), MISSING, 'response_format.type'],
  [format({ type: 'json_schema', json_schema: { name: 'x' } }), MISSING, 'response_format.json_schema.schema'],
  [format({ type: 'json_schema', json_schema: { schema: {} } }), MISSING, 'response_format.json_schema.name'],
  [format(schema({ type: 'string', pattern: '(a)\\1' })), UNSUPPORTED, 'response_format.json_schema.schema'],
  [format({ type: 'json_object', schema: 'none' }), INVALID, 'response_format.schema'],
  [format({ type: 'json_object', schema: { type: 'sting' } }), INVALID, 'response_format.schema'],
  [format(schema({ type: 'sting' })), INVALID, 'response_format.json_schema.schema'],
  [format(schema({ type: 'string', minLength: 5, maxLength: 3 })), INVALID, 'response_format.json_schema.schema'],
  [{ tools: [{ type: 'web_search' }] }, INVALID, 'tools[0].type'],
  [{ tools: [{ type: 'function', function: {} }] }, MISSING, 'tools[0].function.name'],
  [{ tools: [tool({ name: 'look up' })] }, INVALID, 'tools[0].function.name'],
  [{ tools: [tool(), tool({ name: 'g', ...strict })] }, UNSUPPORTED, 'tools[1].function.parameters'],
  [{ tools: [tool()], tool_choice: named('g') }, INVALID, 'tool_choice'],
  [{ tools: [tool()], tool_choice: allowed('auto', 'find_domain', 'g') }, INVALID, 'tool_choice'],
  [{ tool_choice: 'auto' }, INVALID, 'tool_choice'],
  [{ tools: [tool()], tool_choice: 'maybe' }, INVALID, 'tool_choice'],
  [{ chat_template_kwargs: { 'a b': 1 } }, INVALID, 'chat_template_kwargs.a b'],
  [{ chat_template_kwargs: { a: { b: [[1]] } } }, INVALID, 'chat_template_kwargs.a'],
  [{ modalities: ['text', 'audio'] }, UNSUPPORTED, 'modalities[1]'],
  [{ audio: { voice: 'x' } }, UNSUPPORTED, 'audio'],
  [{ functions: [{ name: 'f' }] }, UNSUPPORTED, 'functions'],
  [say({ role: 'user', content: 'word '.repeat(500) }), 'context_length_exceeded', 'messages'],
  [say({ role: 'user', content: 'x'.repeat(1e6) }), 'context_length_exceeded', 'messages'],
];

describe('a chat completion', () => {
  for (const [name, more] of accepted)
    it(`is answered with ${name}`, async () => {
      const { status, body, text, headers } = await post(TARGET, chat(more));
      assert.equal(status, 200, text);
      assert.match(headers.get('x-request-id') ?? '', /^req_/);
      assertCompletion(body, (more as { n?: number | null }).n ?? 1);
    });

  const refuses = (more: object, code: string, param: string) =>
    it(`is rejected with ${code} of ${param}: ${JSON.stringify(more).slice(0, 80)}`, async () => {
      assertRefusal(await post(TARGET, chat(more)), [400, code, param]);
      if ('stream' in more || 'stream_options' in more) return;
      const { status } = await post(TARGET, { ...chat(more), stream: true });
      assert.equal(status, 400, 'the status of a stream, too');
    });
  for (const [param, ...values] of invalid) for (const value of values) refuses({ [param]: value }, INVALID, param);
  for (const [message, code, where] of refusedMessages)
    for (const earlier of [[], [user]]) refuses(say(...earlier, message), code, `messages[${earlier.length}]${where}`);
  for (const [more, code, param] of refused) refuses(more, code, param);

  it('is rejected if the body is not a JSON object', async () => {
    const deep = `{"metadata":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    for (const body of ['[]', '"hello"', '7', 'null', '{"model":', '', deep])
      assertRefusal(await post(TARGET, body), [400, null, null]);
  });

  it('has the documented form as a stream', async () => {
    const asked = chat({ temperature: 0, stream: true, stream_options: { include_usage: true } });
    const chunks = chunksOf(await post(TARGET, asked));
    assert.ok(chunks.every(({ object }) => object === 'chat.completion.chunk'));
    assert.deepEqual(chunks[0].choices[0].delta, { role: 'assistant', content: '', refusal: null });
    assert.deepEqual(chunks.at(-2).choices[0], { index: 0, delta: {}, logprobs: null, finish_reason: 'length' });
    assert.equal(chunks.at(-1).usage.completion_tokens, 4);
  });
});

function assertCompletion(answer: Json, choices: number): void {
  assert.deepEqual(Object.keys(answer), ['id', 'object', 'created', 'model', 'system_fingerprint', 'choices', 'usage']);
  assert.equal(answer.choices.length, choices);
  for (const [i, choice] of answer.choices.entries()) {
    assert.deepEqual([choice.index, choice.message.role, choice.message.refusal], [i, 'assistant', null]);
    assert.ok(['stop', 'length', 'tool_calls'].includes(choice.finish_reason));
    assert.ok(typeof choice.message.content === 'string' || choice.message.tool_calls.length > 0);
  }
  assert.ok(answer.usage.prompt_tokens > 0 && answer.usage.completion_tokens > 0);
}
