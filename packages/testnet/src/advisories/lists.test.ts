import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { baselineUrl, DAY, page, START, unzip } from '../test/reading.ts';
import { clockAt, openSources, useSources } from '../test/use.ts';
import { cvssOf } from './cvss.ts';
import { writeZip } from './publishers/zip.ts';

describe('the complete lists of publishers', () => {
  const sources = useSources();
  it('FIRST keeps the file that a reader was redirected to when the day ends', async () => {
    const clock = clockAt(START);
    await using own = await openSources({ now: clock.now });
    const files: URL[] = [];
    for (let day = 0; day < 3; day += 1, clock.at += DAY) {
      const { headers } = await fetch(own.epssUrl, { redirect: 'manual' });
      files.push(new URL(headers.get('location') ?? '', own.epssUrl));
    }
    clock.at -= DAY;
    const statuses = await Promise.all(files.map(async (file) => (await fetch(file)).status));
    assert.deepEqual(statuses, [404, 200, 200]);
  });
  it('the CVE List releases a zip of a zip, which has an ETag and comes in parts', async () => {
    const url = await baselineUrl(sources);
    const response = await fetch(url);
    assert.ok(response.redirected);
    const archive = Buffer.from(await response.arrayBuffer());
    const etag = response.headers.get('etag') ?? '';
    assert.deepEqual([...unzip(archive).keys()], ['cves.zip']);
    const files = unzip(unzip(archive).get('cves.zip')?.() ?? Buffer.alloc(0));
    const record = (path: string) => JSON.parse(String(files.get(`cves/${path}.json`)?.()));
    const { cveMetadata, containers } = record('2024/4xxx/CVE-2024-4577');
    const [{ platforms, versions }] = containers.cna.affected;
    assert.deepEqual([cveMetadata.state, platforms], ['PUBLISHED', ['Windows']]);
    const version = { status: 'affected', version: '8.1.*', lessThan: '8.1.29', versionType: 'semver' };
    assert.deepEqual(versions[0], version);
    assert.equal(record('2025/66xxx/CVE-2025-66478').cveMetadata.state, 'REJECTED');
    assert.throws(() => record('2998/90xxx/CVE-2998-90001'));

    assert.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304);
    const part = async (range: string, more: Record<string, string> = {}) => {
      const answer = await fetch(url, { headers: { range, ...more } });
      return [answer.status, Buffer.from(await answer.arrayBuffer()), answer.headers.get('content-range')] as const;
    };
    const expected = [206, archive.subarray(100, 300), `bytes 100-299/${archive.length}`];
    assert.deepEqual(await part('bytes=100-299'), expected);
    assert.deepEqual((await part('bytes=-22'))[1], archive.subarray(-22));
    assert.deepEqual((await part('bytes=1000-', { 'if-range': etag }))[1], archive.subarray(1000));
    assert.equal((await part('bytes=1000-', { 'if-range': '"old"' }))[0], 200);
    assert.equal((await part(`bytes=${archive.length}-`))[0], 416);
  });
});

it('generated records are served in pages, in bounded memory, each once, and are the same for the same seed', async () => {
  await using sources = await openSources({ bulk: 20_000 });
  const first = await page(sources, { resultsPerPage: '2000' });
  const before = process.memoryUsage().heapUsed;
  const ids = new Set<string>();
  for (const startIndex of [0, 2_000, 10_000, 18_000, 20_000]) {
    const answer = await page(sources, { resultsPerPage: '2000', startIndex: String(startIndex) });
    for (const { cve } of answer.vulnerabilities) ids.add(cve.id);
    const times = answer.vulnerabilities.map(({ cve }) => cve.published).filter((time) => time !== 'last week');
    assert.deepEqual(times, times.toSorted(), 'in the order of publication');
    const grown = process.memoryUsage().heapUsed - before;
    assert.ok(grown < 100 * 2 ** 20, `${grown} bytes`);
  }
  const known = sources.records().filter(({ id }) => id.startsWith('CVE-')).length;
  assert.deepEqual([first.totalResults, ids.size], [20_000 + known, 8_000 + known]);
  const window = { lastModStartDate: '2020-01-01T00:00:00.000', lastModEndDate: '2020-02-01T00:00:00.000' };
  const { totalResults, vulnerabilities } = await page(sources, window);
  assert.ok(totalResults > 60 && totalResults < 90, `${totalResults}`);
  for (const { cve } of vulnerabilities) assert.match(cve.lastModified, /^2020-01|^2020-02-01/);
  await using same = await openSources({ bulk: 20_000 });
  assert.deepEqual(await page(same, { resultsPerPage: '2000' }), first);
});

it('a zip contains its entries, and has a zip64 end record above the limit of an ordinary one', async () => {
  await using directory = await temporaryDirectory();
  const entries = ['a', '', 'ü'].map((contents, i) => ({ name: `${i}`, contents }));
  const few = await writeZip(path.join(directory.path, 'few.zip'), entries, { zip64Entries: 4 });
  assert.equal((await readFile(few.path)).includes('PK\x06\x06', 0, 'latin1'), false);
  const many = await writeZip(path.join(directory.path, 'many.zip'), entries, { zip64Entries: 3 });
  const bytes = await readFile(many.path);
  assert.deepEqual([many.sizeBytes, many.crc], [bytes.length, crc32(bytes)]);
  const [end64, locator, end] = [98, 42, 22].map((back) => bytes.subarray(bytes.length - back));
  assert.deepEqual([end64?.toString('latin1', 0, 4), end64?.readBigUInt64LE(32)], ['PK\x06\x06', 3n]);
  assert.equal(locator?.toString('latin1', 0, 4), 'PK\x06\x07');
  assert.equal(Number(locator?.readBigUInt64LE(8)), bytes.length - 98);
  assert.deepEqual([end?.readUInt16LE(8), end?.readUInt16LE(10)], [0xffff, 0xffff]);
  const contents = [...unzip(bytes)].map(([name, read]) => ({ name, contents: String(read()) }));
  assert.deepEqual(contents, entries);
});

it('a base score is computed from its vector', () => {
  for (const [vector, score] of [
    ['AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8],
    ['AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10],
    ['AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 6.1],
    ['AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:H/A:H', 7.7],
    ['AV:L/AC:H/PR:L/UI:N/S:U/C:N/I:N/A:H', 4.7],
    ['AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0],
  ] as const)
    assert.equal(cvssOf(`CVSS:3.1/${vector}`).score, score, vector);
  assert.throws(() => cvssOf('AV:N/AC:L'), RangeError);
});
