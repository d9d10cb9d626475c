import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { ERRORS } from './errors.ts';
import { createTestServer, LIMITED_KEY, UNLIMITED_KEY } from './test/test-server.ts';

const unlimited = { 'x-stack-key': UNLIMITED_KEY };

describe('the server', () => {
  let server: ReturnType<typeof createTestServer>;
  beforeEach(() => {
    server = createTestServer();
  });
  const get = async (
    url: string,
    headers: Record<string, string> = unlimited,
    method: 'GET' | 'HEAD' | 'OPTIONS' | 'PUT' = 'GET',
  ) => {
    const response = await server.fastify.inject({ method, url, headers });
    const isJson = String(response.headers['content-type'] ?? '').includes('json') && response.body !== '';
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: isJson ? response.json() : undefined,
    };
  };

  it('answers with the notice, the data and a receipt, and from memory the second time', async () => {
    const first = await get('/things/a');
    assert.equal(first.status, 200);
    assert.deepEqual([first.body._alpha, first.body.id, first.body.limit], [true, 'a', 50]);
    assert.match(first.body.provenance.receipt_id, /^rwr_/);
    const second = await get('/things/a');
    assert.equal(second.text, first.text);
    assert.equal(server.app.calls, 1);
    server.answers.invalidate('thing:a');
    assert.notEqual((await get('/things/a')).body.provenance.receipt_id, first.body.provenance.receipt_id);
  });

  it('says 304 to who has the answer already', async () => {
    const { headers } = await get('/things/a');
    for (const tag of [String(headers.etag), `W/${headers.etag}`, `"other", ${headers.etag}`, '*']) {
      const again = await get('/things/a', { ...unlimited, 'if-none-match': tag });
      assert.deepEqual([again.status, again.text], [304, ''], tag);
    }
    assert.equal((await get('/things/a', { ...unlimited, 'if-none-match': '"other"' })).status, 200);
  });

  it('needs a key, once, and one that is known', async () => {
    const missing = await get('/things/a', {});
    assert.deepEqual([missing.status, missing.body.code], [401, 'missing_key']);
    assert.match(String(missing.headers['www-authenticate']), /X-Stack-Key/);
    for (const key of ['ssk_wrong', `${UNLIMITED_KEY}, ${UNLIMITED_KEY}`, 'x'.repeat(500)]) {
      const { status, body } = await get('/things/a', { 'x-stack-key': key });
      assert.deepEqual([status, body.code], [401, 'invalid_key'], key.slice(0, 20));
    }
  });

  it('counts the requests of a limited key, cached answers too, and refuses beyond the quota until midnight', async () => {
    const limited = { 'x-stack-key': LIMITED_KEY };
    const remaining = [];
    for (let i = 0; i < 3; i += 1) remaining.push((await get('/things/a', limited)).headers['x-ratelimit-remaining']);
    assert.deepEqual(remaining, ['2', '1', '0']);
    const { status, headers, body } = await get('/things/a', limited);
    assert.deepEqual([status, body.code], [429, 'quota_exceeded']);
    assert.equal(headers['retry-after'], String(6 * 3_600));
    assert.equal(headers['ratelimit-policy'], '"free";q=3;w=86400');
    assert.equal(headers.ratelimit, '"free";r=0;t=21600');
  });

  it('lists every parameter that cannot be used, ignores those that it does not know', async () => {
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=abc',
      'limit=',
      'limit=NaN',
      'limit=1.5',
      'limit=5&limit=6',
      'limit=1e999',
      `limit=${'9'.repeat(400)}`,
    ]) {
      const { status, body } = await get(`/things/a?${query}`);
      assert.deepEqual(
        [status, body.code, body.errors?.[0]?.field],
        [400, 'invalid_parameter', 'limit'],
        query.slice(0, 30),
      );
    }
    assert.equal((await get('/things/a?nonsense=1&__proto__=x&constructor=y')).status, 200);
    assert.equal((await get(`/things/${'a'.repeat(41)}`)).body.errors[0].field, 'id');
  });

  it('tells of a bug only that there is one, and its id', async () => {
    const { status, text, body, headers } = await get('/things/bug', { ...unlimited, 'x-request-id': 'request-0001' });
    assert.deepEqual(
      [status, body.code, body.request_id, headers['x-request-id']],
      [500, 'internal_error', 'request-0001', 'request-0001'],
    );
    assert.ok(!text.includes('secret'));
  });

  it('gives declared refusals their status, a receipt and a problem type', async () => {
    const { status, headers, body } = await get('/things/none');
    assert.deepEqual(
      [status, body.code, body.title, body.detail],
      [404, 'unknown_domain', ERRORS.unknown_domain.title, 'There is none.'],
    );
    assert.match(String(headers['content-type']), /^application\/problem\+json/);
    assert.match(body.provenance.signature, /^ed25519:/);
    assert.match(body.request_id, /^[0-9a-f-]{36}$/);
    assert.notEqual(
      (await get('/things/a', { ...unlimited, 'x-request-id': 'bad id\t' })).headers['x-request-id'],
      'bad id\t',
    );
  });

  it('knows what is nowhere, and which methods are allowed where something is', async () => {
    assert.equal((await get('/nowhere')).body.code, 'not_found');
    const { status, headers, body } = await get('/things/a', unlimited, 'PUT');
    assert.deepEqual([status, body.code, headers.allow], [405, 'method_not_allowed', 'GET, HEAD, OPTIONS']);
    const options = await get('/things/a', {}, 'OPTIONS');
    assert.equal(options.status, 204);
    assert.match(String(options.headers['access-control-allow-headers']), /x-stack-key/);
  });

  it('answers HEAD like GET, without the body', async () => {
    const { status, headers, text } = await get('/things/a', unlimited, 'HEAD');
    assert.deepEqual([status, text], [200, '']);
    assert.ok(headers.etag);
  });

  it('takes a body or none, but not one that is too large, broken or of another type', async () => {
    const post = (payload: string, type: string) =>
      server.fastify.inject({ method: 'POST', url: '/things', payload, headers: { 'content-type': type } });
    assert.equal((await server.fastify.inject({ method: 'POST', url: '/things' })).statusCode, 201);
    assert.equal((await post('{}', 'application/json')).statusCode, 201);
    for (const [payload, type, status] of [
      ['{', 'application/json', 400],
      [`"${'x'.repeat(70_000)}"`, 'application/json', 413],
      ['<a/>', 'application/xml', 415],
    ] as const) {
      const response = await post(payload, type);
      assert.equal(response.statusCode, status, type);
      assert.match(response.body, /"provenance"/);
    }
  });

  it('sends immutable bytes as they are', async () => {
    const { text, headers } = await get('/files/a/b/c', {});
    assert.equal(text, 'a/b/c');
    assert.match(String(headers['cache-control']), /immutable/);
  });

  it('still tells a problem that cannot be signed', async () => {
    const full = () => Promise.reject(new Error('the disk is full'));
    server = createTestServer({ notary: { sign: full, signBytes: full } });
    const { status, body, text } = await get('/things/a');
    assert.deepEqual([status, body.code], [500, 'internal_error']);
    assert.ok(!text.includes('disk'));
  });

  it('logs no key', async () => {
    const lines: string[] = [];
    server = createTestServer({ log: { write: (line: string) => void lines.push(line) } });
    await get('/things/bug', { ...unlimited, authorization: 'Bearer secret-token' });
    assert.ok(lines.length > 0);
    assert.ok(!lines.join('').includes(UNLIMITED_KEY) && !lines.join('').includes('secret-token'));
  });

  it('has no 500 for anything that a stranger sends', async () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(
        '..',
        '%00',
        '%2F',
        '%E0%A4%A',
        '__proto__',
        'constructor',
        '%',
        'a'.repeat(3_000),
        '\u202e',
        '%ff',
      ),
    );
    const path = fc.array(piece, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`.replaceAll(/[\s#]/g, '_'));
    const url = fc
      .tuple(
        fc.constantFrom('', '/things', '/files'),
        path,
        fc.constantFrom('', '?limit=', '?a[b]=c&limit=%', '?limit=%00'),
      )
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(url, async (each) => {
        const { status } = await get(encodeURI(decodeSafely(each)).replaceAll('%25', '%'));
        return status < 500;
      }),
      { numRuns: 300 },
    );
  });
});

function decodeSafely(text: string): string {
  // A lone surrogate cannot be put on the wire at all.
  return text.toWellFormed();
}

describe('the server on a socket', () => {
  const server = createTestServer();
  let port = 0;
  before(async () => {
    port = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => server[Symbol.asyncDispose]());

  const exchange = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.setTimeout(5_000, () => socket.destroy());
      socket.on('data', (chunk) => {
        answer += chunk.toString();
      });
      socket.on('error', () => resolve(answer));
      socket.on('close', () => resolve(answer));
      socket.end(text);
    });

  it('answers what is not HTTP, and headers beyond measure, with a status and an end', async () => {
    assert.match(await exchange('\u0000\u0001nonsense\r\n\r\n'), /^HTTP\/1.1 400 /);
    assert.match(await exchange(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`), /^HTTP\/1.1 431 /);
    assert.match(
      await exchange(`GET /${'a'.repeat(9_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
      /^HTTP\/1.1 414 /,
    );
  });

  it('sends a ready answer with its length, so that the connection can be used again', async () => {
    const request = `GET /things/a HTTP/1.1\r\nhost: x\r\nx-stack-key: ${UNLIMITED_KEY}\r\n`;
    await exchange(`${request}connection: close\r\n\r\n`);
    const twice = await exchange(`${request}\r\n${request}connection: close\r\n\r\n`);
    assert.equal(twice.match(/HTTP\/1.1 200/g)?.length, 2);
    assert.match(twice, /content-length: \d+/i);
  });
});
