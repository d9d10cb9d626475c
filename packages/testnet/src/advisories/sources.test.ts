import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { cvssOf } from './cvss.ts';
import { type AdvisorySources, createAdvisorySources } from './sources.ts';

const DAY = 86_400_000;
const START = Date.parse('2026-03-01T08:00:00.000Z');

/** Parts of what the publishers answer that the tests look at. */
interface NvdPage {
  readonly resultsPerPage: number;
  readonly startIndex: number;
  readonly totalResults: number;
  readonly format: string;
  readonly timestamp: string;
  readonly vulnerabilities: readonly { readonly cve: NvdCve }[];
}
interface NvdCve {
  readonly id: string;
  readonly published: string;
  readonly lastModified: string;
  readonly vulnStatus: string;
  readonly configurations?: readonly {
    readonly operator?: string;
    readonly nodes: readonly { readonly cpeMatch: readonly Record<string, unknown>[] }[];
  }[];
}

async function page(sources: AdvisorySources, query: Record<string, string> = {}, init?: RequestInit) {
  const response = await fetch(`${sources.nvdUrl}?${new URLSearchParams(query)}`, init);
  assert.equal(response.status, 200, response.headers.get('message') ?? '');
  return (await response.json()) as NvdPage;
}

async function json<T>(url: string): Promise<T> {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return (await response.json()) as T;
}

