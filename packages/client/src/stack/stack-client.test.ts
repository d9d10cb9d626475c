// The client with faulty servers; tests/full/clients/client.test.ts uses the real services.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { InferenceClient, StackClient, StackProblem } from '../index.ts';
import { type Answering, rejectionOf, STREAM, sends, startHttpServer } from '../test/http-server.ts';

const stats = async (answering: Answering, options: { timeoutMs?: number; key?: string } = {}) => {
  await using server = await startHttpServer(answering);
  const client = new StackClient({ baseUrl: server.baseUrl, ...options });
  return await rejectionOf(client.get('/stack/v1/stats'), StackProblem);
};

it('a base address must not contain a password, which the message does not repeat', () => {
  for (const baseUrl of ['https://me:s3cret@strata.test', 'https://s3cret@a.test', 'ftp://me:s3cret@a.test']) {
    const isDiscreet = (error: unknown) => error instanceof TypeError && !/s3cret/.test(error.message);
    assert.throws(() => new StackClient({ baseUrl }), isDiscreet);
    assert.throws(() => new InferenceClient({ baseUrl }), isDiscreet);
  }
  assert.throws(() => new StackClient({ baseUrl: 'strata.test' }), /not a web address: strata.test/);
  assert.throws(() => new StackClient({ baseUrl: 'javascript:alert(1)' }), TypeError);
});

const notUtf8 = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d);
const bodies = ['<html>', '', '{"domains":', '[]', 'null', '"{}"', notUtf8];
for (const [i, answering] of [...bodies.map((body) => sends(body)), sends('data: {}\n\n', 200, STREAM)].entries())
  it(`an invalid answer is rejected when it is ${bodies[i] ?? 'a stream'}`, async () => {
    const problem = await stats(answering);
    assert.deepEqual([problem.status, problem.code], [200, 'invalid_answer']);
  });

it('an invalid answer is rejected when it is too long, without reading the rest', async () => {
  function* endless() {
    for (;;) yield Buffer.alloc(1024 * 1024, ' ');
  }
  const problem = await stats((_request, response) => Readable.from(endless()).pipe(response));
  assert.deepEqual([problem.status, problem.code], [200, 'invalid_answer']);
  assert.match(problem.detail, /more than 67108864 bytes/);
});

it('an invalid answer is rejected when it is not the requested CSV', async () => {
  await using server = await startHttpServer(sends('<html>', 200, { 'content-type': 'text/html' }));
  const problem = await rejectionOf(new StackClient(server).get('/stack/v1/security/export.csv'), StackProblem);
  assert.equal(problem.code, 'invalid_answer');
});

it('an answer that never arrives ends with a timeout', async () => {
  const problem = await stats(() => {}, { timeoutMs: 50 });
  assert.deepEqual([problem.status, problem.code], [0, 'network']);
  assert.match(problem.detail, /no complete response after 0.05 s/);
  const slow = await stats((_request, response) => response.writeHead(200).write('{'), { timeoutMs: 50 });
  assert.equal(slow.code, 'network');
});

it('no answer is a network problem where nothing listens, the connection breaks, or the service redirects', async () => {
  const server = await startHttpServer(sends('{}'));
  await server[Symbol.asyncDispose]();
  const problem = await rejectionOf(new StackClient(server).get('/health'), StackProblem);
  assert.deepEqual([problem.status, problem.code], [0, 'network']);
  assert.match(problem.detail, /nothing listens there/);
  assert.ok(problem.cause instanceof TypeError);
  assert.equal((await stats((request) => request.socket.destroy())).code, 'network');
  await using elsewhere = await startHttpServer(sends('{}'));
  assert.equal((await stats(sends('', 302, { location: elsewhere.baseUrl }), { key: 'ssk_1' })).code, 'network');
  assert.equal(elsewhere.requests.length, 0);
});

it('a request rejects with the reason of the signal, aborted before or during the request', async () => {
  await using server = await startHttpServer(() => {});
  const client = new StackClient(server);
  await assert.rejects(client.get('/health', {}, { signal: AbortSignal.abort(new Error('before')) }), /before/);
  assert.equal(server.requests.length, 0);
  const stop = new AbortController();
  const asked = client.get('/health', {}, { signal: stop.signal });
  stop.abort(new Error('during'));
  await assert.rejects(asked, /during/);
});

