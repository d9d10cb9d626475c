// Downloads over real sockets and a real disk: whole, refused, too large, given up.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { shelf, useDownloads } from './test/downloads.ts';
import { failureOf, redirects, startInternet } from './test/fetching.ts';
import type { WebScript } from './test/web-server.ts';

const { downloads, get, left, assertComplete, cutOff } = useDownloads();

it('a download brings the document as it was sent, and tells how far it is', async () => {
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

it('a download asks for no packing; of no announced length, empty ones too, it is whole when the body ends', async () => {
  await using internet = await startInternet(({ url, headers }, response) => {
    response.flushHeaders();
    response.end(url === '/empty' ? '' : headers['accept-encoding']);
  });
  await assertComplete(await get(internet), Buffer.from('identity'));
  await assertComplete(await get(internet, {}, 'http://example.com/empty'), Buffer.alloc(0));
});

for (const [what, script] of [
  ['says it is', (_request, response) => void response.writeHead(200, { 'content-length': 5_000 }).write('x')],
  ['turns out to be', (_request, response) => void response.end(Buffer.alloc(5_000))],
] as const satisfies readonly (readonly [string, WebScript])[])
  it(`a download that ${what} too large fails, and nothing stays`, async () => {
    await using internet = await startInternet(script);
    assert.equal(failureOf(await get(internet, { maxBytes: 4_999 })), 'failed');
    assert.deepEqual([left(''), left('.part'), left('.part.json')], [false, false, false]);
  });

it('a download to a disk that fails throws', async () => {
  await using internet = await startInternet(shelf(Buffer.from('x')).script);
  downloads.file = join(downloads.directory, 'nowhere', 'file');
  await assert.rejects(get(internet), { code: 'ENOENT' });
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
  assert.equal(failureOf(await holding), 'aborted');
  assert.equal(internet.web.asked.length, 1);
});

it('a download of two into one file waits for the other', async () => {
  const content = randomBytes(300_000);
  await using internet = await startInternet(shelf(content).script);
  for (const outcome of await Promise.all([get(internet), get(internet)])) await assertComplete(outcome, content);
});
