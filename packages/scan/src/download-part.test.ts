// Downloads that were cut or killed: gone on with where the document is still the same, and begun anew where it may not be.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL_OF_IT, useDownloads } from './test/downloads.ts';
import { startInternet } from './test/fetching.ts';
import { shelf } from './test/shelf.ts';

const { downloads, get, left, assertWhole } = useDownloads();

describe('a part', () => {
  for (const [what, headers, condition] of [
    ['an ETag', { etag: '"v1"', 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT' }, '"v1"'],
    [
      'Last-Modified beside a weak ETag',
      { etag: 'W/"v1"', 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT' },
      'Sat, 01 Nov 2025 00:00:00 GMT',
    ],
  ] as const)
    it(`is gone on with by ${what}`, async () => {
      const it = shelf(randomBytes(100_000), headers);
      await using internet = await startInternet(it.script);
      it.cutAfter = 40_000;
      const cut = await get(internet);
      assert.equal(cut.kind === 'failed' && cut.detail, 'cut off after 40000 bytes');
      assert.equal((await get(internet)).kind, 'failed');
      it.cutAfter = undefined;
      await assertWhole(await get(internet), it.content);
      assert.deepEqual(it.asked, ['- | -', `bytes=40000- | ${condition}`, `bytes=80000- | ${condition}`]);
    });

  it('without a validator is begun anew', async () => {
    const it = shelf(randomBytes(100_000), { etag: 'W/"weak"' });
    await using internet = await startInternet(it.script);
    it.cutAfter = 40_000;
    await get(internet);
    it.cutAfter = undefined;
    await assertWhole(await get(internet), it.content);
    assert.deepEqual(it.asked, ['- | -', '- | -']);
  });

  it('of a document that has changed is begun anew', async () => {
    const it = shelf(randomBytes(100_000));
    await using internet = await startInternet(it.script);
    it.cutAfter = 40_000;
    await get(internet);
    it.cutAfter = undefined;
    it.content = randomBytes(70_000);
    it.headers = { etag: '"v2"' };
    await assertWhole(await get(internet), it.content);
    assert.deepEqual(it.asked, ['- | -', 'bytes=40000- | "v1"']);
  });

  it('of another URL is begun anew, and credentials are not noted down', async () => {
    const it = shelf(randomBytes(100_000));
    await using internet = await startInternet(it.script);
    it.cutAfter = 40_000;
    await get(internet, {}, 'http://user:secret@example.com/a');
    assert.equal((await readFile(`${downloads.file}.part.json`, 'utf8')).includes('secret'), false);
    it.cutAfter = undefined;
    await assertWhole(await get(internet, {}, 'http://example.com/b'), it.content);
    assert.deepEqual(it.asked, ['- | -', '- | -']);
  });

  it('that is whole already asks for its last byte only', async () => {
    const it = shelf(randomBytes(10_000));
    await using internet = await startInternet(it.script);
    it.cutAfter = 1;
    await get(internet);
    it.cutAfter = undefined;
    await writeFile(`${downloads.file}.part`, it.content);
    await assertWhole(await get(internet), it.content);
    assert.deepEqual(it.asked, ['- | -', 'bytes=9999- | "v1"']);
  });

  for (const [what, status, headers] of [
    ['from elsewhere', 206, { 'content-range': 'bytes 39999-99999/100000' }],
    ['of another total', 206, { 'content-range': 'bytes 40000-99999/100001' }],
    ['without Content-Range', 206, {}],
    ['with a Content-Range of nonsense', 206, { 'content-range': `bytes ${'9'.repeat(400)}-1/2` }],
    ['of another ETag', 206, { 'content-range': 'bytes 40000-99999/100000', etag: '"v2"' }],
    ['that the range cannot be had', 416, { 'content-range': 'bytes */100000' }],
  ] as const)
    it(`is begun anew on an answer ${what}`, async () => {
      const it = shelf(randomBytes(100_000));
      await using internet = await startInternet((request, response) => {
        if (request.headers.range === undefined) return it.script(request, response);
        it.asked.push('range');
        response.writeHead(status, headers).end('wrong');
      });
      it.cutAfter = 40_000;
      await get(internet);
      it.cutAfter = undefined;
      await assertWhole(await get(internet), it.content);
      assert.deepEqual(it.asked, ['- | -', 'range', '- | -']);
    });

  for (const [what, note] of [
    ['no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['of wrong types', JSON.stringify({ url: URL_OF_IT, etag: 1, lastModified: {}, totalBytes: '9' })],
    ['of a length below zero', JSON.stringify({ url: URL_OF_IT, etag: '"v1"', lastModified: null, totalBytes: -1 })],
    ['shorter than the part', JSON.stringify({ url: URL_OF_IT, etag: '"v1"', lastModified: null, totalBytes: 3 })],
    ['deep', '['.repeat(20_000)],
    ['endless', `"${'x'.repeat(1_000_000)}"`],
    ['missing', undefined],
  ] as const)
    it(`whose note is ${what} is begun anew`, async () => {
      const it = shelf(randomBytes(10_000));
      await using internet = await startInternet(it.script);
      await writeFile(`${downloads.file}.part`, 'some bytes');
      if (note !== undefined) await writeFile(`${downloads.file}.part.json`, note);
      await assertWhole(await get(internet), it.content);
      assert.deepEqual(it.asked, ['- | -']);
    });

  it('is gone on with after kill -9 of the process that wrote it, again and again', async () => {
    const it = shelf(randomBytes(3_000_000));
    let isSlow = true;
    const server = createServer((request, response) => {
      if (!isSlow) return it.script(request, response);
      const [from = 0] = (request.headers.range?.match(/\d+/) ?? []).map(Number);
      const total = it.content.length;
      const range = request.headers.range ? { 'content-range': `bytes ${from}-${total - 1}/${total}` } : {};
      it.asked.push(request.headers.range ?? '-');
      response.writeHead(request.headers.range ? 206 : 200, { etag: '"v1"', 'content-length': total - from, ...range });
      let at = from;
      const timer = setInterval(() => {
        response.write(it.content.subarray(at, at + 20_000));
        at += 20_000;
      }, 5);
      response.on('close', () => clearInterval(timer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const program = `
      import { createFetcher } from ${JSON.stringify(new URL('./fetcher.ts', import.meta.url).href)};
      const fetcher = createFetcher({ userAgent: 'test', trustedOrigins: [${JSON.stringify(origin)}] });
      const outcome = await fetcher.download(${JSON.stringify(`${origin}/f`)}, ${JSON.stringify(downloads.file)}, {
        maxBytes: 1e7, timeoutMs: 20_000,
      });
      await fetcher[Symbol.asyncDispose]();
      console.log(JSON.stringify(outcome));`;
    const start = () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 2] });
    try {
      let size = 0;
      for (let round = 1; round <= 3; round++) {
        const child = start();
        const exited = once(child, 'exit');
        const isGrown = async () =>
          ((await stat(`${downloads.file}.part`).catch(() => undefined))?.size ?? 0) > size + 60_000;
        for (let i = 0; i < 500 && !(await isGrown()); i++) await sleep(10);
        child.kill('SIGKILL');
        await exited;
        ({ size } = await stat(`${downloads.file}.part`));
        assert.ok(it.content.subarray(0, size).equals(await readFile(`${downloads.file}.part`)));
      }
      isSlow = false;
      const child = start();
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += chunk;
      });
      await once(child, 'close');
      assert.equal(JSON.parse(said).kind, 'downloaded');
      const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
      assert.equal(hash(await readFile(downloads.file)), hash(it.content));
      assert.match(it.asked.at(-1) ?? '', new RegExp(`^bytes=${size}- `));
      assert.deepEqual([left('.part'), left('.part.json')], [false, false]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