describe('a problem', () => {
  it('is parsed from any server, also with invalid members', async () => {
    const gateway = await stats(sends('<h1>Bad gateway</h1>', 502, { 'retry-after': '7' }));
    assert.deepEqual([gateway.status, gateway.code, gateway.retryAfterSeconds], [502, 'invalid_answer', 7]);
    const errors = [null, 1, { field: 'q' }, { field: 'q', message: 'no' }];
    const odd = JSON.stringify({ code: 7, title: ['x'], detail: null, errors });
    const problem = await stats(sends(odd, 400, { 'retry-after': 'soon', 'x-ratelimit-reset': '-1' }));
    const nothing = { code: 'invalid_answer', detail: '', retryAfterSeconds: null, quota: null };
    assert.partialDeepStrictEqual({ ...problem }, { ...nothing, errors: [{ field: 'q', message: 'no' }] });
    assert.equal(problem.errors.length, 1);
    assert.equal((await stats(sends('{"errors":{}}', 400))).errors.length, 0);
  });

  it('has the retry time, in seconds or as a date', async () => {
    const after = async (value: string) => (await stats(sends('{}', 503, { 'retry-after': value }))).retryAfterSeconds;
    const seconds = await after(new Date(Date.now() + 90_000).toUTCString());
    assert.ok(seconds !== null && seconds > 80 && seconds <= 91, String(seconds));
    assert.equal(await after('Mon, 01 Jan 2001 00:00:00 GMT'), 0);
    assert.equal(await after('9'.repeat(400)), null);
  });

  it('has the quota from either kind of header', async () => {
    const draft = { ratelimit: '"free";r=3;t=60', 'ratelimit-policy': '"free";q=50;w=86400' };
    const { resetsAt, ...quota } = (await stats(sends('{}', 429, draft))).quota ?? assert.fail();
    assert.deepEqual(quota, { limit: 50, remaining: 3 });
    const inMs = Number(resetsAt) - Date.now();
    assert.ok(inMs > 50_000 && inMs <= 60_000);
  });

  it('is raised before the request for an invalid key or value', async () => {
    await using server = await startHttpServer(sends('{}'));
    const odd = await rejectionOf(new StackClient({ ...server, key: 'ключ' }).get('/stack/v1/stats'), StackProblem);
    assert.deepEqual([odd.status, odd.code], [401, 'invalid_key']);
    for (const domain of ['', '.', '..', '%2e%2E']) {
      const ask = new StackClient(server).get('/stack/v1/domains/{domain}', { path: { domain } });
      const problem = await rejectionOf(ask, StackProblem);
      assert.deepEqual([problem.code, problem.errors[0]?.field], ['invalid_parameter', 'domain']);
    }
    assert.equal(server.requests.length, 0);
  });
});

describe('addresses and pages', () => {
  const client = new StackClient({ baseUrl: 'https://strata.test/some/page?x#y' });

  it('any value is escaped, in a URL and in a shell', () => {
    const path = { provider: "a/../b?c#d'e\ud800" };
    const url = client.url('/stack/v1/providers/{provider}', { path, query: { limit: 5, offset: undefined } });
    assert.equal(url, 'https://strata.test/stack/v1/providers/a%2F..%2Fb%3Fc%23d%27e%EF%BF%BD?limit=5');
    const command = client.curl('/stack/v1/search', { query: { q: "'; rm -rf $HOME" } });
    assert.equal(command.split("'").length, 5);
  });

  it('only parameters of the service compile', () => {
    assert.equal(client.url('/stack/v1/stats'), 'https://strata.test/stack/v1/stats');
    // @ts-expect-error the domain is required
    assert.throws(() => client.url('/stack/v1/domains/{domain}'), StackProblem);
    // @ts-expect-error there is no such parameter
    client.url('/stack/v1/search', { query: { name: 'x' } });
    // @ts-expect-error there is no such category
    client.url('/stack/v1/search', { query: { category: 'weather' } });
    // @ts-expect-error there is no such path
    client.url('/stack/v1/nothing');
  });

  it('pages follow the cursor to the end, and reject an answer without a list', async () => {
    await using empty = await startHttpServer(sends('{"results":[],"next_cursor":null}'));
    assert.deepEqual(await Array.fromAsync(new StackClient(empty).pages('/stack/v1/search', {})), []);
    assert.equal(empty.requests.length, 1);
    for (const body of ['{}', '{"results":{},"next_cursor":"a"}', '{"results":[]}', '{"results":[],"next_cursor":7}']) {
      await using server = await startHttpServer(sends(body));
      const client = new StackClient(server);
      const provider = client.pages('/stack/v1/providers/{provider}', { path: { provider: 'ns1' } });
      for (const pages of [client.pages('/stack/v1/search', {}), provider])
        assert.equal((await rejectionOf(pages.next(), StackProblem)).code, 'invalid_answer');
    }
  });
});
