// The server without a socket: input, answers, problems, keys, quota, methods, receipts.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Metrics, route } from './index.ts';
import { parseInput } from './input.ts';
import { ERRORS, type ErrorCode, Refusal } from './problems/errors.ts';
import { problemOf } from './problems/problem.ts';
import { createTestServer, LIMITED_KEY, plain, serverOf, UNLIMITED_KEY } from './test/test-server.ts';

const unlimited = { 'x-stack-key': UNLIMITED_KEY };
const SECURE = {
  ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

describe('the server', () => {
  let server: ReturnType<typeof createTestServer>;
  beforeEach(() => {
    server = createTestServer();
  });
  type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'PUT' | 'POST';
  const get = async (url: string, headers: Record<string, string> = unlimited, method: Method = 'GET') => {
    const response = await server.fastify.inject({ method, url, headers });
    const { statusCode: status, headers: sent, body: text } = response;
    const isJson = String(sent['content-type'] ?? '').includes('json') && text !== '';
    return { status, headers: sent, text, body: isJson ? response.json() : undefined };
  };

  it('answers with the notice, the data and a receipt, and from memory the second time', async () => {
    const first = await get('/things/a');
    assert.deepEqual([first.status, first.body._alpha, first.body.id, first.body.limit], [200, true, 'a', 50]);
    assert.match(first.body.provenance.receipt_id, /^rwr_/);
    assert.equal((await get('/things/a')).text, first.text);
    assert.equal(server.app.calls, 1);
    server.answers.invalidate('thing:a');
    assert.notEqual((await get('/things/a')).body.provenance.receipt_id, first.body.provenance.receipt_id);
  });

  it('responds 304 to a client that has the answer', async () => {
    const { headers } = await get('/things/a');
    for (const tag of [String(headers.etag), `W/${headers.etag}`, `"other", ${headers.etag}`, '*']) {
      const again = await get('/things/a', { ...unlimited, 'if-none-match': tag });
      assert.deepEqual([again.status, again.text], [304, ''], tag);
    }
    assert.equal((await get('/things/a', { ...unlimited, 'if-none-match': '"other"' })).status, 200);
  });

  it('counts requests of a limited key, cached answers and HEAD too, and refuses more until midnight', async () => {
    const limited = { 'x-stack-key': LIMITED_KEY };
    const { etag } = (await get('/things/a')).headers;
    const ask = async (tag: unknown, method: 'GET' | 'HEAD' = 'GET') => {
      const { status, headers } = await get('/things/a', { ...limited, 'if-none-match': String(tag) }, method);
      return `${status},${headers['x-ratelimit-remaining']}`;
    };
    const answered = [];
    for (const method of ['GET', 'HEAD', 'GET'] as const) answered.push(await ask('"old"', method), await ask(etag));
    assert.equal(answered.join(' '), '200,2 304,2 200,1 304,1 200,0 304,0');
    server.answers.invalidate('thing:a');
    assert.equal(await ask(etag), '429,0');
    const { status, headers, body } = await get('/things/a', limited);
    const { 'retry-after': after, 'ratelimit-policy': policy, ratelimit } = headers;
    assert.deepEqual([status, body.code, after], [429, 'quota_exceeded', `${6 * 3_600}`]);
    assert.deepEqual([policy, ratelimit], ['"free";q=3;w=86400', '"free";r=0;t=21600']);
  });

  it('lists each parameter that cannot be used, or is unknown', async () => {
    for (const number of ['0', '1001', 'abc', '', 'NaN', '1.5', '5&limit=6', '1e999', '9'.repeat(400)]) {
      const { status, body } = await get(`/things/a?limit=${number}`);
      const found = [status, body.code, body.errors?.[0]?.field];
      assert.deepEqual(found, [400, 'invalid_parameter', 'limit'], number.slice(0, 30));
    }
    const { body } = await get('/things/a?nonsense=1&__proto__=x&constructor=y');
    const fields = body.errors.map((each: { field: string }) => each.field);
    assert.deepEqual(fields, ['nonsense', '__proto__', 'constructor']);
    assert.equal((await get(`/things/${'a'.repeat(41)}`)).body.errors[0].field, 'id');
  });

  it('publishes nothing of a bug but the id of the request', async () => {
    const { status, text, body, headers } = await get('/things/bug', { ...unlimited, 'x-request-id': 'request-0001' });
    assert.deepEqual([status, body.code], [500, 'internal_error']);
    assert.deepEqual([body.request_id, headers['x-request-id']], ['request-0001', 'request-0001']);
    assert.ok(!text.includes('secret'));
    const odd = await get('/things/a', { ...unlimited, 'x-request-id': 'bad id\t' });
    assert.match(String(odd.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  });

  it('gives declared refusals their status, title and problem type', async () => {
    const { status, headers, body } = await get('/things/none');
    const expected = [404, 'unknown_domain', ERRORS.unknown_domain.title, 'No such thing.'];
    assert.deepEqual([status, body.code, body.title, body.detail], expected);
    assert.match(String(headers['content-type']), /^application\/problem\+json/);
    assert.match(body.request_id, /^[0-9a-f-]{36}$/);
  });

  it('responds 404 to unknown paths and 405 to other methods, whatever body they have', async () => {
    assert.equal((await get('/nowhere')).body.code, 'not_found');
    const head = await get('/nowhere', {}, 'HEAD');
    assert.deepEqual([head.status, head.text, (await get('/things', {}, 'HEAD')).status], [404, '', 405]);
    for (const type of [undefined, 'application/json', 'text/plain']) {
      const headers = { ...unlimited, ...(type === undefined ? {} : { 'content-type': type }) };
      const reply = await server.fastify.inject({ method: 'PUT', url: '/things/a', payload: '{', headers });
      const found = [reply.statusCode, reply.json().code, reply.headers.allow];
      assert.deepEqual(found, [405, 'method_not_allowed', 'GET, HEAD, OPTIONS']);
    }
    const options = await get('/things/a', {}, 'OPTIONS');
    assert.equal(options.status, 204);
    assert.match(String(options.headers['access-control-allow-headers']), /x-stack-key/);
  });

  it('takes a body or none, but not one that is too large, invalid or of another type', async () => {
    const post = (payload: string, type: string) =>
      server.fastify.inject({ method: 'POST', url: '/things', payload, headers: { 'content-type': type } });
    assert.equal((await server.fastify.inject({ method: 'POST', url: '/things' })).statusCode, 201);
    const poisoned = ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}', '{"a":', '\u0000', ''];
    const json = 'application/json';
    for (const [payload, type, status, code] of [
      ['{}', json, 201, undefined],
      ...['{', ...poisoned].map((text) => [text, json, 400, 'invalid_parameter'] as const),
      [`"${'x'.repeat(70_000)}"`, json, 413, 'payload_too_large'],
      ['<a/>', 'application/xml', 415, 'unsupported_media_type'],
      ['{}', 'text/plain', 415, 'unsupported_media_type'],
    ] as const) {
      const response = await post(payload, type);
      assert.deepEqual([response.statusCode, response.json().code], [status, code], `${type} ${payload.slice(0, 20)}`);
    }
    assert.equal(({} as { a?: unknown }).a, undefined);
  });

  it('waits for headers, requests, idle clients and the next request as long as it is meant to', () => {
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = server.fastify.server;
    assert.deepEqual([headersTimeout, requestTimeout, timeout, keepAliveTimeout], [10_000, 15_000, 60_000, 65_000]);
  });

  it('sends immutable bytes as they are', async () => {
    const { text, headers } = await get('/files/a/b/c', {});
    assert.equal(text, 'a/b/c');
    assert.match(String(headers['cache-control']), /immutable/);
  });

  it('still sends a problem that cannot be signed', async () => {
    const full = () => Promise.reject(new Error('the disk is full'));
    server = createTestServer({ notary: { sign: full, signOnce: full, signBytes: full } });
    const { status, body, text } = await get('/things/a');
    assert.deepEqual([status, body.code], [500, 'internal_error']);
    assert.ok(!text.includes('disk'));
  });

  it('logs no key, and the path of a refused request as it was sent', async () => {
    const lines: string[] = [];
    server = createTestServer({ log: { write: (line: string) => void lines.push(line) } });
    await get('/things/bug', { ...unlimited, authorization: 'Bearer secret-token' });
    await get('/things/a?%1b[31m%c2%9b2J%0a', {});
    const paths = lines.map((line) => JSON.parse(line).path);
    assert.deepEqual(paths, ['/things/bug', '/things/a?%1b[31m%c2%9b2J%0a']);
    assert.ok(!lines.join('').includes(UNLIMITED_KEY) && !lines.join('').includes('secret-token'));
  });

  it('lets pages of any site read answers and problems, each with a receipt that verifies', async () => {
    const signed = ['GET /things/a', 'GET /things/none', 'GET /things/bug', 'GET /things/a?limit=0', 'GET /%E0%A4%A'];
    signed.push('GET /nowhere', 'PUT /things/a', 'POST /things');
    for (const line of [...signed, 'OPTIONS /things/a', 'GET /files/x']) {
      const [method, url = ''] = line.split(' ') as [Method, string];
      const { headers, body } = await get(url, unlimited, method);
      assert.equal(headers['access-control-allow-origin'], '*', line);
      assert.partialDeepStrictEqual(headers, SECURE, line);
      assert.ok(headers['x-request-id'], line);
      if (!signed.includes(line)) continue;
      assert.equal(await server.verify(body), true, line);
      assert.equal(await server.verify({ ...body, _notice: 'changed' }), false, `${line}, changed`);
    }
    assert.equal(await server.verify((await get('/nowhere', {})).body), true, 'without a key');
  });
});

describe('one path with several methods', () => {
  const schema = z.object({ secret: z.string() });
  const contract = { ...plain, path: '/keys' } as const;
  const cache = () => ({ key: 'keys', tags: [] });
  const signed = { kind: 'signed', schema } as const;
  const none = (_app: object) => ({ secret: 'none' });
  const getKeys = route({ ...contract, output: signed, cache }, none);
  const once = (_app: object) => ({ secret: 'shown once' });
  const postKey = route({ ...contract, method: 'POST', output: { ...signed, status: 201 } }, once);

  it('never answers POST with what is ready for GET, and lets no cache keep what POST made', async () => {
    await using server = serverOf([getKeys, postKey]);
    for (let i = 0; i < 2; i += 1) assert.equal((await server.fastify.inject('/keys')).json().secret, 'none');
    const made = await server.fastify.inject({ method: 'POST', url: '/keys', headers: { 'if-none-match': '*' } });
    assert.deepEqual([made.statusCode, made.json().secret], [201, 'shown once']);
    assert.deepEqual([made.headers['cache-control'], made.headers.etag], ['no-store', undefined]);
  });

  it('is counted once for each response, cached ones and refusals too, each with the security headers', async () => {
    const metrics = new Metrics();
    await using server = serverOf([getKeys, postKey], { metrics });
    for (const line of ['GET', 'GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'GET /no', 'GET /%zz']) {
      const [method, url = '/keys'] = line.split(' ') as ['GET', string?];
      const { headers } = await server.fastify.inject({ method, url });
      assert.partialDeepStrictEqual(headers, SECURE, line);
      for (const name of ['server', 'x-powered-by', 'set-cookie', 'strict-transport-security'])
        assert.equal(headers[name], undefined, `${line}: ${name}`);
    }
    const { values } = (await metrics.registry.getSingleMetric('strata_http_requests_total')?.get()) ?? assert.fail();
    const counts = values.map(({ labels, value }) => [...Object.values(labels), value].join(' '));
    const refusals = ['* /keys 405 1', '* unmatched 400 1', '* unmatched 404 1'];
    assert.deepEqual(counts.sort(), [...refusals, 'GET /keys 200 3', 'OPTIONS /keys 204 1', 'POST /keys 201 1']);
  });

  it('does not start when answers to anything but GET are to be kept', () => {
    const kept = { ...postKey, contract: { ...postKey.contract, cache } };
    assert.throws(() => serverOf([kept]), /only GET responses are cached/);
  });
});

const contract = {
  params: z.object({ domain: z.string().min(3) }),
  query: z.object({ limit: z.coerce.number().int().min(1).default(50), q: z.string().optional() }),
};

function parse(params: unknown, query: unknown, of: Parameters<typeof parseInput>[0] = contract) {
  return parseInput(of, { params, query } as FastifyRequest);
}

function fieldsRefused(params: unknown, query: unknown): string[] {
  try {
    parse(params, query);
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'invalid_parameter');
    return error.errors.map((each) => each.field);
  }
  return [];
}

it('the input of a request holds path and query, parsed, with defaults, and nothing else', () => {
  const domain = 'a.example';
  assert.deepEqual(parse({ domain }, { limit: '7', q: 'x' }), { domain, limit: 7, q: 'x' });
  assert.deepEqual(parse({ domain }, {}), { domain, limit: 50 });
  assert.deepEqual(parse({ domain }, { q: 'x' }, { ignoresUnknown: true }), {});
});

it('the input of a request names every field that cannot be used, once', () => {
  assert.deepEqual(fieldsRefused({ domain: 'a' }, { limit: '0', q: ['x', 'y'] }), ['domain', 'q', 'limit']);
  assert.deepEqual(fieldsRefused({ domain: 'abc' }, { limit: ['1', '2'], Limit: '1' }), ['Limit', 'limit']);
});

it('the input of a request reads only what the request itself holds, never what its objects inherit', () => {
  const query = z.object({ constructor: z.string().optional(), toString: z.string().optional() });
  assert.deepEqual(parse({}, {}, { query }), {});
  assert.deepEqual(parse({ domain: 'abc' }, Object.create({ limit: '9' })), { domain: 'abc', limit: 50 });
  assert.deepEqual(fieldsRefused({ domain: 'abc' }, JSON.parse('{"__proto__":"x"}')), ['__proto__']);
});

it('the mapping of errors to problems gives each code of the table its status, its title and a type that any server resolves on itself', () => {
  const titles = new Set<string>();
  for (const [code, { status, title }] of Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][]) {
    const refusal = new Refusal(code, 'Because.', { headers: { 'retry-after': '3' } });
    const { problem, headers } = problemOf(refusal, 'request-1');
    const type = `/problems/${code}`;
    assert.deepEqual(problem, { type, title, status, detail: 'Because.', code, request_id: 'request-1' });
    assert.equal(new URL(type, 'https://api.example/stack/v1/x').href, `https://api.example/problems/${code}`);
    assert.deepEqual(headers, { 'retry-after': '3' });
    assert.ok(status >= 400 && status < 600);
    titles.add(title);
  }
  assert.equal(titles.size, Object.keys(ERRORS).length, 'each has a title of its own');
});

it('the mapping of errors to problems gives invalid_parameter for a URL that Fastify cannot read, without its message', () => {
  const { problem } = problemOf(Object.assign(new Error('FST: internals'), { code: 'FST_ERR_BAD_URL' }), 'r');
  assert.equal(problem.code, 'invalid_parameter');
  assert.ok(!problem.detail.includes('internals'));
});

it('the mapping of errors to problems reports unavailable with Retry-After for failures of the machine, without their cause', () => {
  const full = new Error('/secret/path: the disk is full');
  const detailOf = (error: unknown) => (error === full ? 'No writes.' : undefined);
  const { problem, headers } = problemOf(full, 'r', detailOf);
  const { status, code, detail } = problem;
  assert.deepEqual([status, code, detail, headers], [503, 'unavailable', 'No writes.', { 'retry-after': '30' }]);
  assert.equal(problemOf(new Error('a bug'), 'r', detailOf).problem.status, 500);
});

it('the mapping of errors to problems reveals nothing about other errors', () => {
  const secret = 'password=1234';
  const errors = [{}, { code: 'toString', statusCode: 200 }, { code: '__proto__' }].map((more) =>
    Object.assign(new Error(secret), more),
  );
  for (const error of [...errors, secret, { message: secret }, undefined, null, 1234]) {
    const { problem } = problemOf(error, 'r');
    assert.deepEqual([problem.status, problem.code], [500, 'internal_error']);
    assert.ok(!JSON.stringify(problem).includes('1234'));
  }
});
