// Exports and jobs: complete tables in every format, ranges, prices, who sees a job, uploads and refusals.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { parquetReadObjects } from 'hyparquet';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { assertDescribed, sharedService } from '../../test/index.ts';

const service = await sharedService();
const key = await service.newKey();
interface Asked {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly as?: string;
}

async function ask(path: string, { method = 'GET', body, headers = {}, as = key }: Asked = {}) {
  const init = { method, headers: { 'x-stack-key': as, ...headers }, ...(body !== undefined && { body }) };
  const answer = await fetch(`${service.base}/stack/v1${path}`, init);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isJson = /\/(?:problem\+)?json/.test(answer.headers.get('content-type') ?? '');
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
  const read: any = isJson ? JSON.parse(bytes.toString()) : {};
  return { status: answer.status, headers: answer.headers, bytes, body: read };
}

const linesOf = (bytes: Buffer) => bytes.toString().split(/\r?\n/).slice(0, -1);
const CSV = { 'content-type': 'text/csv' };

describe('an export', () => {
  for (const [table, first, filter] of casesOf<[string, string, string][]>('stack', 'columns of exports'))
    it(`of ${table} has all rows in each format${filter}`, async () => {
      const [csv, lines, parquet] = await Promise.all(
        ['csv', 'ndjson', 'parquet'].map((format) => ask(`/exports/${table}?format=${format}${filter}`)),
      );
      assert.ok(csv && lines && parquet);
      const [head = '', ...rows] = linesOf(csv.bytes);
      assert.equal(head.slice(0, first.length), first);
      assert.equal(csv.headers.get('content-disposition'), `attachment; filename="${table}.csv"`);
      assert.equal(linesOf(lines.bytes).length, rows.length);
      const { buffer, byteOffset, length } = parquet.bytes;
      const objects = await parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + length) });
      assert.equal(objects.length, rows.length);
      const { total } = (await ask(`/search?limit=1${filter}`)).body;
      if (table === 'domains' || table === 'scorecard') assert.equal(rows.length, total);
      const names = rows.map((row) => row.split(',')[table === 'history' ? 3 : 0]);
      if (table === 'records') assert.ok(rows.some((row) => /,favicon,-?\d+,/.test(row)));
      assert.ok(total > 0 && (table === 'history' || rows.length >= total));
      if (table !== 'history') assert.deepEqual(names, names.toSorted());
      const receipt = JSON.parse(csv.headers.get('stack-provenance') ?? '');
      assert.match(receipt.receipt_id, /^rwr_/);
    });

  it('is a file in ranges: If-Range, a suffix, HEAD, 304 and 416', async () => {
    const path = '/exports/domains?fields=domain';
    const { bytes, headers } = await ask(path);
    const etag = headers.get('etag') ?? '';
    const size = String(bytes.length);
    type Range = [range: string, more: Record<string, string>, status: number, first: number, last?: number];
    for (const [given, more, status, ...part] of casesOf<Range[]>('stack', 'ranges of a file')) {
      const named = Object.entries(more).map(([name, value]) => [name, value.replace('ETAG', etag)]);
      const range = given.replace('SIZE', size);
      const answer = await ask(path, { headers: { range, ...Object.fromEntries(named) } });
      assert.deepEqual([answer.status, answer.bytes], [status, bytes.subarray(...part)], range);
      if (status === 206) assert.match(answer.headers.get('content-range') ?? '', new RegExp(`/${size}$`));
    }
    const head = await ask(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
  });
  it('costs one request when it is begun and its rows once, and is not begun without quota', async () => {
    const free = await service.newKey('free');
    const left = async (q: string) => {
      const { status, headers } = await ask(`/exports/domains?q=${q}`, { as: free });
      return [status, headers.get('x-ratelimit-remaining')];
    };
    assert.deepEqual([await left('no-such-name'), await left('no-such-name')], Array(2).fill([200, '48']));
    for (let i = 0; i < 48; i += 1) await ask('/jobs', { as: free });
    assert.deepEqual([await left('other-name'), await left('third-name')], Array(2).fill([429, '0']));
    const { store, jobs } = service.running.app;
    assert.equal((await jobs.of((await store.keys.find(free))?.id ?? '')).length, 1);
  });

  for (const [path, says] of casesOf<[string, string][]>('stack', 'refused exports'))
    for (const method of ['GET', 'POST'])
      it(`refuses ${method} ${path} at once`, async () => {
        const { status, body } = await ask(path, { method });
        assert.equal(status, 400);
        assert.match(JSON.stringify(body), new RegExp(says));
      });
});

describe('a job', () => {
  it('gives its file to the key that started it, and costs its rows once', async () => {
    const free = await service.newKey('free');
    const names = Array.from({ length: 250 }, (_, i) => `never-${i}.com`);
    const body = `\ufeffrank;Domain\r\n${names.map((name, i) => `${i};${name}`).join('\r\n')}`;
    const started = await ask('/lookups?fields=state,domain', { method: 'POST', as: free, body, headers: CSV });
    assert.equal(started.status, 202);
    assertDescribed('/stack/v1/lookups', started.body, { method: 'post', status: 202 });
    const location = started.headers.get('location') ?? '';
    const { job } = (await ask(`${location.slice('/stack/v1'.length)}?wait=20`, { as: free })).body;
    assert.partialDeepStrictEqual(job, { state: 'complete', rows: 250, cost: 3, is_paid: false, table: 'lookup' });
    const left = async (path: string, more = {}) => {
      const answer = await ask(path, { as: free, ...more });
      return [answer.status, Number(answer.headers.get('x-ratelimit-remaining')), answer.bytes] as const;
    };
    const file = `/jobs/${job.id}/file`;
    const both = await Promise.all([left(file), left(file)]);
    for (const [status, remaining] of both) assert.deepEqual([status, remaining], [200, 45], 'paid once');
    const [, , bytes] = both[0];
    assert.deepEqual(linesOf(bytes), ['state,domain,rank', ...names.map((name, i) => `unknown,${name},${i}`)]);
    assert.equal(createHash('sha256').update(bytes).digest('hex'), job.sha256);
    assert.equal((await left(file, { headers: { range: 'bytes=3-' } }))[1], 45);
    for (const path of [`/jobs/${job.id}`, file, '/jobs/job_unknown']) assert.equal((await ask(path)).status, 404);
    const isListed = (await ask('/jobs')).body.jobs.some(({ id }: { id: string }) => id === job.id);
    assert.equal(isListed, false);
    const { body: own } = await ask('/jobs', { as: free });
    assert.deepEqual([own.total, own.jobs[0].is_paid], [1, true]);
  });
  it('costs a look-up its names, and refuses what a key cannot pay for', async () => {
    const free = await service.newKey('free');
    for (const left of [40, 30, 20, 10, 0, 0]) {
      const body = Array(950).fill('a.com').join('\n');
      const answer = await ask('/domains:lookup', { method: 'POST', as: free, body, headers: CSV });
      assert.equal(answer.headers.get('x-ratelimit-remaining'), String(left));
    }
  });

  type Upload = [why: string, body: string, type: string, status: number, says: string];
  for (const [why, body, type, status, says] of casesOf<Upload[]>('stack', 'refused uploads'))
    it(`refuses ${why}`, async () => {
      const started = await ask('/lookups', { method: 'POST', body, headers: { 'content-type': type } });
      const { job } = started.body;
      const answer =
        job === undefined ? started : await ask(`/jobs/${job.id}?wait=20`).then(() => ask(`/jobs/${job.id}/file`));
      assert.equal(answer.status, status);
      assert.match(answer.body.detail, new RegExp(says));
    });
});
