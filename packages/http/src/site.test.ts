// A built site from a temporary directory: its page, its files, and that nothing outside it is served.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { casesOf, temporaryDirectory } from '../../../tests/support/index.ts';
import { serveSite } from './site.ts';

const SECRET = 'not for readers';
const SCRIPT = 'console.log("a script of the page");'.repeat(40);
const PAGE = '<!doctype html><title>Page</title>';
let outside: Awaited<ReturnType<typeof temporaryDirectory>>;
let built: FastifyInstance;
let bare: FastifyInstance;

async function serving(directory: string): Promise<FastifyInstance> {
  const fastify = Fastify();
  await serveSite(fastify, { directory, page: 'page.html', routes: ['/', '/domain/:domain'] });
  await fastify.listen({ host: '127.0.0.1', port: 0 });
  return fastify;
}

/** The target as it is written: `fetch` would resolve its dots first. */
async function ask(target: string, options: RequestOptions = {}, to = built) {
  const { port } = to.server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path: target, ...options }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

describe('a built site', () => {
  before(async () => {
    outside = await temporaryDirectory();
    const directory = path.join(outside.path, 'dist');
    await mkdir(path.join(directory, 'assets'), { recursive: true });
    await mkdir(path.join(outside.path, 'empty'));
    const script = path.join(directory, 'assets', 'page-1a2b.js');
    for (const [file, content] of [
      [path.join(outside.path, 'package.json'), SECRET],
      [path.join(directory, 'secret.txt'), SECRET],
      [path.join(directory, 'assets', '.hidden'), SECRET],
      [path.join(directory, 'page.html'), PAGE],
      [path.join(directory, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>'],
      [script, SCRIPT],
      [`${script}.gz`, gzipSync(SCRIPT)],
      [`${script}.br`, brotliCompressSync(SCRIPT)],
    ] as const)
      await writeFile(file, content);
    built = await serving(directory);
    bare = await serving(path.join(outside.path, 'empty'));
  });
  after(async () => {
    await built?.close();
    await bare?.close();
    await outside?.[Symbol.asyncDispose]();
  });

  for (const target of ['/', '/domain/example.com', '/?x=1']) {
    it(`answers ${target} with the page and its security policy, to be revalidated`, async () => {
      const { status, headers, bytes } = await ask(target);
      assert.deepEqual([status, bytes.toString()], [200, PAGE]);
      assert.match(String(headers['content-type']), /^text\/html/);
      assert.equal(headers['cache-control'], 'no-cache');
      const policy = String(headers['content-security-policy']);
      const none = (name: string) => `${name} 'none'`;
      const own = ['script-src', 'style-src', 'connect-src'].map((name) => `${name} 'self'`);
      for (const part of [...['default-src', 'frame-ancestors', 'base-uri', 'form-action'].map(none), ...own])
        assert.ok(policy.split('; ').includes(part), part);
      for (const name of ['cross-origin-opener-policy', 'cross-origin-resource-policy'])
        assert.equal(headers[name], 'same-origin');
      assert.match(String(headers['permissions-policy']), /camera=\(\).*microphone=\(\)/);
      assert.deepEqual([headers['x-content-type-options'], headers['referrer-policy']], ['nosniff', 'no-referrer']);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    });
  }

  it('serves files as immutable, compressed where the client accepts it', async () => {
    const plain = await ask('/assets/page-1a2b.js');
    assert.deepEqual([plain.status, plain.bytes.toString()], [200, SCRIPT]);
    for (const [encoding, opened] of Object.entries({ br: brotliDecompressSync, gzip: gunzipSync })) {
      const accepting = { headers: { 'accept-encoding': encoding } };
      const { status, headers, bytes } = await ask('/assets/page-1a2b.js', accepting);
      assert.deepEqual([status, headers['content-encoding']], [200, encoding]);
      assert.equal(opened(bytes).toString(), SCRIPT);
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.match(String(headers['content-type']), /javascript/);
      assert.match(String(headers.vary), /accept-encoding/i);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  });

  it('answers HEAD as GET, sends no file again that the client has, and serves the icon by its former name too', async () => {
    for (const target of ['/', '/assets/page-1a2b.js', '/favicon.svg', '/favicon.ico']) {
      const got = await ask(target);
      if (target.startsWith('/favicon')) assert.equal(got.headers['content-type'], 'image/svg+xml', target);
      const head = await ask(target, { method: 'HEAD' });
      assert.deepEqual([head.status, head.bytes.length], [200, 0], target);
      for (const name of ['content-type', 'content-length', 'cache-control', 'etag'])
        assert.equal(head.headers[name], got.headers[name], `${target} ${name}`);
      const known = async (tag: unknown) => ask(target, { headers: { 'if-none-match': String(tag) } });
      const { status, bytes } = await known(got.headers.etag);
      assert.deepEqual([status, bytes.length, (await known('"another"')).status], [304, 0, 200], target);
    }
  });

  for (const target of casesOf<string[]>('http', 'paths out of a site'))
    it(`has nothing at ${target}`, async () => {
      const { status, bytes } = await ask(target);
      assert.ok(status === 400 || status === 403 || status === 404, `${target}: ${status}`);
      assert.doesNotMatch(bytes.toString(), /not for readers|root:/);
    });

  it('answers 503 with the build command at every path of the page, where nothing was built', async () => {
    for (const target of ['/', '/domain/example.com']) {
      const { status, headers, bytes } = await ask(target, {}, bare);
      assert.equal(status, 503);
      assert.match(String(headers['content-security-policy']), /default-src 'none'/);
      assert.match(bytes.toString(), /npm run build/);
    }
    assert.equal((await ask('/assets/page-1a2b.js', {}, bare)).status, 404);
  });
});
