// Against servers of scripts on loopback: what is asked, what is told, and every way in which it can go wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  type ChatDelta,
  CompletionError,
  type ErrorName,
  readChatRequest,
  readCompletionRequest,
} from '@strata/inference';
import { EngineError, type EngineErrorCode } from './engine.ts';
import {
  begin,
  delta,
  ends,
  events,
  HELLO,
  MODEL,
  refuses,
  type ScriptedUpstream,
  says,
  startScriptedUpstream,
  streams,
} from './test/scripted-upstream.ts';
import { type AskParts, openUpstream, type Upstream, type UpstreamOptions, type UpstreamParts } from './upstream.ts';

let server: ScriptedUpstream;
let stack: AsyncDisposableStack;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  server = stack.use(await startScriptedUpstream());
});
afterEach(() => stack.disposeAsync());

const KEY = 'sk-very-secret';
async function open(options: Partial<UpstreamOptions> = {}, parts: UpstreamParts = {}): Promise<Upstream> {
  const all = { baseUrl: server.base, model: MODEL, places: 4, apiKey: KEY, ...options };
  // Pauses are as short as they can be.
  return stack.use(await openUpstream(all, { random: () => 0, ...parts }));
}

const request = (more: object = {}) =>
  readChatRequest({ model: 'ours', messages: [{ role: 'user', content: 'hi' }], ...more });
const asking = (more: Partial<AskParts> = {}): AskParts => ({
  seed: 1,
  usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
  signal: new AbortController().signal,
  ...more,
});
const textOf = (deltas: readonly ChatDelta[]) => deltas.map((each) => (each.kind === 'text' ? each.text : '')).join('');
const chat = (upstream: Upstream, parts: Partial<AskParts> = {}, more: object = {}) =>
  Array.fromAsync(upstream.chat(request(more), asking(parts)));

const refusedAs =
  (kind: ErrorName, words = /./) =>
  (error: unknown) =>
    error instanceof CompletionError && error.kind === kind && words.test(error.message);
const failedAs =
  (code: EngineErrorCode, words = /./) =>
  (error: unknown) =>
    error instanceof EngineError && error.code === code && words.test(error.message);

