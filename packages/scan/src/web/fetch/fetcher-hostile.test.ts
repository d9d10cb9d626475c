// Servers that flood, stall, send false lengths or encodings, or do not speak HTTP.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { failureOf, fetchFrom, startInternet, textOf } from '../../test/fetching.ts';
import type { WebScript } from '../../test/web-server.ts';

const packed =
  (encoding: string, body: Buffer, status = 200): WebScript =>
  (_request, response) =>
    void response.writeHead(status, { 'content-encoding': encoding }).end(body);
const TEXT = Buffer.from('<rss/>');
const ZEROS = Buffer.alloc(16 * 1024 * 1024);
const unpacked = { body: TEXT, isTruncated: false };

/** The body of a fetch that must have been answered, and whether it is truncated. */
async function bodyFrom(script: WebScript, request: { maxBytes?: number; timeoutMs?: number } = {}) {
  const fetched = await fetchFrom(script, request);
  assert.ok(fetched.kind === 'answered');
  return { body: fetched.body, isTruncated: fetched.isTruncated };
}

for (const [encoding, body] of [
  ['gzip', gzipSync(TEXT)],
  [' GZIP', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT)],
  ['identity', TEXT],
  ['made-up', TEXT],
] as const)
  it(`bodies in the encoding '${encoding}' are unpacked`, async () =>
    assert.deepEqual(await bodyFrom(packed(encoding, body), { maxBytes: TEXT.length }), unpacked));

for (const [encoding, bomb] of [
  ['gzip', gzipSync(ZEROS)],
  ['br', brotliCompressSync(ZEROS, { params: { 1: 1 } })],
  ['deflate', deflateSync(ZEROS)],
  ['zstd', zstdCompressSync(ZEROS)],
] as const)
  it(`bodies that are ${encoding} bombs are unpacked to the limit only`, async () => {
    const { body, isTruncated } = await bodyFrom(packed(encoding, bomb), { maxBytes: 100_000 });
    assert.deepEqual([body.length, isTruncated], [100_000, true]);
  });

it('bodies without an end are read to the limit, and the connection is closed', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const endless: WebScript = (_request, response) => {
    const pour = () => {
      while (response.write(Buffer.alloc(16_384, 'x')));
    };
    response.on('drain', pour).on('close', resolve);
    pour();
  };
  const { body, isTruncated } = await bodyFrom(endless, { maxBytes: 1_000_000 });
  assert.deepEqual([body.length, isTruncated], [1_000_000, true]);
  await closed;
});

it('bodies that come a byte at a time are cut when time is up', async () => {
  const drip: WebScript = (_request, response) => {
    const timer = setInterval(() => response.write('.'), 10);
    response.on('close', () => clearInterval(timer));
  };
  const { body, isTruncated } = await bodyFrom(drip, { timeoutMs: 250 });
  assert.ok(isTruncated && body.length > 0);
});

const cutShort: Readonly<Record<string, WebScript>> = {
  'shorter than their Content-Length': (request, response) => {
    response.writeHead(200, { 'content-length': 9_999 }).write('part', () => request.socket.destroy());
  },
  'without their last chunk': (request, response) => {
    response.write('part', () => setTimeout(() => request.socket.destroy(), 20));
  },
  'in chunks of no length': (request) => {
    request.socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n');
  },
};
for (const [what, script] of Object.entries(cutShort))
  it(`bodies that are ${what} are what came`, async () =>
    assert.deepEqual(await bodyFrom(script), { body: Buffer.from('part'), isTruncated: true }));

for (const [what, encoding, body] of [
  ['not packed', 'gzip', TEXT],
  ['packed otherwise', 'br', gzipSync(TEXT)],
  ['cut short', 'gzip', gzipSync(randomBytes(4_000)).subarray(0, 2_000)],
] as const)
  it(`bodies with the encoding ${encoding} that are ${what} are truncated`, async () =>
    assert.equal((await bodyFrom(packed(encoding, body))).isTruncated, true));

for (const [status, encoding] of [[304, 'gzip'] as const, [204, 'br'] as const, [200, 'gzip'] as const])
  it(`bodies of a ${status} with the encoding ${encoding} and no bytes are empty and complete`, async () => {
    await using internet = await startInternet(packed(encoding, Buffer.alloc(0), status));
    for (let i = 0; i < 2; i++) {
      const fetched = await internet.fetch('http://example.com/');
      assert.partialDeepStrictEqual(fetched, { status, isTruncated: false });
      assert.equal(textOf(fetched), '');
    }
    assert.equal(internet.web.connections(), 1);
  });

for (const [what, text] of [
  ['with a header that is too long', `HTTP/1.1 200 OK\r\nx-bomb: ${'x'.repeat(200_000)}\r\n\r\n`],
  ['with too many headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}\r\n`],
  ...casesOf<[string, string][]>('scan', 'heads of responses'),
] as const)
  it(`response heads ${what} are a failure, before the time-out`, async () =>
    assert.equal(failureOf(await fetchFrom((request) => void request.socket.end(text))), 'failed'));

it('response heads that repeat 1xx without an end are given up when time is up', async () => {
  const hinting: WebScript = ({ socket }) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'), 5);
    socket.on('close', () => clearInterval(timer));
  };
  assert.equal(failureOf(await fetchFrom(hinting, { timeoutMs: 250 })), 'timeout');
});
