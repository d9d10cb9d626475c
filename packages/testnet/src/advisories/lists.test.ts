import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, epssLines, json, START, unzip } from '../test/reading.ts';
import { clockAt, openSources, useSources } from '../test/use.ts';

describe('the lists of whole publishers', () => {
  const sources = useSources();

  it('CISA lists what is exploited, with an ETag and a time', async () => {
    const response = await fetch(sources.kevUrl);
    const { count, vulnerabilities } = (await response.json()) as {
      count: number;
      vulnerabilities: { cveID?: string; dateAdded: string }[];
    };
    assert.equal(count, vulnerabilities.length);
    assert.equal(vulnerabilities.find(({ cveID }) => cveID === 'CVE-2024-4577')?.dateAdded, '2024-06-12');
    assert.equal(vulnerabilities.filter(({ cveID }) => cveID === undefined).length, 3);
    const again = (headers: Record<string, string>) => fetch(sources.kevUrl, { headers }).then(({ status }) => status);
    assert.equal(await again({ 'if-none-match': response.headers.get('etag') ?? '' }), 304);
    assert.equal(await again({ 'if-modified-since': response.headers.get('last-modified') ?? '' }), 304);
    assert.equal(await again({ 'if-none-match': '"other"' }), 200);
  });

  it('CISA changes its list only when it lists or takes back', async () => {
    const clock = clockAt(START);
    await using own = await openSources({ now: clock.now });
    const tag = async () => (await fetch(own.kevUrl)).headers.get('etag');
    const before = await tag();
    clock.at += 60_000;
    const [{ id: _, kev: __, ...like } = assert.fail('no record')] = own.records();
    own.publish({ ...like, id: 'CVE-2999-70000' });
    assert.equal(await tag(), before);
    own.exploit('CVE-2999-70000');
    const exploited = await tag();
    assert.notEqual(exploited, before);
    own.withdraw('CVE-2999-70000');
    assert.notEqual(await tag(), exploited);
  });

  it('FIRST sends on to the file of the day, gzipped, with a head line', async () => {
    const first = await fetch(sources.epssUrl, { redirect: 'manual' });
    assert.equal(first.status, 302);
    assert.match(first.headers.get('location') ?? '', /^\/epss_scores-\d{4}-\d\d-\d\d\.csv\.gz$/);
    const lines = await epssLines(sources);
    assert.match(lines[0] ?? '', /^#model_version:v[\d.]+,score_date:\d{4}-\d\d-\d\dT12:55:00Z$/);
    assert.equal(lines[1], 'cve,epss,percentile');
    assert.ok(lines.includes('CVE-2998-90001,n/a'));
    for (const line of lines.slice(2)) assert.match(line, /^CVE-\d{4}-\d{4,},(?:0\.\d{5},[01]\.\d{5}|n\/a)$/);
  });

  it('FIRST keeps the file that a reader was sent to when the day ends', async () => {
    const clock = clockAt(START);
    await using own = await openSources({ now: clock.now });
    const sentTo = async () =>
      new URL((await fetch(own.epssUrl, { redirect: 'manual' })).headers.get('location') ?? '', own.epssUrl);
    const statusOf = async (file: URL) => (await fetch(file)).status;
    const first = await sentTo();
    clock.at += DAY;
    assert.equal(await statusOf(first), 200);
    const second = await sentTo();
    clock.at += DAY;
    const third = await sentTo();
    assert.deepEqual([await statusOf(first), await statusOf(second), await statusOf(third)], [404, 200, 200]);
  });

  it('OSV tells packages by ecosystem, also those that have no CVE', async () => {
    const csv = await (await fetch(`${sources.osvUrl}/npm/modified_id.csv`)).text();
    const rows = csv.trimEnd().split('\n');
    const times = rows.map((row) => row.split(',')[0]);
    assert.deepEqual(times, times.toSorted().reverse());
    const files = unzip(Buffer.from(await (await fetch(`${sources.osvUrl}/npm/all.zip`)).arrayBuffer()));
    assert.deepEqual([...files.keys()].sort(), rows.map((row) => `${row.split(',')[1]}.json`).sort());
    const alone = await json<object>(`${sources.osvUrl}/npm/GHSA-9qr9-h5gf-34mp.json`);
    assert.ok(!('aliases' in alone));
    assert.partialDeepStrictEqual(alone, { affected: [{ package: { purl: 'pkg:npm/next' } }] });
    const python = await json<{ aliases: string[] }>(`${sources.osvUrl}/PyPI/PYSEC-2022-190.json`);
    assert.deepEqual(python.aliases, ['CVE-2022-28346', 'GHSA-2gwj-7jmv-h26r']);
    for (const path of ['npm/PYSEC-2022-190.json', 'Go/all.zip', 'npm/a/b.json', '__proto__/all.zip'])
      assert.equal((await fetch(`${sources.osvUrl}/${path}`)).status, 404, path);
  });
});