describe('an upstream that is opened', () => {
  it('tells what it is and how long its context may be', async () => {
    const models = (model: object) => ({ object: 'list', data: [{ id: 'other' }, { id: MODEL, ...model }] });
    const cases: [Record<string, unknown>, object][] = [
      [
        {
          '/v1/models': models({ owned_by: 'llamacpp', meta: { n_ctx_train: 8_192 } }),
          '/props': { default_generation_settings: { n_ctx: 1_024 }, build_info: 'b7000-abc' },
        },
        { kind: 'llama.cpp', engine: 'llama.cpp b7000-abc', contextLength: 1_024, ownedBy: 'llamacpp' },
      ],
      [
        { '/v1/models': models({ owned_by: 'llamacpp', meta: { n_ctx_train: 8_192 } }), '/props': undefined },
        { kind: 'llama.cpp', engine: 'llama.cpp', contextLength: 8_192 },
      ],
      [
        { '/v1/models': models({ owned_by: 'vllm', max_model_len: 4_096 }), '/version': { version: '0.12.0' } },
        { kind: 'vllm', engine: 'vllm 0.12.0', contextLength: 4_096 },
      ],
      [
        { '/v1/models': models({ owned_by: 'library' }), '/api/version': { version: '0.13.1' } },
        { kind: 'ollama', engine: 'ollama 0.13.1', contextLength: undefined },
      ],
      [
        { '/v1/models': models({ owned_by: 'somebody' }), '/api/version': undefined },
        { kind: 'other', engine: 'other', contextLength: undefined, ownedBy: 'somebody', places: 4 },
      ],
    ];
    for (const [pages, expected] of cases) {
      Object.assign(server.pages, pages);
      const { info } = await open();
      assert.deepEqual({ ...info, ...expected }, info);
      assert.equal(info.name, MODEL);
      assert.equal(info.origin, new URL(server.base).origin);
    }
    assert.equal((await open({ contextLength: 512 })).info.contextLength, 512);
  });

  it('is not, where the model is missing, and says what there is', async () => {
    await assert.rejects(open({ model: 'gone' }), failedAs('model-unusable', /has no model 'gone': it has 'm'$/));
    server.pages['/v1/models'] = { data: [] };
    await assert.rejects(open(), failedAs('model-unusable', /it has none/));
    server.pages['/v1/models'] = { data: Array.from({ length: 25 }, (_, at) => ({ id: `m${at}` })) };
    await assert.rejects(open(), failedAs('model-unusable', /'m19' and 5 more$/));
  });

  it('knows a model by the names that servers give it', async () => {
    server.pages['/v1/models'] = { data: [{ id: 'llama3:latest' }, { id: '/models/tiny.gguf', aliases: ['small'] }] };
    for (const model of ['llama3', 'llama3:latest', 'tiny.gguf', 'small', '/models/tiny.gguf'])
      assert.equal((await open({ model })).info.name, model);
    await assert.rejects(open({ model: 'tiny' }), failedAs('model-unusable'));
  });

  it('is not, where there is no such server', async () => {
    server.pages['/v1/models'] = { hello: 'world' };
    await assert.rejects(open(), failedAs('upstream-failed', /no list of models/));
    const port = await unusedPort();
    const retries: unknown[] = [];
    await assert.rejects(
      open({ baseUrl: `http://127.0.0.1:${port}/v1`, retries: 1 }, { onRetry: (event) => retries.push(event) }),
      failedAs('upstream-failed', /cannot be reached \(ECONNREFUSED\)/),
    );
    assert.deepEqual(retries, [{ detail: 'the upstream cannot be reached (ECONNREFUSED)', waitMs: 125 }]);
  });

  it('has an address and a key that can be used', async () => {
    for (const baseUrl of ['localhost:8080', 'ftp://a/v1', 'http://me:word@a/v1', 'http://a/v1?key=1', ''])
      await assert.rejects(open({ baseUrl }), failedAs('upstream-refused', /the address of an upstream/));
    await assert.rejects(open({ apiKey: 'a\r\nb' }), (error: Error) => {
      assert.match(error.message, /the key of an upstream/);
      assert.doesNotMatch(error.message, /a\r/);
      return true;
    });
    assert.equal((await open({ baseUrl: `${server.base}/` })).info.name, MODEL);
  });
});

