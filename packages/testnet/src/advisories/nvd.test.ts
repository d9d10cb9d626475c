import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { page, START } from '../test/reading.ts';
import { useSources } from '../test/use.ts';
import { createAdvisorySources } from './sources.ts';

describe('the NVD', () => {
  const sources = useSources();

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

  it("scores with the versions of CVSS that there were, and with the CNA's second", async () => {
    const metricsOf = async (cveId: string) => (await page(sources, { cveId })).vulnerabilities[0]?.cve.metrics ?? {};
    const heartbleed = await metricsOf('CVE-2014-0160');
    assert.deepEqual(Object.keys(heartbleed), ['cvssMetricV2', 'cvssMetricV31']);
    assert.equal(heartbleed.cvssMetricV31?.[0]?.cvssData.baseScore, 7.5);
    const [second] = (await metricsOf('CVE-2025-23419')).cvssMetricV40 ?? [];
    assert.deepEqual([second?.type, second?.cvssData.baseScore], ['Secondary', 5.3]);
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
    await using limited = await createAdvisorySources({ seed: 's', now: () => new Date(START), rateLimits: true });
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
