// The contract as a table: what is asked, and what comes back, errors included.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Harness, type Json, MODEL, startHarness } from './test/harness.ts';

let service: Harness;
before(async () => {
  service = await startHarness();
});
after(() => service?.[Symbol.asyncDispose]());

const user = { role: 'user', content: 'What is DMARC?' };
const chat = (more: object = {}) => ({ model: MODEL, messages: [user], max_tokens: 4, ...more });
const say = (...messages: unknown[]) => chat({ messages });
const tool = (more: object = {}) => ({
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object' }, ...more },
});
const schema = (given: unknown, more: object = {}) => ({
  type: 'json_schema',
  json_schema: { name: 'x', schema: given, ...more },
});
const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{"a":1}' } };

/** Asked and answered with 200. */
const accepted: [why: string, body: object][] = [
  ['the least', chat()],
  [
    'every number at its lower bound',
    chat({ temperature: 0, top_p: 0, presence_penalty: -2, frequency_penalty: -2, n: 1, top_k: 0, min_p: 0 }),
  ],
  [
    'every number at its upper bound',
    chat({ temperature: 2, top_p: 1, presence_penalty: 2, frequency_penalty: 2, min_p: 1 }),
  ],
  [
    'null for whatever may be left out',
    chat({
      temperature: null,
      top_p: null,
      n: null,
      stop: null,
      seed: null,
      stream: null,
      stream_options: null,
      logprobs: null,
      top_logprobs: null,
      logit_bias: null,
      tools: null,
      tool_choice: null,
      response_format: null,
      user: null,
      metadata: null,
      max_tokens: null,
      max_completion_tokens: null,
      presence_penalty: null,
      frequency_penalty: null,
      parallel_tool_calls: null,
      modalities: null,
      audio: null,
      functions: null,
      function_call: null,
      prompt_cache_key: null,
    }),
  ],
  [
    'fields that nobody knows',
    chat({ verbosity: 'low', store: false, service_tier: 'auto', safety_identifier: 'x', 'x-y': [1], prediction: {} }),
  ],
  ['a system message', say({ role: 'system', content: 'Be brief.' }, user)],
  ['a developer message', say({ role: 'developer', content: 'Be brief.' }, user)],
  ['a named user', say({ ...user, name: 'ada' })],
  [
    'parts of text',
    say({
      role: 'user',
      content: [
        { type: 'text', text: 'What is ' },
        { type: 'text', text: 'DMARC?' },
      ],
    }),
  ],
  ['an earlier answer', say(user, { role: 'assistant', content: 'A policy.' }, user)],
  ['an earlier refusal', say(user, { role: 'assistant', refusal: 'No.' }, user)],
  [
    'an earlier call and its result',
    say(
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
    ),
  ],
  ['the result of a function of old', say(user, { role: 'function', name: 'f', content: 'x' })],
  ['an empty text', say({ role: 'user', content: '' })],
  ['text of all planes', say({ role: 'user', content: 'Grüße, 日本, 🦊, \u0000 and \ud83e' })],
  ['one stop string', chat({ stop: 'x' })],
  ['four stop strings', chat({ stop: ['a', 'b', 'c', 'd'] })],
  ['no stop strings', chat({ stop: [] })],
  ['a seed', chat({ seed: 42 })],
  ['a negative seed', chat({ seed: -1 })],
  ['a large seed', chat({ seed: Number.MAX_SAFE_INTEGER })],
  ['eight choices', chat({ n: 8 })],
  ['a bias', chat({ logit_bias: { 5: -100, 6: 100 } })],
  ['a bias on a token that is not there', chat({ logit_bias: { 999999: 1 } })],
  ['log-probabilities alone', chat({ logprobs: true })],
  ['log-probabilities with twenty others', chat({ logprobs: true, top_logprobs: 20 })],
  ['others but no log-probabilities: none of them', chat({ logprobs: false, top_logprobs: 0 })],
  ['more tokens than there is room', chat({ max_tokens: 100_000 })],
  ['both limits', chat({ max_tokens: 9, max_completion_tokens: 3 })],
  ['text as format', chat({ response_format: { type: 'text' } })],
  ['JSON as format', chat({ response_format: { type: 'json_object' } })],
  ['a schema as format', chat({ response_format: schema({ type: 'object', properties: { a: { type: 'boolean' } } }) })],
  ['a tool that is not called', chat({ tools: [tool()], tool_choice: 'none' })],
  ['a tool that may be called', chat({ tools: [tool()] })],
  ['a tool without parameters', chat({ tools: [{ type: 'function', function: { name: 'f' } }] })],
  ['a tool that must be called', chat({ tools: [tool()], tool_choice: 'required', max_tokens: 60 })],
  [
    'this tool',
    chat({
      tools: [tool(), tool({ name: 'g' })],
      tool_choice: { type: 'function', function: { name: 'g' } },
      max_tokens: 60,
    }),
  ],
  ['tools but none given', chat({ tools: [] })],
  ['auto without tools', chat({ tool_choice: 'auto' })],
  ['no parallel calls', chat({ tools: [tool()], parallel_tool_calls: false })],
  ['text as modality', chat({ modalities: ['text'] })],
  ['no functions of old', chat({ functions: [] })],
  ['metadata', chat({ metadata: { a: 'b' }, user: 'u-1', prompt_cache_key: 'k' })],
];

