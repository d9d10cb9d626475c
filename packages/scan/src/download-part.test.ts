// Downloads that were cut: continued where the document is still the same, and started again where it may not be.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { it } from 'node:test';
import { shelf, URL_OF_IT, useDownloads } from './test/downloads.ts';
import { startInternet } from './test/fetching.ts';

const { downloads, get, assertComplete, cutOff } = useDownloads();
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

for (const [what, status, headers] of [
  ['from elsewhere', 206, { 'content-range': 'bytes 39999-99999/100000' }],
  ['of another total', 206, { 'content-range': 'bytes 40000-99999/100001' }],
  ['without Content-Range', 206, {}],
  ['with an invalid Content-Range', 206, { 'content-range': `bytes ${'9'.repeat(400)}-1/2` }],
  ['of another ETag', 206, { 'content-range': 'bytes 40000-99999/100000', etag: '"v2"' }],
  ['that the range cannot be had', 416, { 'content-range': 'bytes */100000' }],
] as const)
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
