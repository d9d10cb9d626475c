import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { begin, HELLO, MODEL, refuses, startScriptedUpstream, streams } from './test/scripted-upstream.ts';
import { chat, failedAs, KEY, refusedAs, textOf, useUpstream } from './test/upstream-harness.ts';

describe('an error status of an upstream', () => {
  const world = useUpstream();
  const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
  const old = { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 };
  const long = 'context_length';
  const prompt = error("This model's maximum context length is 5 tokens.");
  const detail = [{ loc: ['body', 'top_p'], msg: 'too big' }];
  const wrongKey = failedAs('upstream-refused', /does not accept our key \(status 401\)$/);
  const cases: [what: string, status: number, body: unknown, expected: object][] = [
    ['a parameter', 400, error('bad', { param: 'p' }), { ...refusedAs('invalid_request', /^bad$/), param: 'p' }],
    ['context by code', 400, error('long', { code: 'context_length_exceeded' }), refusedAs(long, /^long$/)],
    ['context by type', 400, error('long', { type: 'exceed_context_size_error' }), refusedAs(long)],
    ['context by text', 400, prompt, refusedAs(long)],
    ['the old vLLM', 400, old, refusedAs('invalid_request', /^bad$/)],
    ['FastAPI', 422, { detail }, refusedAs('invalid_request', /^top_p: too big$/)],
    ['a text', 400, { error: 'bad' }, refusedAs('invalid_request', /^bad$/)],
    ['a model', 404, error('The model `m` does not exist.', { type: 'NotFoundError' }), refusedAs('model_not_found')],
    ['a path', 404, '404 page not found', refusedAs('not_found', /does not offer this/)],
    ['a size', 413, '', refusedAs('too_large')],
    ['a feature', 501, error('no embeddings'), refusedAs('unsupported_value', /no embeddings/)],
    ['our key', 401, error(`Incorrect API key: ${KEY}`), wrongKey],
    ['our rights', 403, '', failedAs('upstream-refused')],
    ['our account', 429, error('pay', { code: 'insufficient_quota' }), failedAs('upstream-refused', /out of credit/)],
    ['a crash', 500, error('boom'), failedAs('upstream-failed', /status 500: boom/)],
    ['nonsense', 418, '<html>', failedAs('upstream-failed', /status 418$/)],
  ];
  for (const [what, status, body, expected] of cases)
    it(`about ${what} (${status}) is reported to the caller or the operator, at once`, async () => {
      world.server.script(refuses(status, body));
      await assert.rejects(chat(await world.open()), expected);
      assert.equal(world.server.asked.length, 1);
    });

  it('is short, and never holds our key', async () => {
    world.server.script(refuses(400, error(`${KEY} ${'x\n'.repeat(1_000)}`)));
    await assert.rejects(chat(await world.open()), (it: Error) => {
      assert.equal(it.message.length, 300);
      for (const text of [it.message, it.stack, JSON.stringify(it), String((it.cause as Error).message)])
        assert.doesNotMatch(text ?? '', new RegExp(KEY));
      return true;
    });
  });
});

describe('another try', () => {
  const world = useUpstream();
  const waits: number[] = [];
  const onRetry = ({ waitMs }: { waitMs: number }) => void waits.push(waitMs);
  beforeEach(() => {
    waits.length = 0;
  });
  const ask = async (options = {}) => chat(await world.open(options, { onRetry }));

  it('is made while nothing was answered, later each time', async () => {
    const closes = refuses(503, '', { connection: 'close' });
    world.server.script(closes, (response) => void response.destroy(), streams(HELLO));
    assert.equal(textOf(await ask()), 'Hello');
    assert.deepEqual(waits, [125, 250]);
    assert.equal(world.server.asked.length, 3);
  });

  it('waits as long as the server asks for, up to a limit', async () => {
    world.server.script(refuses(429, '', { 'retry-after-ms': '30' }), streams(HELLO));
    await ask();
    assert.deepEqual(waits, [30]);
    world.server.script(refuses(429, '', { 'retry-after': '60' }));
    await assert.rejects(ask(), { ...refusedAs('overloaded'), retryAfterMs: 60_000 });
    world.server.script(refuses(503, '', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }));
    await assert.rejects(ask(), failedAs('upstream-failed', /status 503/));
    assert.equal(waits.length, 1);
  });

  it('is the last one after as many as were configured', async () => {
    world.server.script(refuses(429, '', { 'retry-after-ms': '1' }));
    await assert.rejects(ask({ retries: 1 }), refusedAs('overloaded'));
    assert.equal(world.server.asked.length, 2);
    world.server.script(refuses(502));
    await assert.rejects(ask({ retries: 0 }), failedAs('upstream-failed', /status 502/));
    assert.equal(waits.length, 1);
  });

  it('is not made when the caller leaves', async () => {
    world.server.script(refuses(503, '', { 'retry-after': '5' }));
    const leaving = new AbortController();
    const upstream = await world.open({}, { onRetry: () => leaving.abort(new Error('gone')) });
    await assert.rejects(chat(upstream, { signal: leaving.signal }), /^Error: gone$/);
    assert.equal(world.server.asked.length, 1);
  });

  it('costs nothing where a server closed an idle connection', async () => {
    const upstream = await world.open({ retries: 0 }, { onRetry });
    const used = new Set<unknown>();
    world.server.script((response) => {
      if (used.has(response.socket)) response.destroy();
      else begin(response).end(HELLO);
      used.add(response.socket);
    });
    for (let i = 0; i < 5; i += 1) assert.equal(textOf(await chat(upstream)), 'Hello');
    assert.ok(world.server.asked.length > 5, 'a connection was used again, in vain');
    assert.deepEqual(waits, []);
  });
});

describe('a redirect', () => {
  const world = useUpstream();

  it('to another origin is refused, and that origin receives no request', async () => {
    const elsewhere = world.stack.use(await startScriptedUpstream());
    world.server.script(refuses(307, '', { location: `${elsewhere.base}/chat/completions` }));
    const message = /another origin \(http:\/\/127\.0\.0\.1:\d+\)/;
    await assert.rejects(chat(await world.open()), failedAs('upstream-refused', message));
    assert.equal(elsewhere.connections(), 0);
  });

  it('within the origin that keeps the body is followed, up to a limit', async () => {
    world.server.script(refuses(308, '', { location: '/v2/chat' }), streams(HELLO));
    const upstream = await world.open();
    assert.equal(textOf(await chat(upstream)), 'Hello');
    const asked = world.server.asked.map(({ path, body }) => `${path} ${body.model}`);
    assert.deepEqual(asked, [`/v1/chat/completions ${MODEL}`, `/v2/chat ${MODEL}`]);
    world.server.script(refuses(302, '', { location: '/login' }));
    await assert.rejects(chat(upstream), failedAs('upstream-refused', /without its body/));
    world.server.script(refuses(307, '', { location: '/again' }));
    await assert.rejects(chat(upstream), failedAs('upstream-refused', /again and again/));
  });
});
