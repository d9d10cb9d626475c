// Downloads over real sockets and a real disk: complete, refused, too large, aborted, interrupted and resumed.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { casesOf, until } from '../../../../../tests/support/index.ts';
import { shelf, URL_OF_IT, useDownloads } from '../../test/downloads.ts';
import { failureOf, redirects, startInternet } from '../../test/fetching.ts';
import type { WebScript } from '../../test/web-server.ts';

describe('downloads', () => {
  const { downloads, get, left, assertComplete, cutOff } = useDownloads();
  it('a download stores the document as sent, and reports progress', async () => {
    const { content, script, asked } = shelf(randomBytes(1_000_000), { etag: '"v1"', 'content-encoding': 'gzip' });
    await using internet = await startInternet(redirects({ '/old': 'https://example.com/model.bin' }, script));
    const progress: [number, number | undefined][] = [];
    const onProgress = (done: number, total: number | undefined) => void progress.push([done, total]);
    const outcome = await get(internet, { onProgress }, 'http://example.com/old');
    await assertComplete(outcome, content);
    assert.partialDeepStrictEqual(outcome, { url: 'https://example.com/model.bin', headers: { etag: '"v1"' } });
    assert.deepEqual(asked, ['- | -']);
    for (const [i, [done, total]] of progress.entries())
      assert.ok(done > (progress[i - 1]?.[0] ?? 0) && total === 1_000_000);
    assert.ok(progress.length > 1 && progress.at(-1)?.[0] === 1_000_000);
  });
  it('a download replaces a file that was there, only when it is complete', async () => {
    await writeFile(downloads.file, 'before');
    await using cut = await cutOff();
    assert.equal(await readFile(downloads.file, 'utf8'), 'before');
    await cut.again();
  });

  for (const status of [304, 404, 500])
    it(`a download that is answered with ${status} is an answer, and writes nothing`, async () => {
      await using internet = await startInternet((_request, response) => response.writeHead(status).end());
      assert.partialDeepStrictEqual(await get(internet), { kind: 'answered', status });
      assert.deepEqual([left(''), left('.part')], [false, false]);
    });
  it('a download to a private address is forbidden', async () => {
    await using internet = await startInternet(redirects({ '/go': 'http://127.0.0.1/' }, () => {}));
    assert.equal(failureOf(await get(internet, {}, 'http://example.com/go')), 'forbidden');
  });
  it('a download requests no compression; without a length, even if empty, it is complete when the body ends', async () => {
    await using internet = await startInternet(({ url, headers }, response) => {
      response.flushHeaders();
      response.end(url === '/empty' ? '' : headers['accept-encoding']);
    });
    await assertComplete(await get(internet), Buffer.from('identity'));
    await assertComplete(await get(internet, {}, 'http://example.com/empty'), Buffer.alloc(0));
  });

  for (const [what, script] of [
    ['says it is', (_request, response) => void response.writeHead(200, { 'content-length': 5_000 }).write('x')],
    ['proves to be', (_request, response) => void response.end(Buffer.alloc(5_000))],
  ] as const satisfies readonly (readonly [string, WebScript])[])
    it(`a download that ${what} too large fails, and nothing stays`, async () => {
      await using internet = await startInternet(script);
      assert.equal(failureOf(await get(internet, { maxBytes: 4_999 })), 'failed');
      assert.deepEqual([left(''), left('.part'), left('.part.json')], [false, false, false]);
    });
  it('a download to a disk that fails throws', async () => {
    await using internet = await startInternet(shelf(Buffer.from('x')).script);
    await writeFile(downloads.file, 'not a folder');
    downloads.file = join(downloads.file, 'file');
    await assert.rejects(get(internet), { code: 'ENOTDIR' });
  });
  it('a download stops by its signal and by its time, and keeps the part', async () => {
    await using internet = await startInternet((_request, response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': 50_000 }).write(randomBytes(20_000));
    });
    const leaving = new AbortController();
    for (const [request, reason] of [
      [{ signal: leaving.signal, onProgress: (done: number) => void (done === 20_000 && leaving.abort()) }, 'aborted'],
      [{ timeoutMs: 500 }, 'timeout'],
    ] as const) {
      assert.equal(failureOf(await get(internet, request)), reason);
      assert.equal((await stat(`${downloads.file}.part`)).size, 20_000);
    }
  });
  it('a download that waits for another one into the same file can be given up', async () => {
    await using internet = await startInternet(() => {});
    const [first, second] = [new AbortController(), new AbortController()];
    const holding = get(internet, { signal: first.signal });
    await until(() => internet.web.asked.length === 1);
    const waiting = get(internet, { signal: second.signal });
    second.abort();
    assert.equal(failureOf(await waiting), 'aborted');
    first.abort();
    assert.deepEqual([failureOf(await holding), internet.web.asked.length], ['aborted', 1]);
  });
  it('a download of two into one file waits for the other', async () => {
    const content = randomBytes(300_000);
    await using internet = await startInternet(shelf(content).script);
    for (const outcome of await Promise.all([get(internet), get(internet)])) await assertComplete(outcome, content);
  });

  const DATE = 'Sat, 01 Nov 2025 00:00:00 GMT';
  const noteOf = (changed: object) =>
    JSON.stringify({ url: URL_OF_IT, etag: '"v1"', lastModified: null, totalBytes: 10_000, ...changed });

  for (const [what, headers, condition] of [
    ['continued by an ETag', { etag: '"v1"', 'last-modified': DATE }, '"v1"'],
    ['continued by Last-Modified beside a weak ETag', { etag: 'W/"v1"', 'last-modified': DATE }, DATE],
    ['started again without a validator', { etag: 'W/"weak"' }, undefined],
  ] as const)
    it(`a part is ${what}`, async () => {
      await using cut = await cutOff(headers);
      assert.equal((await cut.download()).kind, 'failed');
      const asked = [40_000, 80_000].map((from) => (condition ? `bytes=${from}- | ${condition}` : '- | -'));
      assert.deepEqual(await cut.again(), ['- | -', ...asked]);
    });
  it('a part of a document that has changed is started again', async () => {
    await using cut = await cutOff();
    cut.it.content = randomBytes(70_000);
    cut.it.headers = { etag: '"v2"' };
    assert.deepEqual(await cut.again(), ['- | -', 'bytes=40000- | "v1"']);
  });
  it('a part of another URL is started again, and credentials are not stored', async () => {
    await using cut = await cutOff(undefined, 'http://user:secret@example.com/a');
    assert.equal((await readFile(`${downloads.file}.part.json`, 'utf8')).includes('secret'), false);
    assert.deepEqual(await cut.again('http://example.com/b'), ['- | -', '- | -']);
  });
  it('a part that is complete already asks for its last byte only', async () => {
    await using cut = await cutOff();
    await writeFile(`${downloads.file}.part`, cut.it.content);
    assert.deepEqual(await cut.again(), ['- | -', 'bytes=99999- | "v1"']);
  });

  for (const [what, status, headers] of casesOf<[string, number, Record<string, string>][]>(
    'scan',
    'answers to a part',
  ))
    it(`a part is started again on an answer ${what}`, async () => {
      await using cut = await cutOff();
      cut.server.script = (request, response) => {
        if (request.headers.range === undefined) return cut.it.script(request, response);
        cut.it.asked.push('range');
        response.writeHead(status, headers).end('wrong');
      };
      assert.deepEqual(await cut.again(), ['- | -', 'range', '- | -']);
    });

  for (const [what, note] of [
    ['not JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['of wrong types', noteOf({ etag: 1, lastModified: {}, totalBytes: '9' })],
    ['of a length below zero', noteOf({ totalBytes: -1 })],
    ['shorter than the part', noteOf({ totalBytes: 3 })],
    ['deep', '['.repeat(20_000)],
    ['endless', `"${'x'.repeat(1_000_000)}"`],
    ['missing', undefined],
  ] as const)
    it(`a part whose note is ${what} is started again`, async () => {
      const it = shelf(randomBytes(10_000));
      await using internet = await startInternet(it.script);
      await writeFile(`${downloads.file}.part`, 'some bytes');
      if (note !== undefined) await writeFile(`${downloads.file}.part.json`, note);
      await assertComplete(await get(internet), it.content);
      assert.deepEqual(it.asked, ['- | -']);
    });
});