/** The names and contents of a zip, read by its central directory. */
function unzip(file: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = file.readUInt32LE(end + 16);
  while (file.toString('latin1', at, at + 4) === 'PK\x01\x02') {
    const nameBytes = file.readUInt16LE(at + 28);
    const name = file.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = file.readUInt32LE(at + 42);
    const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    const data = file.subarray(start, start + file.readUInt32LE(at + 20));
    found.set(name, file.readUInt16LE(at + 10) === 8 ? inflateRawSync(data) : data);
    at += 46 + nameBytes + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return found;
}

async function baselineUrl(sources: AdvisorySources): Promise<string> {
  const release = await json<{ assets: { name: string; browser_download_url: string; size: number }[] }>(
    `${sources.cveListUrl}/releases/latest`,
  );
  const [asset] = release.assets;
  assert.match(asset?.name ?? '', /^\d{4}-\d\d-\d\d_all_CVEs_at_midnight\.zip\.zip$/);
  return asset?.browser_download_url ?? '';
}

describe('the advisory publishers', () => {
  let now = START;
  let sources: AdvisorySources;
  before(async () => {
    sources = await createAdvisorySources({ seed: 'strata', now: () => new Date(now) });
  });
  after(() => sources[Symbol.asyncDispose]());

  describe('the NVD', () => {
    it('pages through everything, the oldest first, each once', async () => {
      const ids: string[] = [];
      let total = 1;
      for (let startIndex = 0; startIndex < total; startIndex += 40) {
        const answer = await page(sources, { resultsPerPage: '40', startIndex: String(startIndex) });
        assert.equal(answer.format, 'NVD_CVE');
        assert.doesNotMatch(answer.timestamp, /Z$/);
        total = answer.totalResults;
        ids.push(...answer.vulnerabilities.map(({ cve }) => cve.id));
      }
      assert.ok(total >= 60);
      assert.equal(new Set(ids).size, total);
      assert.equal(ids.filter((id) => !id.startsWith('CVE-')).length, 0);
      const beyond = await page(sources, { startIndex: '5000' });
      assert.equal(beyond.resultsPerPage, 0);
    });

    it('joins software to its platform by AND, and leaves what it has not analysed without configurations', async () => {
      const [found] = (await page(sources, { cveId: 'CVE-2024-4577' })).vulnerabilities;
      const [configuration] = found?.cve.configurations ?? [];
      assert.equal(configuration?.operator, 'AND');
      const [vulnerable, platform] = configuration?.nodes ?? [];
      assert.equal(vulnerable?.cpeMatch[0]?.criteria, 'cpe:2.3:a:php:php:*:*:*:*:*:*:*:*');
      assert.equal(vulnerable?.cpeMatch[0]?.versionEndExcluding, '8.1.29');
      assert.equal(platform?.cpeMatch[0]?.criteria, 'cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*');
      assert.equal(platform?.cpeMatch[0]?.vulnerable, false);
      const [awaiting] = (await page(sources, { cveId: 'CVE-2025-53859' })).vulnerabilities;
      assert.equal(awaiting?.cve.vulnStatus, 'Awaiting Analysis');
      assert.equal(awaiting?.cve.configurations, undefined);
      const [rejected] = (await page(sources, { cveId: 'CVE-2025-66478' })).vulnerabilities;
      assert.equal(rejected?.cve.vulnStatus, 'Rejected');
    });

    it('answers a window of modification, and says what is wrong with others in a header', async () => {
      const window = { lastModStartDate: '2024-06-01T00:00:00.000', lastModEndDate: '2024-07-20T00:00:00.000Z' };
      const { vulnerabilities } = await page(sources, window);
      assert.ok(vulnerabilities.length > 0);
      for (const { cve } of vulnerabilities) {
        assert.ok(cve.lastModified >= '2024-06-01' && cve.lastModified < '2024-07-20', cve.id);
        assert.doesNotMatch(cve.lastModified, /Z$/);
      }
      const wrong: [Record<string, string>, RegExp][] = [
        [{ lastModStartDate: '2024-06-01T00:00:00.000' }, /Both/],
        [{ lastModStartDate: '2024-01-01T00:00:00.000', lastModEndDate: '2024-06-01T00:00:00.000' }, /120 days/],
        [{ lastModStartDate: '2024-06-01', lastModEndDate: '2024-06-02' }, /date/],
        [{ resultsPerPage: '2001' }, /resultsPerPage/],
        [{ startIndex: '-1' }, /startIndex/],
        [{ cveId: 'nginx' }, /cveId/],
        [{ page: '2' }, /Invalid parameter/],
      ];
      for (const [query, message] of wrong) {
        const response = await fetch(`${sources.nvdUrl}?${new URLSearchParams(query)}`);
        assert.equal(response.status, 404, JSON.stringify(query));
        assert.match(response.headers.get('message') ?? '', message);
      }
    });

    it('refuses the sixth request in half a minute, with a key the fifty-first', async () => {
      await using limited = await createAdvisorySources({ seed: 's', now: () => new Date(now), rateLimits: true });
      const ask = async (headers: Record<string, string> = {}) =>
        (await fetch(`${limited.nvdUrl}?cveId=CVE-2021-23017`, { headers })).status;
      const without: number[] = [];
      for (let i = 0; i < 6; i += 1) without.push(await ask());
      assert.deepEqual(without, [200, 200, 200, 200, 200, 403]);
      const apiKey = '12345678-1234-4234-8234-123456789abc';
      const withKey: number[] = [];
      for (let i = 0; i < 51; i += 1) withKey.push(await ask({ apiKey }));
      assert.deepEqual([withKey.filter((status) => status === 200).length, withKey.at(-1)], [50, 429]);
      assert.equal(await ask({ apiKey: 'none' }), 404);
      assert.equal(limited.requests('nvd'), 58);
    });
  });

  describe('the CVE List', () => {
    it('releases a zip of a zip, which has an ETag and comes in parts', async () => {
      const url = await baselineUrl(sources);
      const response = await fetch(url);
      assert.equal(response.redirected, true);
      const whole = Buffer.from(await response.arrayBuffer());
      const etag = response.headers.get('etag') ?? '';
      assert.deepEqual([...unzip(whole).keys()], ['cves.zip']);
      const files = unzip(unzip(whole).get('cves.zip') ?? Buffer.alloc(0));
      const record = JSON.parse(String(files.get('cves/2024/4xxx/CVE-2024-4577.json')));
      assert.equal(record.cveMetadata.state, 'PUBLISHED');
      const [affected] = record.containers.cna.affected;
      assert.deepEqual(affected.platforms, ['Windows']);
      assert.deepEqual(affected.versions[0], {
        status: 'affected',
        version: '8.1.*',
        lessThan: '8.1.29',
        versionType: 'semver',
      });
      assert.equal(JSON.parse(String(files.get('cves/2025/66xxx/CVE-2025-66478.json'))).cveMetadata.state, 'REJECTED');
      assert.throws(() => JSON.parse(String(files.get('cves/2998/90xxx/CVE-2998-90001.json'))));

      assert.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304);
      const part = async (range: string, more: Record<string, string> = {}) => {
        const answer = await fetch(url, { headers: { range, ...more } });
        return [answer.status, Buffer.from(await answer.arrayBuffer()), answer.headers.get('content-range')] as const;
      };
      const [status, bytes, range] = await part('bytes=100-299');
      assert.equal(status, 206);
      assert.equal(range, `bytes 100-299/${whole.length}`);
      assert.deepEqual(bytes, whole.subarray(100, 300));
      assert.deepEqual((await part('bytes=-22'))[1], whole.subarray(-22));
      assert.deepEqual((await part('bytes=1000-', { 'if-range': etag }))[1], whole.subarray(1000));
      assert.equal((await part('bytes=1000-', { 'if-range': '"old"' }))[0], 200);
      assert.equal((await part(`bytes=${whole.length}-`))[0], 416);
    });

    it('serves raw files, and nothing at another path', async () => {
      const text = await (await fetch(`${sources.rawUrl}/cves/2021/23xxx/CVE-2021-23017.json`)).text();
      assert.match(text, /^\{\n {4}"dataType": "CVE_RECORD"/);
      for (const path of ['cves/2021/0xxx/CVE-2021-23017.json', 'cves/2999/1xxx/CVE-2999-1000.json', '..%2f..%2fetc']) {
        assert.equal((await fetch(`${sources.rawUrl}/${path}`)).status, 404, path);
      }
    });
  });

  it('CISA lists what is exploited, with an ETag and a time', async () => {
    const response = await fetch(sources.kevUrl);
    const catalog = (await response.json()) as {
      count: number;
      vulnerabilities: { cveID?: string; dateAdded: string }[];
    };
    assert.equal(catalog.count, catalog.vulnerabilities.length);
    const php = catalog.vulnerabilities.find(({ cveID }) => cveID === 'CVE-2024-4577');
    assert.equal(php?.dateAdded, '2024-06-12');
    assert.equal(catalog.vulnerabilities.filter(({ cveID }) => cveID === undefined).length, 3);
    const again = (headers: Record<string, string>) => fetch(sources.kevUrl, { headers }).then(({ status }) => status);
    assert.equal(await again({ 'if-none-match': response.headers.get('etag') ?? '' }), 304);
    assert.equal(await again({ 'if-modified-since': response.headers.get('last-modified') ?? '' }), 304);
    assert.equal(await again({ 'if-none-match': '"other"' }), 200);
  });

  it('FIRST sends on to the file of the day, gzipped, with a head line', async () => {
    const first = await fetch(sources.epssUrl, { redirect: 'manual' });
    assert.equal(first.status, 302);
    assert.match(first.headers.get('location') ?? '', /^\/epss_scores-\d{4}-\d\d-\d\d\.csv\.gz$/);
    const response = await fetch(sources.epssUrl);
    const lines = gunzipSync(Buffer.from(await response.arrayBuffer()))
      .toString()
      .trimEnd()
      .split('\n');
    assert.match(lines[0] ?? '', /^#model_version:v[\d.]+,score_date:\d{4}-\d\d-\d\dT12:55:00Z$/);
    assert.equal(lines[1], 'cve,epss,percentile');
    assert.ok(lines.includes('CVE-2998-90001,n/a'));
    for (const line of lines.slice(2)) assert.match(line, /^CVE-\d{4}-\d{4,},(?:0\.\d{5},[01]\.\d{5}|n\/a)$/);
  });

  it('OSV tells packages by ecosystem, also those that have no CVE', async () => {
    const csv = await (await fetch(`${sources.osvUrl}/npm/modified_id.csv`)).text();
    const rows = csv
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    assert.deepEqual(
      rows.map(([time]) => time),
      rows
        .map(([time]) => time)
        .sort()
        .reverse(),
    );
    const files = unzip(Buffer.from(await (await fetch(`${sources.osvUrl}/npm/all.zip`)).arrayBuffer()));
    assert.deepEqual([...files.keys()].sort(), rows.map(([, id]) => `${id}.json`).sort());
    const alone = await json<{ aliases?: string[]; affected: { package: { purl: string } }[] }>(
      `${sources.osvUrl}/npm/GHSA-9qr9-h5gf-34mp.json`,
    );
    assert.equal(alone.aliases, undefined);
    assert.equal(alone.affected[0]?.package.purl, 'pkg:npm/next');
    const python = await json<{ aliases: string[] }>(`${sources.osvUrl}/PyPI/PYSEC-2022-190.json`);
    assert.deepEqual(python.aliases, ['CVE-2022-28346', 'GHSA-2gwj-7jmv-h26r']);
    for (const path of ['npm/PYSEC-2022-190.json', 'Go/all.zip', 'npm/a/b.json', '__proto__/all.zip']) {
      assert.equal((await fetch(`${sources.osvUrl}/${path}`)).status, 404, path);
    }
  });

  it('all tell what a test publishes, exploits and withdraws', async () => {
    await using own = await createAdvisorySources({ seed: 's', now: () => new Date(now), records: [] });
    now += DAY;
    own.publish({
      id: 'CVE-2999-70000',
      ghsa: 'GHSA-2345-6789-cfgh',
      title: 'Published by a test',
      vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
      affected: [
        {
          cpe: 'ghost:ghost',
          vendor: 'TryGhost',
          product: 'Ghost',
          package: { ecosystem: 'npm', name: 'ghost' },
          versions: [{ from: '5.0.0', below: '5.99.0' }],
        },
      ],
      nvd: 'awaiting',
    });
    const statusOf = async () =>
      (await page(own)).vulnerabilities.map(({ cve }) => [cve.id, cve.vulnStatus, cve.lastModified]);
    const changed = '2026-03-02T08:00:00.000';
    assert.deepEqual(await statusOf(), [['CVE-2999-70000', 'Awaiting Analysis', changed]]);
    const delta = () =>
      json<{ new: { cveId: string; githubLink: string }[]; updated: { cveId: string }[] }>(
        `${own.rawUrl}/cves/delta.json`,
      );
    const [fresh] = (await delta()).new;
    assert.equal(fresh?.cveId, 'CVE-2999-70000');
    const record = await json<{ cveMetadata: { dateUpdated: string } }>(fresh?.githubLink ?? '');
    assert.equal(record.cveMetadata.dateUpdated, `${changed}Z`);
    assert.match(
      await (await fetch(`${own.osvUrl}/npm/modified_id.csv`)).text(),
      /^2026-03-02T08:00:00.000Z,GHSA-2345-6789-cfgh\n$/,
    );

    own.exploit('CVE-2999-70000');
    const { vulnerabilities } = await json<{ vulnerabilities: { cveID: string; dateAdded: string }[] }>(own.kevUrl);
    assert.deepEqual(
      vulnerabilities.map(({ cveID, dateAdded }) => [cveID, dateAdded]),
      [['CVE-2999-70000', '2026-03-02']],
    );
    assert.deepEqual(
      (await delta()).updated.map(({ cveId }) => cveId),
      ['CVE-2999-70000'],
    );

    own.withdraw('CVE-2999-70000');
    assert.deepEqual(await statusOf(), [['CVE-2999-70000', 'Rejected', changed]]);
    const withdrawn = await json<{ withdrawn: string }>(`${own.osvUrl}/npm/GHSA-2345-6789-cfgh.json`);
    assert.equal(withdrawn.withdrawn, `${changed}Z`);
    assert.equal((await json<unknown[]>(`${own.rawUrl}/cves/deltaLog.json`)).length, 4);
    assert.throws(() => own.exploit('CVE-1999-0001'), RangeError);
  });

  it('fail as often as they are told to, and then answer again', async () => {
    const ask = () => fetch(sources.kevUrl, { signal: AbortSignal.timeout(300) });
    sources.fail('kev', { status: 503, times: 2 });
    assert.deepEqual([(await ask()).status, (await ask()).status, (await ask()).status], [503, 503, 200]);
    sources.fail('kev', { kind: 'hang', times: 1 });
    await assert.rejects(ask(), { name: 'TimeoutError' });
    sources.fail('kev', { kind: 'cut', times: 1 });
    await assert.rejects(
      ask().then((response) => response.text()),
      TypeError,
    );
    sources.fail('kev', { kind: 'garbage', times: 1 });
    await assert.rejects(
      ask().then((response) => response.json()),
      SyntaxError,
    );
    assert.equal((await ask()).status, 200);
    const url = await baselineUrl(sources);
    const before = sources.requests('cve-list');
    sources.fail('cve-list', { kind: 'cut', times: 2 });
    await assert.rejects(
      fetch(url).then((response) => response.arrayBuffer()),
      TypeError,
    );
    assert.ok(sources.requests('cve-list') > before);
  });

  it('know the base scores that their vectors come to', () => {
    const scores: [string, number][] = [
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8],
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10],
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 6.1],
      ['CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:H/A:H', 7.7],
      ['CVSS:3.1/AV:L/AC:H/PR:L/UI:N/S:U/C:N/I:N/A:H', 4.7],
      ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0],
    ];
    for (const [vector, score] of scores) assert.equal(cvssOf(vector).score, score, vector);
    assert.throws(() => cvssOf('AV:N/AC:L'), RangeError);
  });
});