describe('what an upstream is asked', () => {
  const lookup = { name: 'lookup', description: 'Looks.', parameters: { type: 'object', properties: {} } };
  const other = { name: 'other', parameters: { type: 'object', properties: {} } };
  const tools = [lookup, other].map((each) => ({ type: 'function', function: each }));

  it('is a stream of one choice with its usage, whatever was asked for', async () => {
    server.script(streams(HELLO));
    await chat(await open(), { seed: 77 }, { n: 4, stream: false });
    const [asked] = server.asked;
    assert.equal(asked?.path, '/v1/chat/completions');
    assert.equal(asked?.headers.authorization, `Bearer ${KEY}`);
    assert.deepEqual(asked?.body, {
      model: MODEL,
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
      temperature: 1,
      top_p: 1,
      seed: 77,
      messages: [{ role: 'user', content: 'hi' }],
    });
  });

  it('is everything that was asked for, in the names of the contract', async () => {
    server.script(streams(HELLO));
    const call = { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"a":1}' } };
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }], name: 'ann' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ];
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    await chat(
      await open(),
      {},
      {
        messages,
        tools,
        tool_choice: 'auto',
        parallel_tool_calls: false,
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        min_p: 0.05,
        presence_penalty: 1,
        frequency_penalty: -1,
        logit_bias: { 5: -100 },
        logprobs: true,
        top_logprobs: 3,
        stop: ['END', 'STOP'],
        max_completion_tokens: 9,
        prompt_cache_key: 'k',
      },
    );
    assert.deepEqual(server.asked[0]?.body, {
      model: MODEL,
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.05,
      presence_penalty: 1,
      frequency_penalty: -1,
      logit_bias: { 5: -100 },
      stop: ['END', 'STOP'],
      seed: 1,
      max_tokens: 9,
      prompt_cache_key: 'k',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi', name: 'ann' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', content: 'found', tool_call_id: 'c1' },
      ],
      tools,
      tool_choice: 'auto',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      logprobs: true,
      top_logprobs: 3,
    });
  });

  const kinds: Record<string, object> = {
    'llama.cpp': { owned_by: 'llamacpp' },
    vllm: { owned_by: 'vllm' },
    other: { owned_by: 'other' },
  };
  async function bodyFor(kind: string, more: object) {
    server.pages['/v1/models'] = { data: [{ id: MODEL, ...kinds[kind] }] };
    const call = { index: 0, id: 'c', function: { name: 'lookup', arguments: '{}' } };
    server.script(streams(events(delta({ tool_calls: [call] }), ends('stop'), '[DONE]')));
    const upstream = await open();
    assert.equal(upstream.info.kind, kind);
    await chat(upstream, {}, more);
    return server.asked.at(-1)?.body;
  }

  it('leaves no defaults to servers that have their own', async () => {
    const of = async (kind: string) => {
      const { top_k, min_p } = await bodyFor(kind, {});
      return [top_k, min_p];
    };
    assert.deepEqual(await of('llama.cpp'), [0, 0]);
    assert.deepEqual(await of('vllm'), [-1, 0]);
    assert.deepEqual(await of('other'), [undefined, undefined]);
  });

  it('is a log-probability of llama-server in the way in which it tells one', async () => {
    const more = { logprobs: true };
    assert.equal((await bodyFor('llama.cpp', more)).top_logprobs, 1);
    assert.equal((await bodyFor('vllm', more)).top_logprobs, 0);
  });

  it('is a call by name, where that is read, or of the only tool', async () => {
    const choice = { type: 'function', function: { name: 'other' } };
    const more = { tools, tool_choice: choice };
    const { tools: told, tool_choice } = await bodyFor('vllm', more);
    assert.deepEqual([told, tool_choice], [tools, choice]);
    const llama = await bodyFor('llama.cpp', more);
    assert.deepEqual([llama.tools, llama.tool_choice], [[tools[1]], 'required']);
  });

  it('is no tool where none may be called', async () => {
    const body = await bodyFor('other', { tools, tool_choice: 'none' });
    assert.deepEqual([body.tools, body.tool_choice], [undefined, undefined]);
  });

  it('names the length of an answer as the model takes it, once it said so', async () => {
    const told = { message: "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead." };
    server.script(refuses(400, { error: { ...told, param: 'max_tokens' } }), streams(HELLO));
    const upstream = await open();
    assert.equal(textOf(await chat(upstream, {}, { max_tokens: 5 })), 'Hello');
    await chat(upstream, {}, { max_tokens: 6 });
    assert.deepEqual(
      server.asked.map(({ body }) => [body.max_tokens, body.max_completion_tokens]),
      [
        [5, undefined],
        [undefined, 5],
        [undefined, 6],
      ],
    );
  });

  it('is a prompt of plain text', async () => {
    server.script(streams(events({ choices: [{ index: 0, text: 'so', finish_reason: 'length' }] }, '[DONE]')));
    const asked = readCompletionRequest({
      model: 'ours',
      prompt: ['Once', 'no'],
      max_tokens: 1,
      logprobs: 0,
      stop: 'x',
    });
    const upstream = await open();
    const deltas = await Array.fromAsync(upstream.complete(asked, { ...asking(), prompt: 'Once' }));
    assert.deepEqual([textOf(deltas), deltas.at(-1)], ['so', { kind: 'end', reason: 'length' }]);
    const [{ path, body } = assert.fail()] = server.asked;
    const { prompt, max_tokens, logprobs, stop, stream, n } = body;
    assert.deepEqual(
      [path, prompt, max_tokens, logprobs, stop, stream, n],
      ['/v1/completions', 'Once', 1, 0, ['x'], true, 1],
    );
  });
});

