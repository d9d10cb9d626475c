import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, epssLines, json, page, START } from '../test/reading.ts';
import { clockAt, openSources, useSources } from '../test/use.ts';

describe('the advisory publishers', () => {
  const sources = useSources();
  it('all publish what a test publishes, exploits and withdraws', async () => {
    await using own = await openSources({ now: () => new Date(START + DAY), records: [] });
    const id = 'CVE-2999-70000';
    const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
    const versions = [{ from: '5.0.0', below: '5.99.0' }];
    const ghost = { cpe: 'ghost:ghost', vendor: 'TryGhost', product: 'Ghost', versions };
    const affected = [{ ...ghost, package: { ecosystem: 'npm', name: 'ghost' } }] as const;
    own.publish({ id, ghsa: 'GHSA-2345-6789-cfgh', title: 'Published by a test', vector, affected, nvd: 'awaiting' });
    const statuses = async () =>
      (await page(own)).vulnerabilities.map(({ cve }) => [cve.id, cve.vulnStatus, cve.lastModified]);
    const changed = '2026-03-02T08:00:00.000';
    assert.deepEqual(await statuses(), [[id, 'Awaiting Analysis', changed]]);
    const delta = () => json<Record<'new' | 'updated', Record<string, string>[]>>(`${own.rawUrl}/cves/delta.json`);
    const [fresh] = (await delta()).new;
    assert.equal(fresh?.cveId, id);
    const record = await json(fresh?.githubLink ?? '');
    assert.partialDeepStrictEqual(record, { cveMetadata: { dateUpdated: `${changed}Z` } });
    const csv = await (await fetch(`${own.osvUrl}/npm/modified_id.csv`)).text();
    assert.equal(csv, `${changed}Z,GHSA-2345-6789-cfgh\n`);

    own.exploit(id);
    const { vulnerabilities } = await json<{ vulnerabilities: Record<string, string>[] }>(own.kevUrl);
    const exploited = vulnerabilities.map(({ cveID, dateAdded }) => `${cveID} ${dateAdded}`);
    assert.deepEqual(exploited, [`${id} 2026-03-02`]);
    const updated = (await delta()).updated.map(({ cveId }) => cveId);
    assert.deepEqual(updated, [id]);

    own.withdraw(id);
    assert.deepEqual(await statuses(), [[id, 'Rejected', changed]]);
    const withdrawn = await json(`${own.osvUrl}/npm/GHSA-2345-6789-cfgh.json`);
    assert.partialDeepStrictEqual(withdrawn, { withdrawn: `${changed}Z` });
    assert.equal((await json<unknown[]>(`${own.rawUrl}/cves/deltaLog.json`)).length, 4);
    assert.throws(() => own.exploit('CVE-1999-0001'), RangeError);
    const [known] = own.records();
    assert.throws(() => own.publish({ id: 'CVE-2999-70001', title: 'x', vector: 'AV:N', affected: [] }), RangeError);
    assert.deepEqual(own.records(), [known]);
  });
  it('fail as often as a test sets, and then answer again', async () => {
    const ask = (limitMs = 30_000) => fetch(sources.kevUrl, { signal: AbortSignal.timeout(limitMs) });
    sources.fail('kev', { status: 503, times: 2 });
    for (const status of [503, 503, 200]) assert.equal((await ask()).status, status);
    for (const [kind, error, limitMs] of [
      ['hang', { name: 'TimeoutError' }, 300],
      ['cut', TypeError],
      ['garbage', SyntaxError],
    ] as const) {
      sources.fail('kev', { kind, times: 1 });
      await assert.rejects(async () => (await ask(limitMs)).json(), error, kind);
    }
    assert.equal((await ask()).status, 200);
  });

  const after60Days = async (seed: string) => {
    const clock = clockAt(START);
    await using sources = await openSources({ seed, now: clock.now, records: [] });
    const days: number[] = [];
    for (let day = 0; day < 60; day += 1) {
      const before = sources.records().length;
      clock.at += DAY;
      sources.advance(1);
      days.push(sources.records().length - before);
    }
    const epss = await epssLines(sources);
    const text = await (await fetch(`${sources.rawUrl}/cves/deltaLog.json`)).text();
    // The port is the system's choice.
    const log: { fetchTime: string; updated: unknown[] }[] = JSON.parse(text.replaceAll(sources.rawUrl, ''));
    return { days, epss, log, records: sources.records() };
  };

  it('days bring none to two new records each, some changed, some exploited, and are the same for the same seed', async () => {
    const [one, same, other] = await Promise.all([after60Days('a'), after60Days('a'), after60Days('b')]);
    assert.deepEqual(new Set(one.days), new Set([0, 1, 2]));
    assert.ok(one.records.every(({ id }) => /^CVE-2999-1\d{4}$/.test(id)));
    assert.ok(one.records.some(({ kev }) => kev) && one.log.some(({ updated }) => updated.length > 0));
    assert.ok(one.log.every(({ fetchTime }) => Date.parse(fetchTime) >= START + 30 * DAY));
    assert.deepEqual(same, one);
    assert.notDeepEqual(other.records, one.records);
  });
  it('days move every score a little', async () => {
    const clock = clockAt(START);
    await using own = await openSources({ seed: 'a', now: clock.now });
    const score = async () => Number(/^CVE-2021-23017,([\d.]+)/m.exec((await epssLines(own)).join('\n'))?.[1]);
    const before = await score();
    clock.at += DAY;
    own.advance(1);
    const moved = Math.abs((await score()) - before);
    assert.ok(moved > 0 && moved <= 0.06 * before);
  });

  const cve = async (cveId: string) => (await page(sources, { cveId })).vulnerabilities[0]?.cve;

  it('the NVD pages through everything, the oldest first, each once', async () => {
    const ids: string[] = [];
    let total = 1;
    for (let startIndex = 0; startIndex < total; startIndex += 40) {
      const answer = await page(sources, { resultsPerPage: '40', startIndex: String(startIndex) });
      assert.equal(answer.format, 'NVD_CVE');
      assert.doesNotMatch(answer.timestamp, /Z$/);
      total = answer.totalResults;
      ids.push(...answer.vulnerabilities.map(({ cve }) => cve.id));
    }
    assert.ok(total >= 60 && ids.every((id) => id.startsWith('CVE-')));
    assert.equal(new Set(ids).size, total);
    assert.equal((await page(sources, { startIndex: '5000' })).resultsPerPage, 0);
  });
  it('the NVD joins software to its platform by AND, and leaves what it has not analysed without configurations', async () => {
    const php = { criteria: 'cpe:2.3:a:php:php:*:*:*:*:*:*:*:*', versionEndExcluding: '8.1.29' };
    const windows = { criteria: 'cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*', vulnerable: false };
    assert.partialDeepStrictEqual(await cve('CVE-2024-4577'), {
      configurations: [{ operator: 'AND', nodes: [{ cpeMatch: [php] }, { cpeMatch: [windows] }] }],
    });
    const awaiting = await cve('CVE-2025-53859');
    assert.deepEqual([awaiting?.vulnStatus, 'configurations' in (awaiting ?? {})], ['Awaiting Analysis', false]);
    assert.equal((await cve('CVE-2025-66478'))?.vulnStatus, 'Rejected');
  });
  it("the NVD scores with the versions of CVSS that there were, and with the CNA's second", async () => {
    const metricsOf = async (id: string) => ((await cve(id)) as unknown as { metrics: object }).metrics;
    const metrics = await metricsOf('CVE-2014-0160');
    assert.deepEqual(Object.keys(metrics), ['cvssMetricV2', 'cvssMetricV31']);
    assert.partialDeepStrictEqual(metrics, { cvssMetricV31: [{ cvssData: { baseScore: 7.5 } }] });
    const cvssMetricV40 = [{ type: 'Secondary', cvssData: { baseScore: 5.3 } }];
    assert.partialDeepStrictEqual(await metricsOf('CVE-2025-23419'), { cvssMetricV40 });
  });
  it('the NVD answers a window of modification, and says what is wrong with others in a header', async () => {
    const window = { lastModStartDate: '2024-06-01T00:00:00.000', lastModEndDate: '2024-07-20T00:00:00.000Z' };
    const { vulnerabilities } = await page(sources, window);
    assert.ok(vulnerabilities.length > 0);
    for (const { cve } of vulnerabilities) {
      assert.ok(cve.lastModified >= '2024-06-01' && cve.lastModified < '2024-07-20', cve.id);
      assert.doesNotMatch(cve.lastModified, /Z$/);
    }
    for (const [query, message] of [
      [{ lastModStartDate: '2024-06-01T00:00:00.000' }, /Both/],
      [{ lastModStartDate: '2024-01-01T00:00:00.000', lastModEndDate: '2024-06-01T00:00:00.000' }, /120 days/],
      [{ lastModStartDate: '2024-06-01', lastModEndDate: '2024-06-02' }, /date/],
      [{ resultsPerPage: '2001' }, /resultsPerPage/],
      [{ startIndex: '-1' }, /startIndex/],
      [{ cveId: 'nginx' }, /cveId/],
      [{ page: '2' }, /Invalid parameter/],
    ] as [Record<string, string>, RegExp][]) {
      const response = await fetch(`${sources.nvdUrl}?${new URLSearchParams(query)}`);
      assert.equal(response.status, 404, JSON.stringify(query));
      assert.match(response.headers.get('message') ?? '', message);
    }
  });
  it('the NVD refuses the sixth request in half a minute, with a key the fifty-first', async () => {
    await using limited = await openSources({ rateLimits: true });
    const url = `${limited.nvdUrl}?cveId=CVE-2021-23017`;
    for (const [headers, allowed, refusal] of [
      [{}, 5, 403],
      [{ apiKey: '12345678-1234-4234-8234-123456789abc' }, 50, 429],
      [{ apiKey: 'none' }, 0, 404],
    ] as const)
      for (let i = 0; i <= allowed; i += 1)
        assert.equal((await fetch(url, { headers })).status, i < allowed ? 200 : refusal);
    assert.equal(limited.requests('nvd'), 58);
  });
});