describe('the days of the advisory publishers', () => {
  const after60Days = async (seed: string) => {
    let now = START;
    await using sources = await createAdvisorySources({ seed, now: () => new Date(now), records: [] });
    const days: number[] = [];
    for (let day = 0; day < 60; day += 1) {
      now += DAY;
      const before = sources.records().length;
      sources.advance(1);
      days.push(sources.records().length - before);
    }
    const epss = gunzipSync(Buffer.from(await (await fetch(sources.epssUrl)).arrayBuffer())).toString();
    const text = await (await fetch(`${sources.rawUrl}/cves/deltaLog.json`)).text();
    // The port is the system's choice.
    const log: { fetchTime: string; updated: unknown[] }[] = JSON.parse(text.replaceAll(sources.rawUrl, ''));
    return { days, epss, log, records: sources.records() };
  };

  it('bring none to two new records each, some changed, some exploited, and are the same for the same seed', async () => {
    const [one, same, other] = await Promise.all([after60Days('a'), after60Days('a'), after60Days('b')]);
    assert.deepEqual(new Set(one.days), new Set([0, 1, 2]));
    assert.ok(one.records.every(({ id }) => /^CVE-2999-1\d{4}$/.test(id)));
    assert.ok(one.records.some(({ kev }) => kev !== undefined));
    assert.ok(one.log.some(({ updated }) => updated.length > 0));
    assert.ok(one.log.every(({ fetchTime }) => Date.parse(fetchTime) >= START + 30 * DAY));
    assert.deepEqual(same, one);
    assert.notDeepEqual(other.records, one.records);
  });

  it('move every score a little', async () => {
    let now = START;
    await using sources = await createAdvisorySources({ seed: 'a', now: () => new Date(now) });
    const scores = async () => {
      const text = gunzipSync(Buffer.from(await (await fetch(sources.epssUrl)).arrayBuffer())).toString();
      return Number(/^CVE-2021-23017,([\d.]+)/m.exec(text)?.[1]);
    };
    const before = await scores();
    now += DAY;
    sources.advance(1);
    const moved = await scores();
    assert.notEqual(moved, before);
    assert.ok(Math.abs(moved - before) <= 0.06 * before);
  });
});