describe('an answer of an upstream', () => {
  it('comes as deltas, with its usage', async () => {
    server.script(streams(HELLO));
    const parts = asking();
    assert.deepEqual(await chat(await open(), parts), [
      { kind: 'begin' },
      { kind: 'text', text: 'Hel' },
      { kind: 'text', text: 'lo' },
      { kind: 'end', reason: 'stop' },
    ]);
    assert.deepEqual(parts.usage, { promptTokens: 7, completionTokens: 2, cachedTokens: 3 });
  });

  it('comes as it is made, cut anywhere', async () => {
    const bytes = Buffer.from(events(says('é😀'), ends('stop'), '[DONE]').replaceAll('\n', '\r\n'));
    server.script(async (response) => {
      begin(response).write(': a comment\n\n');
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    assert.equal(textOf(await chat(await open())), 'é😀');
  });

  it('is known before it is over', async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    server.script(async (response) => {
      begin(response).write(events(says('first')));
      await isRead;
      response.end(events(says('second'), ends('stop'), '[DONE]'));
    });
    const texts: string[] = [];
    for await (const each of (await open()).chat(request(), asking())) {
      if (each.kind !== 'text') continue;
      texts.push(each.text);
      read();
    }
    assert.deepEqual(texts, ['first', 'second']);
  });

  it('that breaks off is an error, and is not asked for again', async () => {
    server.script(async (response) => {
      begin(response).write(events(says('half')));
      await new Promise((resolve) => setTimeout(resolve, 20));
      response.destroy();
    });
    const deltas: ChatDelta[] = [];
    await assert.rejects(
      async () => {
        for await (const each of (await open()).chat(request(), asking())) deltas.push(each);
      },
      failedAs('upstream-failed', /broke off/),
    );
    assert.equal(textOf(deltas), 'half');
    assert.equal(server.asked.length, 1);
  });

  it('that ends early is an error, however properly', async () => {
    server.script(streams(events(says('half'))));
    await assert.rejects(chat(await open()), failedAs('upstream-failed', /in the middle/));
  });

  it('that is no stream is an error', async () => {
    server.script(refuses(200, { choices: [] }, { 'content-type': 'application/json' }));
    await assert.rejects(chat(await open()), failedAs('upstream-failed', /answered with application\/json/));
    server.script(streams('data: <html>\n\n'));
    await assert.rejects(chat(await open()), failedAs('upstream-failed', /cannot be read/));
    server.script(streams(`data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`));
    await assert.rejects(chat(await open()), failedAs('upstream-failed', /an event of more than/));
  });
});

describe('a refusal of an upstream', () => {
  const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
  const cases: [string, number, unknown, (error: unknown) => boolean][] = [
    ['a parameter', 400, error('bad top_p', { param: 'top_p' }), refusedAs('invalid_request', /^bad top_p$/)],
    [
      'a context by code',
      400,
      error('long', { code: 'context_length_exceeded' }),
      refusedAs('context_length', /^long$/),
    ],
    [
      'a context by type',
      400,
      error('long', { type: 'exceed_context_size_error', code: 400 }),
      refusedAs('context_length'),
    ],
    ['a context in words', 400, error("This model's maximum context length is 5 tokens."), refusedAs('context_length')],
    [
      'the old vLLM',
      400,
      { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 },
      refusedAs('invalid_request', /^bad$/),
    ],
    [
      'FastAPI',
      422,
      { detail: [{ loc: ['body', 'top_p'], msg: 'too big' }] },
      refusedAs('invalid_request', /^top_p: too big$/),
    ],
    ['a word', 400, { error: 'bad' }, refusedAs('invalid_request', /^bad$/)],
    ['a model', 404, error('The model `m` does not exist.', { type: 'NotFoundError' }), refusedAs('model_not_found')],
    ['a path', 404, '404 page not found', refusedAs('not_found', /does not offer this/)],
    ['a size', 413, '', refusedAs('too_large')],
    ['a feature', 501, error('no embeddings'), refusedAs('unsupported_value', /no embeddings/)],
    [
      'our key',
      401,
      error(`Incorrect API key: ${KEY}`),
      failedAs('upstream-refused', /does not accept our key \(status 401\)$/),
    ],
    ['our rights', 403, '', failedAs('upstream-refused')],
    ['our account', 429, error('pay', { code: 'insufficient_quota' }), failedAs('upstream-refused', /out of credit/)],
    ['a crash', 500, error('boom'), failedAs('upstream-failed', /status 500: boom/)],
    ['nonsense', 418, '<html>', failedAs('upstream-failed', /status 418$/)],
  ];
  for (const [what, status, body, expected] of cases) {
    it(`of ${what} (${status}) is heard by whom it concerns, at once`, async () => {
      server.script(refuses(status, body));
      await assert.rejects(chat(await open()), expected);
      assert.equal(server.asked.length, 1);
    });
  }

  it('keeps its parameter', async () => {
    server.script(refuses(400, error('bad', { param: 'top_p' })));
    await assert.rejects(chat(await open()), (it) => it instanceof CompletionError && it.param === 'top_p');
  });

  it('is short, and never holds our key', async () => {
    server.script(refuses(400, error(`${KEY} ${'x\n'.repeat(1_000)}`)));
    await assert.rejects(chat(await open()), (it: Error) => {
      assert.equal(it.message.length, 300);
      for (const told of [it.message, it.stack, JSON.stringify(it), String((it.cause as Error).message)])
        assert.doesNotMatch(told ?? '', new RegExp(KEY));
      return true;
    });
  });
});

describe('another try', () => {
  const retries: { detail: string; waitMs: number }[] = [];
  const onRetry = (event: { detail: string; waitMs: number }) => void retries.push(event);
  beforeEach(() => {
    retries.length = 0;
  });

  it('is made while nothing was answered, later each time', async () => {
    server.script(refuses(503, '', { connection: 'close' }), (response) => void response.destroy(), streams(HELLO));
    assert.equal(textOf(await chat(await open({}, { onRetry }))), 'Hello');
    assert.deepEqual(
      retries.map(({ waitMs }) => waitMs),
      [125, 250],
    );
    assert.equal(server.asked.length, 3);
  });

  it('waits as long as the server says, within bounds', async () => {
    server.script(refuses(429, '', { 'retry-after-ms': '30' }), streams(HELLO));
    await chat(await open({}, { onRetry }));
    assert.deepEqual(
      retries.map(({ waitMs }) => waitMs),
      [30],
    );
    const busy = (after: number) => (it: unknown) =>
      it instanceof CompletionError && it.kind === 'overloaded' && it.retryAfterMs === after;
    server.script(refuses(429, '', { 'retry-after': '60' }));
    await assert.rejects(chat(await open({}, { onRetry })), busy(60_000));
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    server.script(refuses(503, '', { 'retry-after': date }));
    await assert.rejects(chat(await open({}, { onRetry })), failedAs('upstream-failed', /status 503/));
    assert.equal(retries.length, 1);
  });

  it('is the last one after as many as were set', async () => {
    server.script(refuses(429, '', { 'retry-after-ms': '1' }));
    await assert.rejects(chat(await open({ retries: 1 }, { onRetry })), refusedAs('overloaded'));
    assert.equal(server.asked.length, 2);
    server.script(refuses(502));
    await assert.rejects(chat(await open({ retries: 0 }, { onRetry })), failedAs('upstream-failed', /status 502/));
    assert.equal(retries.length, 1);
  });

  it('is not made when the caller leaves', async () => {
    server.script(refuses(503, '', { 'retry-after': '5' }));
    const leaving = new AbortController();
    const asked = chat(await open({}, { onRetry: () => leaving.abort(new Error('gone')) }), { signal: leaving.signal });
    await assert.rejects(asked, /^Error: gone$/);
    assert.equal(server.asked.length, 1);
  });

  it('costs nothing where a server closed an idle connection', async () => {
    const upstream = await open({ retries: 0 }, { onRetry });
    const used = new Set<unknown>();
    server.script((response) => {
      const { socket } = response;
      if (used.has(socket)) response.destroy();
      else begin(response).end(HELLO);
      used.add(socket);
    });
    for (let i = 0; i < 5; i += 1) assert.equal(textOf(await chat(upstream)), 'Hello');
    assert.ok(server.asked.length > 5, 'a connection was used again, in vain');
    assert.deepEqual(retries, []);
  });

  it('goes nowhere else: another origin never hears of it', async () => {
    const elsewhere = stack.use(await startScriptedUpstream());
    server.script(refuses(307, '', { location: `${elsewhere.base}/chat/completions` }));
    await assert.rejects(
      chat(await open()),
      failedAs('upstream-refused', /another origin \(http:\/\/127\.0\.0\.1:\d+\)/),
    );
    assert.equal(elsewhere.connections(), 0);
  });

  it('follows a redirect within the origin that keeps the request, and not for ever', async () => {
    server.script(refuses(308, '', { location: '/v2/chat' }), streams(HELLO));
    assert.equal(textOf(await chat(await open())), 'Hello');
    assert.deepEqual(
      server.asked.map(({ path, body }) => [path, body.model]),
      [
        ['/v1/chat/completions', MODEL],
        ['/v2/chat', MODEL],
      ],
    );
    server.script(refuses(302, '', { location: '/login' }));
    await assert.rejects(chat(await open()), failedAs('upstream-refused', /without its body/));
    server.script(refuses(307, '', { location: '/again' }));
    await assert.rejects(chat(await open()), failedAs('upstream-refused', /again and again/));
  });
});

describe('a server that says nothing', () => {
  const waits = { firstTokenMs: 60, idleMs: 60, retries: 0 };

  it('is given up before an answer', async () => {
    server.script(() => {});
    await assert.rejects(chat(await open(waits)), failedAs('upstream-failed', /said nothing for/));
  });

  it('is given up before the first event, whatever its head says', async () => {
    server.script((response) => void begin(response).flushHeaders());
    await assert.rejects(chat(await open(waits)), failedAs('upstream-failed', /said nothing for/));
  });

  it('is given up in the middle', async () => {
    server.script((response) => void begin(response).write(events(says('half'))));
    const upstream = await open(waits);
    await assert.rejects(chat(upstream), failedAs('upstream-failed', /said nothing for/));
    await server.asked[0]?.closed;
  });

  it('is waited for while it says that it lives, as long as for a first token', async () => {
    server.script((response) => {
      begin(response).write(events(says('half')));
      const beat = setInterval(() => response.write(': ping\n\n'), 15);
      response.once('close', () => clearInterval(beat));
    });
    const from = performance.now();
    await assert.rejects(chat(await open({ ...waits, firstTokenMs: 200 })), failedAs('upstream-failed'));
    assert.ok(performance.now() - from > 190, 'longer than the silence that is allowed');
  });

  it('is given up where it does not even connect', async () => {
    const silent = net.createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    stack.defer(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const sockets = new Set<net.Socket>();
    silent.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
    // TLS that never answers.
    const opening = open({ baseUrl: `https://127.0.0.1:${port}/v1`, connectMs: 50, retries: 0 });
    await assert.rejects(opening, failedAs('upstream-failed', /no connection within 50 ms/));
    for (const socket of sockets) socket.destroy();
  });

  it('is not one that waits for a slow reader', async () => {
    server.script(streams(HELLO));
    const texts: string[] = [];
    for await (const each of (await open({ firstTokenMs: 40, idleMs: 40 })).chat(request(), asking())) {
      if (each.kind === 'text') texts.push(each.text);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    assert.deepEqual(texts, ['Hel', 'lo']);
  });
});

describe('a caller that leaves', () => {
  const endless = (response: Parameters<typeof begin>[0]) => {
    begin(response);
    const beat = setInterval(() => response.write(events(says('x'))), 5);
    response.once('close', () => clearInterval(beat));
  };
  const within100ms = async (leftAt: number) => {
    const closedAt = await server.asked.at(-1)?.closed;
    assert.ok(closedAt !== undefined && closedAt - leftAt < 100, `${closedAt} after ${leftAt}`);
  };

  it('closes the connection at once, and hears its own reason', async () => {
    server.script(endless);
    const leaving = new AbortController();
    let leftAt = 0;
    let after = 0;
    await assert.rejects(async () => {
      for await (const each of (await open()).chat(request(), asking({ signal: leaving.signal }))) {
        if (leftAt > 0) after += 1;
        if (each.kind !== 'text' || leftAt > 0) continue;
        leftAt = performance.now();
        leaving.abort(new Error('gone'));
      }
    }, /^Error: gone$/);
    assert.equal(after, 0, 'nothing is told afterwards');
    await within100ms(leftAt);
  });

  it('closes it before anything was answered too', async () => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    server.script(() => resolve());
    const leaving = new AbortController();
    const asked = chat(await open(), { signal: leaving.signal });
    await isAsked;
    const leftAt = performance.now();
    leaving.abort(new Error('gone'));
    await assert.rejects(asked, /^Error: gone$/);
    await within100ms(leftAt);
  });

  it('closes it by reading no more', async () => {
    server.script(endless);
    for await (const each of (await open()).chat(request(), asking())) if (each.kind === 'text') break;
    await within100ms(performance.now());
  });

  it('closes it where a stop string was found that the server ignores', async () => {
    server.script(endless);
    const deltas = await chat(await open(), {}, { stop: 'xxx' });
    assert.deepEqual([textOf(deltas), deltas.at(-1)], ['', { kind: 'end', reason: 'stop' }]);
    await within100ms(performance.now());
  });

  it('asks for nothing when it left before', async () => {
    await assert.rejects(chat(await open(), { signal: AbortSignal.abort(new Error('gone')) }), /^Error: gone$/);
    assert.equal(server.asked.length, 0);
  });

  it('loses its place in the line, and nobody else does', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    server.script(async (response) => {
      await go;
      begin(response).end(HELLO);
    });
    const upstream = await open({ places: 1 });
    const leaving = new AbortController();
    const first = chat(upstream);
    const second = chat(upstream, { signal: leaving.signal });
    const third = chat(upstream);
    leaving.abort(new Error('gone'));
    await assert.rejects(second, /^Error: gone$/);
    resolve();
    assert.deepEqual([textOf(await first), textOf(await third)], ['Hello', 'Hello']);
    assert.equal(server.asked.length, 2);
  });
});

describe('an upstream in use', () => {
  it('makes as many answers at a time as it has places', async () => {
    let inside = 0;
    let most = 0;
    server.script(async (response) => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      begin(response).end(HELLO);
    });
    const upstream = await open({ places: 3 });
    await Promise.all(Array.from({ length: 20 }, (_, seed) => chat(upstream, { seed })));
    assert.equal(most, 3);
  });

  it('makes them in the order in which they were asked for', async () => {
    server.script(streams(HELLO));
    const upstream = await open({ places: 1 });
    const seeds = Array.from({ length: 10 }, (_, seed) => seed);
    await Promise.all(seeds.map((seed) => chat(upstream, { seed })));
    assert.deepEqual(
      server.asked.map(({ body }) => body.seed),
      seeds,
    );
  });

  it('gives a place back after every kind of end', async () => {
    const upstream = await open({ places: 1, retries: 0 });
    server.script(refuses(500), streams(events(says('x'))), streams('data: no\n\n'), streams(HELLO));
    for (let i = 0; i < 3; i += 1) await assert.rejects(chat(upstream));
    for await (const each of upstream.chat(request(), asking())) if (each.kind === 'begin') break;
    assert.equal(textOf(await chat(upstream)), 'Hello');
  });

  it('uses its connections again', async () => {
    server.script(streams(HELLO));
    const upstream = await open();
    const before = server.connections();
    for (let i = 0; i < 10; i += 1) await chat(upstream);
    assert.ok(server.connections() - before <= 1, `${server.connections() - before} connections`);
  });

  it('ends everything when it is closed', async () => {
    server.script((response) => void begin(response).write(events(says('half'))));
    const upstream = await open({ places: 1 });
    const { promise: hasText, resolve } = Promise.withResolvers<void>();
    const running = (async () => {
      for await (const each of upstream.chat(request(), asking())) if (each.kind === 'text') resolve();
    })();
    const waiting = chat(upstream);
    await hasText;
    const ended = Promise.all([
      assert.rejects(running, failedAs('upstream-failed')),
      assert.rejects(waiting, failedAs('upstream-failed', /not used any more/)),
    ]);
    await upstream[Symbol.asyncDispose]();
    await ended;
    await assert.rejects(chat(upstream), failedAs('upstream-failed', /not used any more/));
    assert.equal(server.asked.length, 1);
  });
});

