// Dumps into a folder and into a bucket of a server that verifies signatures; interrupted ones.

import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parquetReadObjects } from 'hyparquet';
import { pino } from 'pino';
import { casesOf, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { completeTables } from '../../routes/exports/tables.ts';
import { sharedService } from '../../test/shared.ts';
import { type DumpTable, dump, type Manifest } from './dump.ts';
import type { DumpTarget } from './dump-target.ts';
import { dumpTimes } from './dump-times.ts';
import { DumpUrl } from './dump-url.ts';
import { checkDumpFolder } from './folder-target.ts';
import { dumpNightly, dumpToday } from './nightly.ts';
import { openTarget } from './open-target.ts';

const SECRET = 'secret+key/of=the=test';
const DAY = '2026-01-31';
const now = () => new Date(`${DAY}T00:10:00Z`);
const signal = new AbortController().signal;
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The signature of a request by AWS Signature Version 4, https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function isSigned(method: string, url: URL, headers: Record<string, string>): boolean {
  const auth = /Credential=id\/(\d+)\/(\S+)\/s3\/aws4_request, SignedHeaders=(\S+), Signature=(\S+)/.exec(
    headers.authorization ?? '',
  );
  if (!auth) return false;
  const [, date = '', region = '', signed = '', signature] = auth;
  const query = Array.from(url.searchParams, (pair) => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&');
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, url.pathname, query, lines.join(''), signed, headers['x-amz-content-sha256']].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [region, 's3', 'aws4_request'].reduce(
    hmac as (key: Buffer, text: string) => Buffer,
    hmac(`AWS4${SECRET}`, date),
  );
  return hmac(key, text).toString('hex') === signature;
}

async function startBucket() {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '', `http://${headers.host}`);
    const body = Buffer.concat(await Array.fromAsync(request));
    const given = { ...headers } as Record<string, string>;
    const isIntact = [given['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD'].some(
      (hash) => hash === 'UNSIGNED-PAYLOAD' || hash === sha256(body),
    );
    const checksum = given['x-amz-checksum-sha256'] ?? Buffer.from(sha256(body), 'hex').toString('base64');
    const name = decodeURIComponent(url.pathname).replace('/lake/', '');
    if (!isSigned(method, url, given) || !isIntact || Buffer.from(checksum, 'base64').toString('hex') !== sha256(body))
      return response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    if (url.searchParams.get('list-type') === '2') {
      const prefix = url.searchParams.get('prefix') ?? '-';
      const names = [...objects.keys()].filter((key) => key.startsWith(prefix)).slice(0, 2);
      const isMore = names.length === 2;
      const keys = names.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
      return response.end(`<ListBucketResult><IsTruncated>${isMore}</IsTruncated>${keys}</ListBucketResult>`);
    }
    if (method === 'PUT') objects.set(name, body);
    if (method === 'DELETE') objects.delete(name);
    const found = method === 'GET' ? objects.get(name) : '';
    if (found === undefined) return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    return response.writeHead(method === 'DELETE' ? 204 : 200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { objects, endpoint, [Symbol.asyncDispose]: close };
}

const addressOf = (url: string) => DumpUrl.parse(url);
const rows = (count: number) => Array.from({ length: count }, (_, i) => [`d${i}.com`, i]);
const named = (name: string) => ({ name, description: '' });
const columns = [named('domain'), { ...named('n'), type: 'integer' } as const];
const table = (name: string, ...batches: number[]): DumpTable => ({ name, columns, rows: () => batches.map(rows) });
const tables = [table('empty'), table('large', 20, 6, 7)];

/** The dump by its manifest, each file checked. */
async function read(
  target: Pick<DumpTarget, 'read'>,
  file: (name: string) => Promise<Buffer>,
): Promise<Manifest | undefined> {
  const text = await target.read(`_manifests/${DAY}.json`);
  if (text === undefined) return undefined;
  const manifest = JSON.parse(text) as Manifest;
  for (const { files } of Object.values(manifest.tables))
    for (const each of files) {
      const bytes = await file(each.path);
      assert.deepEqual([bytes.length, sha256(bytes)], [each.size_bytes, each.sha256]);
      const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      assert.equal((await parquetReadObjects({ file: buffer, columns: ['domain'] })).length, each.rows);
    }
  return manifest;
}

for (const kind of ['folder', 'bucket'] as const)
  it(`a dump into a ${kind} has all rows in parts; an interrupted one is not visible and begun again`, async () => {
    process.env.AWS_ACCESS_KEY_ID = 'id';
    process.env.AWS_SECRET_ACCESS_KEY = SECRET;
    await using bucket = await startBucket();
    await using directory = await temporaryDirectory();
    const folder = path.join(directory.path, 'dumps');
    const url =
      kind === 'folder' ? pathToFileURL(folder).href : `s3://lake/a%20b?endpoint=${bucket.endpoint}&region=eu-1`;
    using target = await openTarget(addressOf(url), signal);
    const file = async (name: string) =>
      kind === 'folder' ? readFile(path.join(folder, name)) : (bucket.objects.get(`a b/${name}`) ?? assert.fail(name));
    const deps = { tables, target, scratch: path.join(directory.path, 'scratch'), now, signal, partRows: 25 };
    let puts = 0;
    const put: DumpTarget['put'] = async (...args) => {
      puts += 1;
      if (puts === 3) throw new Error('killed');
      await target.put(...args);
    };
    const failing = {
      put,
      read: target.read.bind(target),
      remove: target.remove.bind(target),
      complete: target.complete.bind(target),
      [Symbol.dispose]() {},
    };
    await assert.rejects(dump(DAY, { ...deps, target: failing }), /killed/);
    assert.equal(await read(target, file), undefined);
    if (kind === 'folder') assert.deepEqual(await readdir(folder), ['.incomplete']);
    for (const large of [tables[1] as DumpTable, table('large', 5)]) {
      await dump(DAY, { ...deps, tables: [tables[0] as DumpTable, large] });
      const { tables: dumped } = (await read(target, file)) ?? assert.fail();
      const files = dumped.large?.files.map((each) => [each.path, each.rows]);
      const part = (n: number, count: number) => [`large/date=${DAY}/part-${n}.parquet`, count];
      assert.deepEqual(files, large === tables[1] ? [part(0, 26), part(1, 7)] : [part(0, 5)]);
      assert.deepEqual([dumped.empty?.rows, dumped.empty?.files.length], [0, 1]);
    }
    const names = kind === 'folder' ? await readdir(folder, { recursive: true }) : [...bucket.objects.keys()];
    assert.equal(names.filter((name) => name.endsWith('.parquet')).length, 2, 'nothing of the earlier dump');
    assert.deepEqual(await readdir(directory.path), kind === 'folder' ? ['dumps'] : []);
  });

it('accepts addresses of folders and buckets only, and no credentials', () => {
  assert.deepEqual(addressOf('file:///a%20b'), { kind: 'folder', folder: '/a b' });
  const { kind, ...rest } = addressOf('s3://b-1/x/y/?endpoint=https://s3.example&region=eu') as Record<string, string>;
  const bucket = { bucket: 'b-1', prefix: 'x/y/', endpoint: 'https://s3.example', region: 'eu' };
  assert.deepEqual([kind, rest], ['bucket', bucket]);
  for (const bad of casesOf<string[]>('stack', 'bad addresses of dumps'))
    assert.equal(DumpUrl.safeParse(bad).success, false, bad);
});
it('a dump that fails is tried once more that day, and reported; a folder without new names is refused at once', async () => {
  const { app } = (await sharedService()).running;
  await using directory = await temporaryDirectory();
  const address = addressOf(pathToFileURL(path.join(directory.path, 'file', 'dumps')).href);
  await writeFile(path.join(directory.path, 'file'), '');
  const stop = new AbortController();
  let at = now().getTime();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(String(JSON.parse(line).msg)) });
  const wait = async (ms: number) => {
    at += ms;
    if (at > now().getTime() + 30 * 3_600_000) stop.abort();
  };
  const scratch = path.join(directory.path, 'scratch');
  const deps = { address, scratch, store: app.store, tables, logger, wait, now: () => new Date(at) };
  await dumpNightly(deps, stop.signal);
  const ends = lines.map((line) => line.replace('the dump failed: the next attempt is ', ''));
  assert.deepEqual(ends, ['in an hour', 'tomorrow', 'in an hour', 'tomorrow']);
  assert.match((await dumpTimes(app.store.texts)).failed_at ?? '', /^2026-02-01T01/);
  for (const folder of ['/proc/strata/dumps', path.join(directory.path, 'file')])
    await assert.rejects(checkDumpFolder(folder), { code: /^(?:ENOENT|EEXIST|EACCES|ENOTDIR)$/ }, folder);
});
it('the tables of a service are dumped once a day', async () => {
  const { app } = (await sharedService()).running;
  await using directory = await temporaryDirectory();
  const address = addressOf(pathToFileURL(directory.path).href);
  const scratch = path.join(directory.path, 'scratch');
  const deps = { address, scratch, store: app.store, tables: completeTables(app) };
  const dumpOn = (date: string, isReplaced = false) =>
    dumpToday({ ...deps, now: () => new Date(`${date}T00:00:05Z`) }, { isReplaced, signal });
  await dumpOn('2026-01-30');
  const { tables: dumped } = (await dumpOn(DAY)) as Manifest;
  assert.deepEqual(Object.keys(dumped), ['domains', 'services', 'records', 'history', 'scorecard']);
  assert.equal(dumped.domains?.rows, app.known.size);
  assert.equal(await dumpOn(DAY), 'kept');
  assert.equal(typeof (await dumpOn(DAY, true)), 'object');
  {
    await using held = await app.store.dumpLock.tryTake();
    assert.equal(await dumpOn(DAY, true), held ? 'locked' : 'free');
  }
});
