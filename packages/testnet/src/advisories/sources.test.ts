import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineUrl, DAY, epssLines, json, page, START } from '../test/reading.ts';
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
    assert.deepEqual(
      vulnerabilities.map(({ cveID, dateAdded }) => [cveID, dateAdded]),
      [[id, '2026-03-02']],
    );
    assert.deepEqual(
      (await delta()).updated.map(({ cveId }) => cveId),
      [id],
    );

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
    const ask = () => fetch(sources.kevUrl, { signal: AbortSignal.timeout(300) });
    sources.fail('kev', { status: 503, times: 2 });
    assert.deepEqual([(await ask()).status, (await ask()).status, (await ask()).status], [503, 503, 200]);
    for (const [kind, error] of [
      ['hang', { name: 'TimeoutError' }],
      ['cut', TypeError],
      ['garbage', SyntaxError],
    ] as const) {
      sources.fail('kev', { kind, times: 1 });
      await assert.rejects(
        ask().then((response) => response.json()),
        error,
        kind,
      );
    }
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
});

describe('the days of the advisory publishers', () => {
  const after60Days = async (seed: string) => {
    const clock = clockAt(START);
    await using sources = await openSources({ seed, now: clock.now, records: [] });
    const days: number[] = [];
    for (let day = 0; day < 60; day += 1) {
      clock.at += DAY;
      const before = sources.records().length;
      sources.advance(1);
      days.push(sources.records().length - before);
    }
    const epss = await epssLines(sources);
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
    const clock = clockAt(START);
    await using own = await openSources({ seed: 'a', now: clock.now });
    const score = async () => Number(/^CVE-2021-23017,([\d.]+)/m.exec((await epssLines(own)).join('\n'))?.[1]);
    const before = await score();
    clock.at += DAY;
    own.advance(1);
    const moved = await score();
    assert.notEqual(moved, before);
    assert.ok(Math.abs(moved - before) <= 0.06 * before);
  });
});
