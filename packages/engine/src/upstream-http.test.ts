import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { CompletionError } from '@strata/inference';
import { begin, HELLO, MODEL, refuses, startScriptedUpstream, streams } from './test/scripted-upstream.ts';
import { chat, failedAs, KEY, refusedAs, textOf, useUpstream } from './test/upstream-harness.ts';

const world = useUpstream();

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
      world.server.script(refuses(status, body));
      await assert.rejects(chat(await world.open()), expected);
      assert.equal(world.server.asked.length, 1);
    });
  }

  it('keeps its parameter', async () => {
    world.server.script(refuses(400, error('bad', { param: 'top_p' })));
    await assert.rejects(chat(await world.open()), (it) => it instanceof CompletionError && it.param === 'top_p');
  });

  it('is short, and never holds our key', async () => {
    world.server.script(refuses(400, error(`${KEY} ${'x\n'.repeat(1_000)}`)));
    await assert.rejects(chat(await world.open()), (it: Error) => {
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
    world.server.script(
      refuses(503, '', { connection: 'close' }),
      (response) => void response.destroy(),
      streams(HELLO),
    );
    assert.equal(textOf(await chat(await world.open({}, { onRetry }))), 'Hello');
    assert.deepEqual(
      retries.map(({ waitMs }) => waitMs),
      [125, 250],
    );
    assert.equal(world.server.asked.length, 3);
  });

  it('waits as long as the server within bounds', async () => {
    world.server.script(refuses(429, '', { 'retry-after-ms': '30' }), streams(HELLO));
    await chat(await world.open({}, { onRetry }));
    assert.deepEqual(
      retries.map(({ waitMs }) => waitMs),
      [30],
    );
    const busy = (after: number) => (it: unknown) =>
      it instanceof CompletionError && it.kind === 'overloaded' && it.retryAfterMs === after;
    world.server.script(refuses(429, '', { 'retry-after': '60' }));
    await assert.rejects(chat(await world.open({}, { onRetry })), busy(60_000));
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    world.server.script(refuses(503, '', { 'retry-after': date }));
    await assert.rejects(chat(await world.open({}, { onRetry })), failedAs('upstream-failed', /status 503/));
    assert.equal(retries.length, 1);
  });

  it('is the last one after as many as were set', async () => {
    world.server.script(refuses(429, '', { 'retry-after-ms': '1' }));
    await assert.rejects(chat(await world.open({ retries: 1 }, { onRetry })), refusedAs('overloaded'));
    assert.equal(world.server.asked.length, 2);
    world.server.script(refuses(502));
    await assert.rejects(
      chat(await world.open({ retries: 0 }, { onRetry })),
      failedAs('upstream-failed', /status 502/),
    );
    assert.equal(retries.length, 1);
  });

  it('is not made when the caller leaves', async () => {
    world.server.script(refuses(503, '', { 'retry-after': '5' }));
    const leaving = new AbortController();
    const asked = chat(await world.open({}, { onRetry: () => leaving.abort(new Error('gone')) }), {
      signal: leaving.signal,
    });
    await assert.rejects(asked, /^Error: gone$/);
    assert.equal(world.server.asked.length, 1);
  });

  it('costs nothing where a server closed an idle connection', async () => {
    const upstream = await world.open({ retries: 0 }, { onRetry });
    const used = new Set<unknown>();
    world.server.script((response) => {
      const { socket } = response;
      if (used.has(socket)) response.destroy();
      else begin(response).end(HELLO);
      used.add(socket);
    });
    for (let i = 0; i < 5; i += 1) assert.equal(textOf(await chat(upstream)), 'Hello');
    assert.ok(world.server.asked.length > 5, 'a connection was used again, in vain');
    assert.deepEqual(retries, []);
  });

  it('goes nowhere else: another origin never hears of it', async () => {
    const elsewhere = world.stack.use(await startScriptedUpstream());
    world.server.script(refuses(307, '', { location: `${elsewhere.base}/chat/completions` }));
    await assert.rejects(
      chat(await world.open()),
      failedAs('upstream-refused', /another origin \(http:\/\/127\.0\.0\.1:\d+\)/),
    );
    assert.equal(elsewhere.connections(), 0);
  });

  it('follows a redirect within the origin that keeps the and not for ever', async () => {
    world.server.script(refuses(308, '', { location: '/v2/chat' }), streams(HELLO));
    assert.equal(textOf(await chat(await world.open())), 'Hello');
    assert.deepEqual(
      world.server.asked.map(({ path, body }) => [path, body.model]),
      [
        ['/v1/chat/completions', MODEL],
        ['/v2/chat', MODEL],
      ],
    );
    world.server.script(refuses(302, '', { location: '/login' }));
    await assert.rejects(chat(await world.open()), failedAs('upstream-refused', /without its body/));
    world.server.script(refuses(307, '', { location: '/again' }));
    await assert.rejects(chat(await world.open()), failedAs('upstream-refused', /again and again/));
  });
});