describe('a quarter of a million made-up records', () => {
  it('page in bounded memory, each once, and alike for the same seed', async (test) => {
    await using sources = await createAdvisorySources({ seed: 'bulk', now: () => new Date(START), bulk: 250_000 });
    const first = await page(sources, { resultsPerPage: '2000' });
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    const seen = new Set<string>();
    for (const startIndex of [0, 2_000, 100_000, 200_000, 248_000, 250_000]) {
      const answer = await page(sources, { resultsPerPage: '2000', startIndex: String(startIndex) });
      for (const { cve } of answer.vulnerabilities) seen.add(cve.id);
      assert.equal(answer.vulnerabilities.length, Math.min(2_000, answer.totalResults - startIndex));
      const times = answer.vulnerabilities.map(({ cve }) => cve.published).filter((time) => time !== 'last week');
      assert.deepEqual(times, times.toSorted(), 'in the order of publication');
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    }
    const others = sources.records().filter(({ id }) => id.startsWith('CVE-')).length;
    assert.equal(first.totalResults, 250_000 + others);
    assert.equal(seen.size, 10_000 + others);
    assert.ok(most < 200 * 2 ** 20, `${most} bytes`);
    const window = { lastModStartDate: '2020-01-01T00:00:00.000', lastModEndDate: '2020-02-01T00:00:00.000' };
    const { totalResults, vulnerabilities } = await page(sources, window);
    assert.ok(totalResults > 800 && totalResults < 1_100, `${totalResults}`);
    for (const { cve } of vulnerabilities) assert.match(cve.lastModified, /^2020-01|^2020-02-01/);
    await using same = await createAdvisorySources({ seed: 'bulk', now: () => new Date(START), bulk: 250_000 });
    assert.deepEqual(await page(same, { resultsPerPage: '2000' }), first);
    test.diagnostic(`heap grew by ${Math.round(most / 2 ** 20)} MiB at most`);
  });

  it('make a baseline of more files than an old zip can count', async () => {
    await using sources = await createAdvisorySources({ seed: 'bulk', now: () => new Date(START), bulk: 70_000 });
    const whole = Buffer.from(await (await fetch(await baselineUrl(sources))).arrayBuffer());
    const inner = unzip(whole).get('cves.zip') ?? Buffer.alloc(0);
    assert.equal(inner.toString('latin1', inner.length - 42, inner.length - 38), 'PK\x06\x07');
    const files = unzip(inner);
    assert.ok(files.size > 70_000);
    const [name = ''] = [...files.keys()].filter((each) => each.startsWith('cves/2913/'));
    assert.match(String(files.get(name)), /"dataType": "CVE_RECORD"/);
  });
});
