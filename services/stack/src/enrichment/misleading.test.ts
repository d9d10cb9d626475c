// Publishers whose clocks, dates and lists mislead: nothing is lost, and nothing is called complete that is not.
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createFetcher } from '@strata/scan';
import { epssSource } from './epss.ts';
import { kevSource } from './kev.ts';
import { nvdSource } from './nvd.ts';
import { osvSource } from './osv.ts';
import type { AdvisorySource } from './source.ts';
import { publisherThat } from './test/publisher.ts';
import { DAY, type Ground, HOUR, idsOf, openGround, START } from './test/syncing.ts';

type Answers = Record<string, unknown>;

/** Syncs with a publisher whose answers, by path, may be changed between two syncs. */
async function withPublisher(
  sourceAt: (origin: string) => AdvisorySource,
  work: (stage: {
    readonly answers: Answers;
    readonly ground: Ground;
    readonly clock: { at: number };
    sync(): Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  const answers: Answers = {};
  const listener: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://publisher');
    const given = answers[pathname];
    const answer = typeof given === 'function' ? given(new URL(request.url ?? '/', 'http://publisher')) : given;
    if (answer === undefined) return void response.writeHead(404).end();
    response.end(Buffer.isBuffer(answer) || typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
  await using publisher = await publisherThat(listener);
  await using fetcher = createFetcher({ trustedOrigins: [publisher.origin], userAgent: 'StrataBot/test' });
  const clock = { at: START };
  await using ground = await openGround(clock, fetcher);
  const source = sourceAt(publisher.origin);
  await work({ answers, ground, clock, sync: async () => (await ground.run(source)).kind });
}

const iso = (time: number) => new Date(time).toISOString();

describe('NVD', () => {
  const vulnerability = (id: string, at: number) => ({
    cve: { id, published: iso(at).slice(0, -1), lastModified: iso(at).slice(0, -1), descriptions: [] },
  });
  const page = (all: readonly object[], total: number, timestamp = START) => ({
    resultsPerPage: all.length,
    startIndex: 0,
    totalResults: total,
    format: 'NVD_CVE',
    version: '2.0',
    timestamp: iso(timestamp).slice(0, -1),
    vulnerabilities: all,
  });
  const nvd = (origin: string) => nvdSource({ url: `${origin}/cves`, apiKey: undefined, everyMs: HOUR, gapMs: 0 });

  it('is not read whole when a page in the midst holds nothing', () =>
    withPublisher(nvd, async ({ answers, sync }) => {
      answers['/cves'] = (url: URL) =>
        url.searchParams.get('startIndex') === '0' ? page([vulnerability('CVE-2026-0001', START)], 3) : page([], 3);
      assert.equal(await sync(), 'failed');
    }));

  it('is asked from its own clock on, where ours is ahead', () =>
    withPublisher(nvd, async ({ answers, ground, clock, sync }) => {
      clock.at = START + 3 * HOUR;
      answers['/cves'] = page([], 0);
      assert.equal(await sync(), 'complete');
      const { since } = (await ground.stored('nvd')).cursor as { readonly since: string };
      assert.ok(Date.parse(since) < START, since);
    }));
});

describe('OSV', () => {
  const record = (id: string, at: number) => ({ id, modified: iso(at), published: iso(at), affected: [] });
  const osv = (origin: string) => osvSource({ baseUrl: origin, ecosystems: ['npm'], everyMs: HOUR });
  const list = (...rows: readonly (readonly [id: string, at: number])[]) =>
    rows.map(([id, at]) => `${iso(at)},${id}`).join('\n');
  /** A zip of nothing. */
  const EMPTY_ZIP = Buffer.from('504b0506000000000000000000000000000000000000', 'hex');

  it('is followed past a date that lies ahead, and in what is listed late', () =>
    withPublisher(osv, async ({ answers, ground, clock, sync }) => {
      answers['/npm/all.zip'] = EMPTY_ZIP;
      answers['/npm/modified_id.csv'] = list(['GHSA-aaaa-aaaa-aaaa', START + 400 * DAY]);
      assert.equal(await sync(), 'complete');
      clock.at += DAY;
      for (const [id, at] of [
        ['GHSA-bbbb-bbbb-bbbb', clock.at - HOUR],
        ['GHSA-cccc-cccc-cccc', clock.at - 2 * HOUR],
      ] as const) {
        answers[`/npm/${id}.json`] = record(id, at);
        answers['/npm/modified_id.csv'] = `${answers['/npm/modified_id.csv']}\n${list([id, at])}`;
        assert.equal(await sync(), 'complete');
        assert.ok(idsOf(ground).includes(id), id);
      }
    }));

  it('is not complete where there is no list, or another page in its place', () =>
    withPublisher(osv, async ({ answers, sync }) => {
      assert.equal(await sync(), 'failed', 'no ecosystem at all');
      answers['/npm/modified_id.csv'] = '<!doctype html><title>Please log in</title>';
      assert.equal(await sync(), 'failed', 'a page');
      answers['/npm/modified_id.csv'] = '';
      assert.equal(await sync(), 'failed', 'nothing');
    }));
});

describe('CISA', () => {
  const entry = (cveID: string) => ({ cveID, dateAdded: '2026-01-31', requiredAction: 'Apply updates.' });
  const catalogue = (...vulnerabilities: readonly object[]) => ({ catalogVersion: '2026.01.31', vulnerabilities });
  const kev = (origin: string) => kevSource({ url: `${origin}/kev.json`, everyMs: HOUR });
  const kept = (ground: Ground) => (ground.dump().known_exploited ?? []).length;

  it('takes back what it no longer lists, and not what we cannot read any more', () =>
    withPublisher(kev, async ({ answers, ground, sync }) => {
      answers['/kev.json'] = catalogue(entry('CVE-2026-0001'), entry('CVE-2026-0002'), entry('CVE-2026-0003'));
      assert.equal(await sync(), 'complete');
      const { dateAdded: _, ...broken } = entry('CVE-2026-0002');
      answers['/kev.json'] = catalogue(entry('CVE-2026-0001'), broken);
      assert.equal(await sync(), 'complete');
      assert.equal(kept(ground), 2);
      answers['/kev.json'] = catalogue({ id: 'CVE-2026-0001', added: '2026-01-31' });
      assert.equal(await sync(), 'failed', 'another form');
      assert.equal(kept(ground), 2);
    }));
});

describe('FIRST', () => {
  it('is not believed when its scores are of a day to come', () =>
    withPublisher(
      (origin) => epssSource({ url: `${origin}/epss.csv.gz`, everyMs: HOUR }),
      async ({ answers, ground, sync }) => {
        const file = (at: number) =>
          gzipSync(
            `#model_version:v2026.01.01,score_date:${iso(at).slice(0, 19)}+0000\ncve,epss,percentile\nCVE-2026-0001,0.5,0.9\n`,
          );
        answers['/epss.csv.gz'] = file(START + 90 * DAY);
        assert.equal(await sync(), 'failed');
        answers['/epss.csv.gz'] = file(START);
        assert.equal(await sync(), 'complete');
        assert.equal((ground.dump().exploit_scores ?? []).length, 1);
      },
    ));
});