describe('vectors of an upstream', () => {
  const signal = new AbortController().signal;
  const gives = (data: unknown, usage: unknown = { prompt_tokens: 5, total_tokens: 5 }) =>
    refuses(200, { object: 'list', data, usage }, { 'content-type': 'application/json' });

  it('are in the order of their inputs, and of length 1', async () => {
    server.script(
      gives([
        { index: 1, embedding: [0, 2] },
        { index: 0, embedding: [3, 4] },
      ]),
    );
    const { vectors, promptTokens } = await (await open()).embed(['a', 'b'], signal);
    assert.deepEqual(vectors, [Float32Array.of(0.6, 0.8), Float32Array.of(0, 1)]);
    assert.equal(promptTokens, 5);
    assert.deepEqual(server.asked[0]?.body, { model: MODEL, input: ['a', 'b'], encoding_format: 'float' });
  });

  it('are asked for in batches', async () => {
    server.script((response, { body }) => {
      const data = (body.input as number[][]).map(([token = 0], index) => ({ index, embedding: [1, token] }));
      response.end(JSON.stringify({ data, usage: { prompt_tokens: data.length } }));
    });
    const inputs = Array.from({ length: 130 }, (_, at) => [at]);
    const { vectors, promptTokens } = await (await open()).embed(inputs, signal);
    assert.deepEqual([vectors.length, promptTokens], [130, 130]);
    for (const [at, [x = 0, y = 0] = []] of vectors.entries()) assert.ok(Math.abs(y / x - at) < 0.01, `${at}`);
    assert.deepEqual(
      server.asked.map(({ body }) => body.input.length),
      [64, 64, 2],
    );
  });

  it('that are missing or broken are an error', async () => {
    const broken = [
      [],
      [{ index: 0, embedding: [1] }],
      [
        { index: 0, embedding: [] },
        { index: 1, embedding: [1] },
      ],
      [
        { index: 0, embedding: ['1'] },
        { index: 1, embedding: [1] },
      ],
      [
        { index: 0, embedding: [1] },
        { index: 1, embedding: [1, 2] },
      ],
    ];
    for (const data of broken) {
      server.script(gives(data));
      await assert.rejects((await open()).embed(['a', 'b'], signal), failedAs('upstream-failed', /vectors/));
    }
    server.script(refuses(200, 'nonsense'));
    await assert.rejects((await open()).embed(['a'], signal), failedAs('upstream-failed', /no JSON/));
  });
});

async function unusedPort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
