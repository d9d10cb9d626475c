// The server as HTTP sees it: HEAD, methods, receipts of all JSON bodies, hostile requests on a real socket, shutdown.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { createTestServer, LIMITED_KEY, UNLIMITED_KEY } from './test/test-server.ts';

const unlimited = { 'x-stack-key': UNLIMITED_KEY };

/** Everything the server sends until it ends the connection. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(5_000, () => socket.destroy(new Error('no end after 5 s')));
  socket.write(text, 'latin1');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

describe('HEAD', () => {
  it('has the status, length and validators of GET, from the handler and from memory', async () => {
    await using server = createTestServer();
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${port}/things/a`;
    const heads = [];
    for (let i = 0; i < 2; i += 1) heads.push(await fetch(url, { method: 'HEAD', headers: unlimited }));
    const get = await fetch(url, { headers: unlimited });
    const length = String((await get.arrayBuffer()).byteLength);
    for (const head of heads) {
      assert.equal(await head.text(), '');
      for (const name of ['content-length', 'etag', 'content-type', 'cache-control'])
        assert.equal(head.headers.get(name), get.headers.get(name), name);
      assert.equal(head.headers.get('content-length'), length);
    }
    assert.equal(server.app.calls, 1);
  });

  it('costs quota like GET', async () => {
    await using server = createTestServer();
    const ask = async (method: 'GET' | 'HEAD') => {
      const headers = { 'x-stack-key': LIMITED_KEY };
      return (await server.fastify.inject({ method, url: '/things/a', headers })).headers['x-ratelimit-remaining'];
    };
    assert.deepEqual([await ask('GET'), await ask('HEAD'), await ask('HEAD'), await ask('HEAD')], ['2', '1', '0', '0']);
  });

  it('is 404 without a body where nothing is', async () => {
    await using server = createTestServer();
    const response = await server.fastify.inject({ method: 'HEAD', url: '/nowhere' });
    assert.deepEqual([response.statusCode, response.body], [404, '']);
  });
});

describe('methods', () => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE', 'POST', 'PROPFIND', 'BREW']) {
    it(`answers ${method} without a failure`, async () => {
      await using server = createTestServer();
      const port = await server.listen({ host: '127.0.0.1', port: 0 });
      const text = await exchange(port, `${method} /things/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      // Node's parser knows PROPFIND but no route does; it does not know BREW at all.
      const expected = { PROPFIND: /^HTTP\/1.1 404 /, BREW: /^HTTP\/1.1 400 / }[method] ?? /^HTTP\/1.1 405 /;
      assert.match(text, expected);
      if (String(expected).includes('405')) assert.match(text, /\r\nallow: GET, HEAD, OPTIONS\r\n/i);
    });
  }

  it('lets any page of any site read answers and problems', async () => {
    await using server = createTestServer();
    for (const [method, url] of [
      ['GET', '/things/a'],
      ['GET', '/things/none'],
      ['GET', '/nowhere'],
      ['PUT', '/things/a'],
      ['OPTIONS', '/things/a'],
      ['GET', '/files/x'],
    ] as const) {
      const { headers } = await server.fastify.inject({ method, url, headers: unlimited });
      assert.equal(headers['access-control-allow-origin'], '*', `${method} ${url}`);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.ok(headers['x-request-id'], `${method} ${url}`);
    }
  });
});

describe('receipts', () => {
  it('verify, of answers and of problems alike', async () => {
    await using server = createTestServer();
    for (const [method, url] of [
      ['GET', '/things/a'],
      ['GET', '/things/none'],
      ['GET', '/things/bug'],
      ['GET', '/things/a?limit=0'],
      ['GET', '/%E0%A4%A'],
      ['GET', '/nowhere'],
      ['PUT', '/things/a'],
      ['POST', '/things'],
    ] as const) {
      const body = (await server.fastify.inject({ method, url, headers: unlimited })).json();
      assert.equal(await server.verify(body), true, `${method} ${url}`);
      assert.equal(await server.verify({ ...body, _notice: 'changed' }), false, `${method} ${url}, changed`);
    }
  });
});

describe('hostile requests', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom('..', '.', '%00', '%2F', '%2e%2e', '%E0%A4%A', '%', '%ff', '__proto__', 'constructor', 'a\tb'),
    fc.constantFrom('x'.repeat(3_000), 'x'.repeat(10_000), '*', ':id', '{id}', '//', ';', '\u202e', '%u0041'),
  );
  const name = fc.constantFrom('limit', '__proto__', 'constructor', 'toString', 'limit[]', 'limit[a]', '', '%');
  const url = fc
    .tuple(
      fc.constantFrom('', '/things', '/things/a', '/files'),
      fc.array(piece, { maxLength: 3 }),
      fc.array(fc.tuple(name, piece), { maxLength: 3 }),
    )
    .map(([start, parts, query]) => {
      const search = query.map((pair) => pair.join('=')).join('&');
      return `${start}/${parts.join('/')}${search ? `?${search}` : ''}`;
    });
  const headerName = fc.constantFrom(
    ...['x-stack-key', 'x-request-id', 'if-none-match', 'accept', 'content-type', 'content-length', 'accept-version'],
    ...['origin', 'cookie', 'range', 'expect', 'x-forwarded-for', '__proto__', 'constructor', 'transfer-encoding'],
  );
  const headers = fc.array(fc.tuple(headerName, piece), { maxLength: 4 });
  // What a line of HTTP cannot hold would only test the parser.
  const onLine = (text: string) => text.replaceAll(/[^\x21-\x7e\x80-\xff]/g, '_');

  it('have no 500 and no silence, whatever the line and the headers are', async () => {
    await using server = createTestServer();
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE');
    await fc.assert(
      fc.asyncProperty(method, url, headers, fc.boolean(), async (each, path, fields, hasKey) => {
        const lines = fields.map(([field, value]) => `${field}: ${onLine(value)}\r\n`).join('');
        const key = hasKey ? `x-stack-key: ${UNLIMITED_KEY}\r\n` : '';
        // The zeros end a chunked body and fill a short announced one; `connection: close` ends the rest.
        const request = `${each} ${onLine(path)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${key}${lines}\r\n0\r\n\r\n`;
        const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(await exchange(port, request))?.[1]);
        assert.ok(status >= 200 && status < 500, `${status} for ${request.slice(0, 300)}`);
      }),
      { numRuns: 300 },
    );
    assert.equal((await fetch(`http://127.0.0.1:${port}/things/a`, { headers: unlimited })).status, 200);
  });

  it('cannot make a JSON body poison an object', async () => {
    await using server = createTestServer();
    for (const payload of ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}', '{"a":', '\u0000', '']) {
      const headers = { 'content-type': 'application/json' };
      const response = await server.fastify.inject({ method: 'POST', url: '/things', payload, headers });
      assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_parameter'], payload);
    }
    assert.equal(({} as { a?: unknown }).a, undefined);
  });
});

describe('shutdown', () => {
  // The client keeps its connection alive: without closing it the server would wait for 10 s.
  it('lets a request in flight end, and takes no other', { timeout: 8_000 }, async () => {
    const server = createTestServer();
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${port}/things/slow`;
    const answer = fetch(url, { headers: unlimited });
    await once(server.app.slow, 'asked');
    const closed = server[Symbol.asyncDispose]();
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    await assert.rejects(fetch(url, { headers: unlimited }), 'a new connection is refused');
    assert.equal(isClosed, false);
    server.app.slow.emit('go');
    const response = await answer;
    assert.equal(response.status, 200);
    assert.equal(await server.verify(await response.json()), true);
    await closed;
  });

  it('waits for the work of a client that has gone: it needs what is closed after the server', {
    timeout: 8_000,
  }, async () => {
    const server = createTestServer();
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    const leaving = new AbortController();
    const answer = fetch(`http://127.0.0.1:${port}/things/slow`, { headers: unlimited, signal: leaving.signal });
    await once(server.app.slow, 'asked');
    leaving.abort();
    await assert.rejects(answer);
    let isClosed = false;
    const closed = server[Symbol.asyncDispose]().then(() => {
      isClosed = true;
    });
    await delay(300);
    assert.equal(isClosed, false);
    server.app.slow.emit('go');
    await closed;
  });
});
