// Servers that flood, stall, lie about their packing or their length, or speak no HTTP at all.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startInternet } from './test/fetching.ts';
import type { WebScript } from './test/web-server.ts';

const packed =
  (encoding: string, body: Buffer): WebScript =>
  (_request, response) =>
    void response.writeHead(200, { 'content-encoding': encoding }).end(body);
const TEXT = Buffer.from('<rss/>');
const ZEROS = Buffer.alloc(64 * 1024 * 1024);

describe('bodies', () => {
  for (const [encoding, body] of [
    ['gzip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['identity', TEXT],
  ] as const)
    it(`packed as ${encoding} are unpacked`, async () => {
      await using internet = await startInternet(packed(encoding, body));
      const fetched = await internet.fetch('http://example.com/', { maxBytes: TEXT.length });
      assert.ok(fetched.kind === 'answered');
      assert.deepEqual([fetched.body, fetched.isTruncated], [TEXT, false]);
    });

  for (const [encoding, bomb] of [
    ['gzip', gzipSync(ZEROS)],
    ['br', brotliCompressSync(ZEROS)],
    ['deflate', deflateSync(ZEROS)],
  ] as const)
    it(`that are ${encoding} bombs are unpacked to the limit only`, async () => {
      await using internet = await startInternet(packed(encoding, bomb));
      const before = process.memoryUsage().rss;
      const fetched = await internet.fetch('http://example.com/', { maxBytes: 100_000 });
      assert.ok(fetched.kind === 'answered');
      assert.deepEqual([fetched.body.length, fetched.isTruncated], [100_000, true]);
      assert.ok(process.memoryUsage().rss - before < 100 * 2 ** 20);
    });

  it('without an end are read to the limit, and the connection is closed', async () => {
    let isClosed = false;
    await using internet = await startInternet((_request, response) => {
      const pour = () => {
        while (response.write(Buffer.alloc(16_384, 'x')));
      };
      response.on('drain', pour).on('close', () => {
        isClosed = true;
      });
      pour();
    });
    const fetched = await internet.fetch('https://example.com/', { maxBytes: 1_000_000 });
    assert.ok(fetched.kind === 'answered');
    assert.deepEqual([fetched.body.length, fetched.isTruncated], [1_000_000, true]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(isClosed, true);
  });

  it('that come a byte at a time are cut when time is up', async () => {
    await using internet = await startInternet((_request, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const startedAt = performance.now();
    const fetched = await internet.fetch('http://example.com/', { timeoutMs: 300 });
    assert.ok(fetched.kind === 'answered');
    assert.equal(fetched.isTruncated, true);
    assert.ok(fetched.body.length > 2 && fetched.body.length < 20);
    assert.ok(performance.now() - startedAt < 1_000);
  });

  for (const [what, script] of [
    [
      'shorter than they say',
      (request, response) => {
        response.writeHead(200, { 'content-length': 9_999 });
        response.write('part', () => request.socket.destroy());
      },
    ],
    [
      'without their last chunk',
      (request, response) => void response.write('part', () => setTimeout(() => request.socket.destroy(), 20)),
    ],
    [
      'in chunks of no length',
      (request) => {
        request.socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n');
      },
    ],
  ] as const satisfies readonly (readonly [string, WebScript])[])
    it(`that are ${what} are what came`, async () => {
      await using internet = await startInternet(script);
      const fetched = await internet.fetch('http://example.com/');
      assert.ok(fetched.kind === 'answered');
      assert.deepEqual([fetched.body.toString(), fetched.isTruncated], ['part', true]);
    });

  for (const [what, encoding, body] of [
    ['not packed', 'gzip', TEXT],
    ['cut short', 'gzip', gzipSync(randomBytes(4_000)).subarray(0, 2_000)],
    ['garbage', 'br', Buffer.alloc(1_000, 'garbage')],
  ] as const)
    it(`that say ${encoding} and are ${what} are truncated`, async () => {
      await using internet = await startInternet(packed(encoding, body));
      const fetched = await internet.fetch('http://example.com/');
      assert.equal(fetched.kind === 'answered' && fetched.isTruncated, true);
    });

  for (const [status, encoding] of [
    [304, 'gzip'],
    [204, 'br'],
    [200, 'gzip'],
  ] as const)
    it(`of a ${status} that says ${encoding} and has none are empty and whole`, async () => {
      await using internet = await startInternet(
        (_request, response) => void response.writeHead(status, { 'content-encoding': encoding }).end(),
      );
      for (let i = 0; i < 2; i++) {
        const fetched = await internet.fetch('http://example.com/');
        assert.ok(fetched.kind === 'answered');
        assert.deepEqual([fetched.status, fetched.body.length, fetched.isTruncated], [status, 0, false]);
      }
      assert.equal(internet.web.connections(), 1);
    });
});

describe('heads', () => {
  for (const [what, text] of [
    ['of headers beyond measure', `HTTP/1.1 200 OK\r\nx-bomb: ${'x'.repeat(200_000)}\r\n\r\n`],
    ['of headers without number', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}\r\n`],
    ['that are no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
    ['that switch protocols unasked', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
    ['that are nothing', ''],
  ] as const)
    it(`${what} are a failure, at once`, async () => {
      await using internet = await startInternet((request) => void request.socket.end(text));
      const startedAt = performance.now();
      const fetched = await internet.fetch('http://example.com/');
      assert.equal(fetched.kind === 'failed' && fetched.reason, 'failed');
      assert.ok(performance.now() - startedAt < 2_000);
    });

  it('that begin over and over with 1xx end when time is up', async () => {
    await using internet = await startInternet((request) => {
      const timer = setInterval(() => request.socket.write('HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'), 5);
      request.socket.on('close', () => clearInterval(timer));
    });
    const fetched = await internet.fetch('http://example.com/', { timeoutMs: 300 });
    assert.equal(fetched.kind === 'failed' && fetched.reason, 'timeout');
  });
});
