import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { page } from '../test/reading.ts';
import { openSources, useSources } from '../test/use.ts';

describe('the NVD', () => {
  const sources = useSources();
  const cve = async (cveId: string) => (await page(sources, { cveId })).vulnerabilities[0]?.cve;

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
    for (const id of ids) assert.match(id, /^CVE-/);
    assert.equal((await page(sources, { startIndex: '5000' })).resultsPerPage, 0);
  });

  it('joins software to its platform by AND, and leaves what it has not analysed without configurations', async () => {
    const php = { criteria: 'cpe:2.3:a:php:php:*:*:*:*:*:*:*:*', versionEndExcluding: '8.1.29' };
    const windows = { criteria: 'cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*', vulnerable: false };
    assert.partialDeepStrictEqual(await cve('CVE-2024-4577'), {
      configurations: [{ operator: 'AND', nodes: [{ cpeMatch: [php] }, { cpeMatch: [windows] }] }],
    });
    const awaiting = await cve('CVE-2025-53859');
    assert.deepEqual([awaiting?.vulnStatus, 'configurations' in (awaiting ?? {})], ['Awaiting Analysis', false]);
    assert.equal((await cve('CVE-2025-66478'))?.vulnStatus, 'Rejected');
  });

  it("scores with the versions of CVSS that there were, and with the CNA's second", async () => {
    const { metrics } = (await cve('CVE-2014-0160')) as unknown as { metrics: object };
    assert.deepEqual(Object.keys(metrics), ['cvssMetricV2', 'cvssMetricV31']);
    assert.partialDeepStrictEqual(metrics, { cvssMetricV31: [{ cvssData: { baseScore: 7.5 } }] });
    assert.partialDeepStrictEqual(await cve('CVE-2025-23419'), {
      metrics: { cvssMetricV40: [{ type: 'Secondary', cvssData: { baseScore: 5.3 } }] },
    });
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
    await using limited = await openSources({ rateLimits: true });
    const statuses = async (count: number, headers: Record<string, string> = {}) => {
      const url = `${limited.nvdUrl}?cveId=CVE-2021-23017`;
      return Array.fromAsync({ length: count }, async () => (await fetch(url, { headers })).status);
    };
    const allowed = (count: number) => Array.from({ length: count }, () => 200);
    assert.deepEqual(await statuses(6), [...allowed(5), 403]);
    assert.deepEqual(await statuses(51, { apiKey: '12345678-1234-4234-8234-123456789abc' }), [...allowed(50), 429]);
    assert.deepEqual(await statuses(1, { apiKey: 'none' }), [404]);
    assert.equal(limited.requests('nvd'), 58);
  });
});
