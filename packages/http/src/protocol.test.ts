// The server on a socket: HEAD, methods, hostile requests, shutdown.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { exchange } from '../../../tests/support/raw-http.ts';
import { createTestServer, UNLIMITED_KEY } from './test/test-server.ts';

const unlimited = { 'x-stack-key': UNLIMITED_KEY };
const CLOSE = 'host: x\r\nconnection: close\r\n';

describe('the server on a socket', () => {
  const server = createTestServer();
  let port = 0;
  before(async () => {
    port = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => server[Symbol.asyncDispose]());

  it('answers HEAD with status, length and validators of GET, from the handler and from memory', async () => {
    const url = `http://127.0.0.1:${port}/things/head`;
    const heads = [];
    for (let i = 0; i < 2; i += 1) heads.push(await fetch(url, { method: 'HEAD', headers: unlimited }));
    const get = await fetch(url, { headers: unlimited });
    const length = String((await get.arrayBuffer()).byteLength);
    for (const head of heads) {
      assert.deepEqual([await head.text(), head.headers.get('content-length')], ['', length]);
      for (const name of ['content-length', 'etag', 'content-type', 'cache-control'])
        assert.equal(head.headers.get(name), get.headers.get(name), name);
    }
    assert.equal(server.app.calls, 1);
  });

  for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE', 'POST', 'PROPFIND', 'BREW'])
    it(`answers ${method} without a failure`, async () => {
      const text = await exchange(port, `${method} /things/a HTTP/1.1\r\n${CLOSE}\r\n`);
      // Node's parser knows PROPFIND but no route does; it does not know BREW at all.
      const other = { PROPFIND: /^HTTP\/1.1 404 /, BREW: /^HTTP\/1.1 400 / }[method];
      assert.match(text, other ?? /^HTTP\/1.1 405 [\s\S]*\r\nallow: GET, HEAD, OPTIONS\r\n/i);
    });

  it('answers what is not HTTP, and what is too large, with a status and an end', async () => {
    assert.match(await exchange(port, '\u0000\u0001nonsense\r\n\r\n'), /^HTTP\/1.1 400 /);
    const large = `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`;
    assert.match(await exchange(port, large), /^HTTP\/1.1 431 /);
    assert.match(await exchange(port, `GET /${'a'.repeat(9_000)} HTTP/1.1\r\n${CLOSE}\r\n`), /^HTTP\/1.1 414 /);
  });

  it('sends a ready answer with its length, so that the connection can be used again', async () => {
    const start = `GET /things/a HTTP/1.1\r\nx-stack-key: ${UNLIMITED_KEY}\r\n`;
    await exchange(port, `${start}${CLOSE}\r\n`);
    const twice = await exchange(port, `${start}host: x\r\n\r\n${start}${CLOSE}\r\n`);
    assert.equal(twice.match(/HTTP\/1.1 200/g)?.length, 2);
    assert.match(twice, /content-length: \d+/i);
  });

  const piece = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom('..', '.', '%00', '%2F', '%2e%2e', '%E0%A4%A', '%', '%ff', '__proto__', 'constructor', 'a\tb'),
    fc.constantFrom('x'.repeat(3_000), 'x'.repeat(10_000), '*', ':id', '{id}', '//', ';', '\u202e', '%u0041'),
  );
  const name = fc.constantFrom('limit', '__proto__', 'constructor', 'toString', 'limit[]', 'a[b]', '', '%');
  const pairs = fc.array(fc.tuple(name, piece), { maxLength: 3 });
  const start = fc.constantFrom('', '/things', '/things/a', '/files');
  const url = fc.tuple(start, fc.array(piece, { maxLength: 4 }), pairs).map(([first, parts, query]) => {
    const search = query.map((pair) => pair.join('=')).join('&');
    return `${first}/${parts.join('/')}${search ? `?${search}` : ''}`;
  });
  const headerName = fc.constantFrom(
    ...['x-stack-key', 'x-request-id', 'if-none-match', 'accept', 'content-type', 'content-length', 'accept-version'],
    ...['origin', 'cookie', 'range', 'expect', 'x-forwarded-for', '__proto__', 'constructor', 'transfer-encoding'],
  );
  const headers = fc.array(fc.tuple(headerName, piece), { maxLength: 4 });
  // What a line of HTTP cannot hold would only test the parser.
  const onLine = (text: string) => text.replaceAll(/[^\x21-\x7e\x80-\xff]/g, '_');

  it('answers hostile requests, and never with 500, whatever the line and the headers are', async () => {
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE');
    const answered = fc.asyncProperty(method, url, headers, fc.boolean(), async (each, path, fields, hasKey) => {
      const lines = fields.map(([field, value]) => `${field}: ${onLine(value)}\r\n`).join('');
      const key = hasKey ? `x-stack-key: ${UNLIMITED_KEY}\r\n` : '';
      // The zeros end a chunked body and fill a short announced one; `connection: close` ends the rest.
      const request = `${each} ${onLine(path)} HTTP/1.1\r\n${CLOSE}${key}${lines}\r\n0\r\n\r\n`;
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(await exchange(port, request))?.[1]);
      assert.ok(status >= 200 && status < 500, `${status} for ${request.slice(0, 300)}`);
    });
    await fc.assert(answered, { numRuns: 400 });
    assert.equal((await fetch(`http://127.0.0.1:${port}/things/a`, { headers: unlimited })).status, 200);
  });
});

for (const leaves of [false, true])
  it(`shutdown waits for the handler of a client that ${leaves ? 'has disconnected' : 'waits'}, and accepts no other request`, async () => {
    const server = createTestServer();
    const port = await server.listen({ host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${port}/things/slow`;
    const leaving = new AbortController();
    const answer = fetch(url, { headers: unlimited, signal: leaving.signal });
    await once(server.app.slow, 'asked');
    if (leaves) {
      leaving.abort();
      await assert.rejects(answer);
    }
    const closed = server[Symbol.asyncDispose]().then(() => 'closed');
    await assert.rejects(fetch(url, { headers: unlimited }), 'a new connection is refused');
    // Long enough for a server that waits for nothing to close.
    assert.equal(await Promise.race([closed, sleep(100, 'waits')]), 'waits');
    const startedAt = performance.now();
    server.app.slow.emit('go');
    if (!leaves) {
      const response = await answer;
      assert.deepEqual([response.status, await server.verify(await response.json())], [200, true]);
    }
    await closed;
    // A connection that is kept alive is closed: the server would wait for 10 s otherwise.
    assert.ok(performance.now() - startedAt < 8_000);
  });