/** Asked and refused: status, `code` and `param`. */
const refused: [why: string, body: unknown, status: number, code: string | null, param: string | null][] = [
  ['no model', { messages: [user] }, 400, 'missing_required_parameter', 'model'],
  ['an empty model', chat({ model: '' }), 400, 'invalid_value', 'model'],
  ['a model that is a number', chat({ model: 4 }), 400, 'invalid_value', 'model'],
  ['a model that is not there', chat({ model: 'gpt-4' }), 404, 'model_not_found', 'model'],
  ['no messages', { model: MODEL }, 400, 'missing_required_parameter', 'messages'],
  ['an empty list of messages', chat({ messages: [] }), 400, 'invalid_value', 'messages'],
  ['messages that are text', chat({ messages: 'hello' }), 400, 'invalid_value', 'messages'],
  ['a message that is text', say('hello'), 400, 'invalid_value', 'messages[0]'],
  ['a message without a role', say({ content: 'x' }), 400, 'missing_required_parameter', 'messages[0].role'],
  ['a role that nobody has', say({ role: 'robot', content: 'x' }), 400, 'invalid_value', 'messages[0].role'],
  ['a user without words', say({ role: 'user' }), 400, 'missing_required_parameter', 'messages[0].content'],
  ['a user who says null', say({ role: 'user', content: null }), 400, 'invalid_value', 'messages[0].content'],
  ['words that are a number', say(user, { role: 'user', content: 7 }), 400, 'invalid_value', 'messages[1].content'],
  ['an assistant without anything', say(user, { role: 'assistant' }), 400, 'invalid_value', 'messages[1].content'],
  [
    'an image',
    say({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }),
    400,
    'unsupported_value',
    'messages[0].content[0].type',
  ],
  [
    'sound',
    say({ role: 'user', content: [{ type: 'input_audio' }] }),
    400,
    'unsupported_value',
    'messages[0].content[0].type',
  ],
  ['a part without a type', say({ role: 'user', content: [{}] }), 400, 'invalid_value', 'messages[0].content'],
  [
    'a result without a call',
    say(user, { role: 'tool', content: 'x' }),
    400,
    'missing_required_parameter',
    'messages[1].tool_call_id',
  ],
  [
    'a call without a function',
    say({ role: 'assistant', tool_calls: [{ id: 'x', type: 'function' }] }),
    400,
    'missing_required_parameter',
    'messages[0].tool_calls[0].function',
  ],
  ['too hot', chat({ temperature: 2.1 }), 400, 'invalid_value', 'temperature'],
  ['too cold', chat({ temperature: -0.1 }), 400, 'invalid_value', 'temperature'],
  ['a temperature in words', chat({ temperature: 'warm' }), 400, 'invalid_value', 'temperature'],
  ['top_p beyond 1', chat({ top_p: 1.5 }), 400, 'invalid_value', 'top_p'],
  ['no choices', chat({ n: 0 }), 400, 'invalid_value', 'n'],
  ['nine choices', chat({ n: 9 }), 400, 'invalid_value', 'n'],
  ['half a choice', chat({ n: 1.5 }), 400, 'invalid_value', 'n'],
  ['no tokens', chat({ max_tokens: 0 }), 400, 'invalid_value', 'max_tokens'],
  ['tokens in words', chat({ max_tokens: 'many' }), 400, 'invalid_value', 'max_tokens'],
  ['no completion tokens', chat({ max_completion_tokens: 0 }), 400, 'invalid_value', 'max_completion_tokens'],
  ['five stop strings', chat({ stop: ['a', 'b', 'c', 'd', 'e'] }), 400, 'invalid_value', 'stop'],
  ['a stop that is a number', chat({ stop: 5 }), 400, 'invalid_value', 'stop'],
  ['half a seed', chat({ seed: 1.5 }), 400, 'invalid_value', 'seed'],
  ['a penalty beyond 2', chat({ presence_penalty: 3 }), 400, 'invalid_value', 'presence_penalty'],
  ['a penalty below -2', chat({ frequency_penalty: -3 }), 400, 'invalid_value', 'frequency_penalty'],
  ['a bias on a word', chat({ logit_bias: { hello: 1 } }), 400, 'invalid_value', 'logit_bias.hello'],
  ['a bias beyond 100', chat({ logit_bias: { 5: 101 } }), 400, 'invalid_value', 'logit_bias.5'],
  ['others without log-probabilities', chat({ top_logprobs: 3 }), 400, 'invalid_value', 'top_logprobs'],
  ['21 others', chat({ logprobs: true, top_logprobs: 21 }), 400, 'invalid_value', 'top_logprobs'],
  ['log-probabilities in words', chat({ logprobs: 'yes' }), 400, 'invalid_value', 'logprobs'],
  ['a stream in words', chat({ stream: 'yes' }), 400, 'invalid_value', 'stream'],
  ['options of no stream', chat({ stream_options: { include_usage: true } }), 400, 'invalid_value', 'stream_options'],
  [
    'a format that nobody knows',
    chat({ response_format: { type: 'xml' } }),
    400,
    'invalid_value',
    'response_format.type',
  ],
  ['a format of no type', chat({ response_format: {} }), 400, 'missing_required_parameter', 'response_format.type'],
  [
    'a schema format without a schema',
    chat({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } }),
    400,
    'missing_required_parameter',
    'response_format.json_schema.schema',
  ],
  [
    'a schema without a name',
    chat({ response_format: { type: 'json_schema', json_schema: { schema: {} } } }),
    400,
    'missing_required_parameter',
    'response_format.json_schema.name',
  ],
  [
    'a schema that cannot be held to',
    chat({ response_format: schema({ type: 'string', pattern: 'a' }) }),
    400,
    'unsupported_value',
    'response_format.json_schema.schema',
  ],
  [
    'a schema of no kind',
    chat({ response_format: schema({ type: 'sting' }) }),
    400,
    'invalid_value',
    'response_format.json_schema.schema',
  ],
  ['a tool of another type', chat({ tools: [{ type: 'web_search' }] }), 400, 'invalid_value', 'tools[0].type'],
  [
    'a tool without a name',
    chat({ tools: [{ type: 'function', function: {} }] }),
    400,
    'missing_required_parameter',
    'tools[0].function.name',
  ],
  [
    'a tool with blanks in its name',
    chat({ tools: [tool({ name: 'look up' })] }),
    400,
    'invalid_value',
    'tools[0].function.name',
  ],
  [
    '129 tools',
    chat({ tools: Array.from({ length: 129 }, (_, i) => tool({ name: `t${i}` })) }),
    400,
    'invalid_value',
    'tools',
  ],
  ['a choice of no tools', chat({ tool_choice: 'required' }), 400, 'invalid_value', 'tool_choice'],
  [
    'the choice of another tool',
    chat({ tools: [tool()], tool_choice: { type: 'function', function: { name: 'g' } } }),
    400,
    'invalid_value',
    'tool_choice',
  ],
  ['a choice that nobody knows', chat({ tools: [tool()], tool_choice: 'maybe' }), 400, 'invalid_value', 'tool_choice'],
  ['speech', chat({ modalities: ['text', 'audio'] }), 400, 'unsupported_value', 'modalities[1]'],
  ['a voice', chat({ audio: { voice: 'x' } }), 400, 'unsupported_value', 'audio'],
  ['functions of old', chat({ functions: [{ name: 'f' }] }), 400, 'unsupported_value', 'functions'],
  [
    'more words than the context',
    say({ role: 'user', content: 'word '.repeat(500) }),
    400,
    'context_length_exceeded',
    'messages',
  ],
  ['a list', [], 400, null, null],
  ['a text', '"hello"', 400, null, null],
  ['a number', '7', 400, null, null],
  ['null', 'null', 400, null, null],
  ['no JSON', '{"model":', 400, null, null],
  ['nothing', '', 400, null, null],
];

