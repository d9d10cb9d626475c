import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epssLines, json, page } from '../test/reading.ts';
import { openSources } from '../test/use.ts';

describe('made-up records', () => {
  it('page in bounded memory, each once, and alike for the same seed', async () => {
    await using sources = await openSources({ bulk: 50_000 });
    const first = await page(sources, { resultsPerPage: '2000' });
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    const seen = new Set<string>();
    for (const startIndex of [0, 2_000, 20_000, 40_000, 48_000, 50_000]) {
      const answer = await page(sources, { resultsPerPage: '2000', startIndex: String(startIndex) });
      for (const { cve } of answer.vulnerabilities) seen.add(cve.id);
      assert.equal(answer.vulnerabilities.length, Math.min(2_000, answer.totalResults - startIndex));
      const times = answer.vulnerabilities.map(({ cve }) => cve.published).filter((time) => time !== 'last week');
      assert.deepEqual(times, times.toSorted(), 'in the order of publication');
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    }
    const others = sources.records().filter(({ id }) => id.startsWith('CVE-')).length;
    assert.equal(first.totalResults, 50_000 + others);
    assert.equal(seen.size, 10_000 + others);
    assert.ok(most < 100 * 2 ** 20, `${most} bytes`);
    const window = { lastModStartDate: '2020-01-01T00:00:00.000', lastModEndDate: '2020-02-01T00:00:00.000' };
    const { totalResults, vulnerabilities } = await page(sources, window);
    assert.ok(totalResults > 160 && totalResults < 220, `${totalResults}`);
    for (const { cve } of vulnerabilities) assert.match(cve.lastModified, /^2020-01|^2020-02-01/);
    await using same = await openSources({ bulk: 50_000 });
    assert.deepEqual(await page(same, { resultsPerPage: '2000' }), first);
  });

  it('are in every list: one by its id, a tenth as packages, all with a score', async () => {
    await using sources = await openSources({ bulk: 5_000 });
    const [last] = (await page(sources, { cveId: 'CVE-2900-14999' })).vulnerabilities;
    assert.equal(last?.cve.id, 'CVE-2900-14999');
    assert.equal((await page(sources, { cveId: 'CVE-2901-10000' })).totalResults, 0);
    const raw = await json(`${sources.rawUrl}/cves/2900/12xxx/CVE-2900-12345.json`);
    assert.partialDeepStrictEqual(raw, { cveMetadata: { cveId: 'CVE-2900-12345' } });
    const rows = (await (await fetch(`${sources.osvUrl}/RubyGems/modified_id.csv`)).text()).trimEnd().split('\n');
    assert.ok(rows.length > 80 && rows.length < 200, `${rows.length}`);
    const id = rows.at(-1)?.split(',')[1];
    assert.partialDeepStrictEqual(await json(`${sources.osvUrl}/RubyGems/${id}.json`), { id });
    assert.ok((await epssLines(sources)).length > 5_000);
    const [made] = sources.records();
    assert.ok(made);
    assert.throws(() => sources.publish({ ...made, id: 'CVE-2900-10000' }), RangeError);
    assert.throws(() => sources.exploit('CVE-2900-10000'), RangeError);
  });
});
