import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY, epssLines, page, START } from '../test/reading.ts';
import { clockAt, openSources, useSources } from '../test/use.ts';

describe('the advisory publishers', () => {
  const sources = useSources();

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

  it('the NVD answers a window of modification, and explains invalid requests in a header', async () => {
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