describe('a chat completion', () => {
  for (const [why, body] of accepted) {
    it(`is given with ${why}`, async () => {
      const { status, body: answer, text, headers } = await service.post('/v1/chat/completions', body);
      assert.equal(status, 200, text);
      assert.match(headers.get('x-request-id') ?? '', /^req_/);
      assertCompletion(answer, body as { n?: number });
    });
  }

  for (const [why, body, status, code, param] of refused) {
    it(`is refused with ${why}`, async () => {
      const answer = await service.post('/v1/chat/completions', body);
      assertRefusal(answer, status, code, param);
      if (status === 400 && typeof body === 'object' && !('stream' in (body ?? {})) && why !== 'options of no stream') {
        const streamed = await service.post('/v1/chat/completions', {
          ...(body as object),
          ...(Array.isArray(body) ? {} : { stream: true }),
        });
        assert.equal(streamed.status, 400, 'in a stream too, before it begins');
      }
    });
  }
});

function assertCompletion(answer: Json, { n }: { n?: number | null }): void {
  assert.deepEqual(Object.keys(answer), ['id', 'object', 'created', 'model', 'system_fingerprint', 'choices', 'usage']);
  assert.equal(answer.choices.length, n ?? 1);
  for (const [i, choice] of answer.choices.entries()) {
    assert.deepEqual([choice.index, choice.message.role, choice.message.refusal], [i, 'assistant', null]);
    assert.ok(['stop', 'length', 'tool_calls'].includes(choice.finish_reason));
    assert.ok(typeof choice.message.content === 'string' || choice.message.tool_calls.length > 0);
  }
  assert.ok(answer.usage.prompt_tokens > 0 && answer.usage.completion_tokens >= 0);
}

function assertRefusal(
  { status, body, text }: { status: number; body: Json; text: string },
  expected: number,
  code: string | null,
  param: string | null,
): void {
  assert.equal(status, expected, text);
  assert.deepEqual(Object.keys(body), ['error']);
  assert.deepEqual(Object.keys(body.error), ['message', 'type', 'param', 'code']);
  assert.deepEqual([body.error.code, body.error.param], [code, param], text);
  assert.equal(body.error.type, 'invalid_request_error');
  assert.ok(body.error.message.length > 10 && !/undefined|\[object/.test(body.error.message), body.error.message);
}

describe('other requests', () => {
  const table: [
    why: string,
    ask: () => Promise<{ status: number; body: Json; text: string }>,
    status: number,
    code: string | null,
    param: string | null,
  ][] = [
    ['no key', () => service.post('/v1/chat/completions', chat(), { authorization: '' }), 401, 'invalid_api_key', null],
    ['a wrong key', () => service.get('/v1/models', { authorization: 'Bearer sk-nope' }), 401, 'invalid_api_key', null],
    [
      'a key of another kind',
      () => service.get('/v1/models', { authorization: `Basic ${service.key}` }),
      401,
      'invalid_api_key',
      null,
    ],
    ['a path that is not there', () => service.get('/v1/images'), 404, 'not_found', null],
    ['a path that is not ours', () => service.get('/admin'), 404, 'not_found', null],
    ['a method that is not served', () => service.get('/v1/chat/completions'), 405, 'method_not_allowed', null],
    ['a model that is not there', () => service.get('/v1/models/a%2Fb'), 404, 'model_not_found', 'model'],
    [
      'another media type',
      () => service.post('/v1/chat/completions', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
      null,
    ],
    [
      'too large a body',
      () => service.post('/v1/chat/completions', `{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`),
      413,
      'request_too_large',
      null,
    ],
    ['no prompt', () => service.post('/v1/completions', { model: MODEL }), 400, 'missing_required_parameter', 'prompt'],
    [
      'an empty prompt',
      () => service.post('/v1/completions', { model: MODEL, prompt: '' }),
      400,
      'invalid_value',
      'prompt',
    ],
    [
      'more completions than one request makes',
      () => service.post('/v1/completions', { model: MODEL, prompt: Array.from({ length: 64 }, () => 'a'), n: 3 }),
      400,
      'invalid_value',
      'prompt',
    ],
    [
      'a prompt of no such token',
      () => service.post('/v1/completions', { model: MODEL, prompt: [[5], [5_000_000]] }),
      400,
      'invalid_value',
      'prompt[1]',
    ],
    [
      'a suffix',
      () => service.post('/v1/completions', { model: MODEL, prompt: 'a', suffix: 'b' }),
      400,
      'unsupported_value',
      'suffix',
    ],
    [
      'log-probabilities of an echo',
      () => service.post('/v1/completions', { model: MODEL, prompt: 'a', echo: true, logprobs: 1 }),
      400,
      'unsupported_value',
      'logprobs',
    ],
    [
      'a body that nests without end',
      () => service.post('/v1/chat/completions', `{"metadata":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      400,
      null,
      null,
    ],
    [
      'a body that is packed',
      () => service.post('/v1/chat/completions', '{}', { 'content-encoding': 'gzip' }),
      415,
      'unsupported_media_type',
      null,
    ],
    ['a path that cannot be decoded', () => service.get('/v1/models/%zz'), 400, null, null],
    [
      'a text that cannot fit, however it is read',
      () =>
        service.post('/v1/chat/completions', { model: MODEL, messages: [{ role: 'user', content: 'x'.repeat(1e6) }] }),
      400,
      'context_length_exceeded',
      'messages',
    ],
    [
      'an item of a response that cannot be used, by its own place',
      () =>
        service.post('/v1/responses', {
          model: MODEL,
          instructions: 'Be brief.',
          input: [
            { role: 'user', content: 'a' },
            { role: 'wizard', content: 'b' },
          ],
        }),
      400,
      'invalid_value',
      'input[1].role',
    ],
    [
      'a tool of a response that cannot be used, by its own place',
      () => service.post('/v1/responses', { model: MODEL, input: 'a', tools: [{ type: 'function', name: 'no way' }] }),
      400,
      'invalid_value',
      'tools[0].name',
    ],
    [
      'a response that does not fit',
      () => service.post('/v1/responses', { model: MODEL, input: 'word '.repeat(500) }),
      400,
      'context_length_exceeded',
      'input',
    ],
    [
      'the best of several',
      () => service.post('/v1/completions', { model: MODEL, prompt: 'a', best_of: 3 }),
      400,
      'unsupported_value',
      'best_of',
    ],
    [
      'nothing to embed',
      () => service.post('/v1/embeddings', { model: MODEL }),
      400,
      'missing_required_parameter',
      'input',
    ],
    [
      'an empty text to embed',
      () => service.post('/v1/embeddings', { model: MODEL, input: '' }),
      400,
      'invalid_value',
      'input',
    ],
    [
      'no texts to embed',
      () => service.post('/v1/embeddings', { model: MODEL, input: [] }),
      400,
      'invalid_value',
      'input',
    ],
    [
      'tokens that are none',
      () => service.post('/v1/embeddings', { model: MODEL, input: [5_000_000] }),
      400,
      'invalid_value',
      'input',
    ],
    [
      'too much to embed',
      () => service.post('/v1/embeddings', { model: MODEL, input: 'word '.repeat(500) }),
      400,
      'context_length_exceeded',
      'input',
    ],
    [
      'vectors of another length',
      () => service.post('/v1/embeddings', { model: MODEL, input: 'a', dimensions: 7 }),
      400,
      'unsupported_value',
      'dimensions',
    ],
    [
      'another encoding',
      () => service.post('/v1/embeddings', { model: MODEL, input: 'a', encoding_format: 'hex' }),
      400,
      'invalid_value',
      'encoding_format',
    ],
  ];
  for (const [why, ask, status, code, param] of table) {
    it(`are refused with ${why}`, async () => assertRefusal(await ask(), status, code, param));
  }

  it('are answered: health without a key, what a browser may send, models, tokens to embed', async () => {
    const health = await (await fetch(`${service.base}/health`)).json();
    assert.deepEqual((health as Json).models, [MODEL]);
    const preflight = await fetch(`${service.base}/v1/chat/completions`, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /authorization/);
    const { body } = await service.get(`/v1/models/${MODEL}`);
    assert.deepEqual([body.id, body.object, body.context_length], [MODEL, 'model', 256]);
    const tokens = await service.post('/v1/embeddings', { model: MODEL, input: [[5, 6], [7]] });
    assert.deepEqual([tokens.status, tokens.body.data.length, tokens.body.usage.prompt_tokens], [200, 2, 3]);
  });

  it('are counted for a limited key, and refused beyond its minute', async () => {
    const { key } = await service.running.gateway.keys.create({ tier: 'free' });
    const headers = { authorization: `Bearer ${key}` };
    const seen = [];
    for (let i = 0; i < 21; i += 1)
      seen.push(await service.post('/v1/chat/completions', chat({ max_tokens: 1 }), headers));
    assert.deepEqual(
      seen.map(({ status }) => status),
      [...Array.from({ length: 20 }, () => 200), 429],
    );
    const [first, last] = [seen[0], seen[20]];
    assert.equal(first?.headers.get('x-ratelimit-remaining-requests'), '19');
    assert.match(first?.headers.get('x-ratelimit-limit-tokens') ?? '', /^\d+$/);
    assert.match(first?.headers.get('x-ratelimit-remaining-tokens') ?? '', /^\d+$/);
    assert.deepEqual([last?.body.error.type, last?.body.error.code], ['rate_limit_error', 'rate_limit_exceeded']);
    assert.equal(last?.headers.get('x-should-retry'), 'true');
    assert.ok(Number(last?.headers.get('retry-after')) > 0);
    assert.match(last?.headers.get('x-ratelimit-reset-requests') ?? '', /^(\d+m)?\d+s$/);
    assert.equal((await service.get('/v1/models', headers)).status, 200, 'looking costs nothing');
  });

  it('a stream has the form that clients read', async () => {
    const { text, headers } = await service.post(
      '/v1/chat/completions',
      chat({ stream: true, stream_options: { include_usage: true } }),
    );
    assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const blocks = text.split('\n\n');
    assert.equal(blocks.pop(), '');
    assert.equal(blocks.pop(), 'data: [DONE]');
    const chunks = blocks.map((block) => JSON.parse(block.replace(/^data: /, '')));
    assert.ok(chunks.every(({ object }) => object === 'chat.completion.chunk'));
    assert.deepEqual(chunks[0].choices[0].delta, { role: 'assistant', content: '', refusal: null });
    assert.deepEqual(chunks.at(-2).choices[0], { index: 0, delta: {}, logprobs: null, finish_reason: 'length' });
    assert.equal(chunks.at(-1).usage.completion_tokens, 4);
  });
});
