// Publishers whose clocks, dates and lists mislead: nothing is lost, and nothing is called complete that is not.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { epssSource } from '../sources/epss.ts';
import { kevSource } from '../sources/kev.ts';
import { nvdSource } from '../sources/nvd.ts';
import { osvSource } from '../sources/osv.ts';
import { readJson } from '../sources/read-json.ts';
import { DAY, HOUR, idsOf, openPublisher, type SourceAt, START } from '../test/syncing.ts';

/** A publisher whose answers, by path, may be changed between two syncs. */
async function openAnswers(sourceAt: SourceAt) {
  const answers: Record<string, unknown> = {};
  const publisher = await openPublisher((request, response) => {
    const url = new URL(request.url ?? '/', 'http://publisher');
    const given = answers[url.pathname];
    const answer = typeof given === 'function' ? given(url) : given;
    if (answer === undefined) return void response.writeHead(404).end();
    response.end(Buffer.isBuffer(answer) || typeof answer === 'string' ? answer : JSON.stringify(answer));
  }, sourceAt);
  const { sync } = publisher;
  return Object.assign(publisher, { answers, sync: async () => (await sync()).kind });
}

const iso = (time: number) => new Date(time).toISOString();

const page = (all: readonly object[], total: number) => ({
  ...{ resultsPerPage: all.length, startIndex: 0, totalResults: total, format: 'NVD_CVE', version: '2.0' },
  ...{ timestamp: iso(START).slice(0, -1), vulnerabilities: all },
});
const nvd: SourceAt = (origin) => nvdSource({ url: `${origin}/cves`, apiKey: undefined, everyMs: HOUR, gapMs: 0 });

it('NVD is not complete when a page in the middle holds nothing', async () => {
  await using publisher = await openAnswers(nvd);
  const time = iso(START).slice(0, -1);
  const cve = { id: 'CVE-2026-0001', published: time, lastModified: time, descriptions: [] };
  publisher.answers['/cves'] = (url: URL) =>
    url.searchParams.get('startIndex') === '0' ? page([{ cve }], 3) : page([], 3);
  assert.equal(await publisher.sync(), 'failed');
});
it('NVD is asked from its own clock on, where ours is ahead', async () => {
  await using publisher = await openAnswers(nvd);
  publisher.clock.at = START + 3 * HOUR;
  publisher.answers['/cves'] = page([], 0);
  assert.equal(await publisher.sync(), 'complete');
  const { since } = (await publisher.ground.stored('nvd')).cursor as { readonly since: string };
  assert.ok(Date.parse(since) < START, since);
});

const osv: SourceAt = (origin) => osvSource({ baseUrl: origin, ecosystems: ['npm'], everyMs: HOUR });
const LIST = '/npm/modified_id.csv';
const EMPTY_ZIP = Buffer.from('504b0506000000000000000000000000000000000000', 'hex');

it('OSV is followed past a date that lies ahead, and in what is listed late', async () => {
  await using publisher = await openAnswers(osv);
  const { answers, clock, ground, sync } = publisher;
  answers['/npm/all.zip'] = EMPTY_ZIP;
  answers[LIST] = `${iso(START + 400 * DAY)},GHSA-aaaa-aaaa-aaaa`;
  assert.equal(await sync(), 'complete');
  clock.at += DAY;
  const [first, second] = [clock.at - HOUR, clock.at - 2 * HOUR];
  for (const [id, at] of Object.entries({ 'GHSA-bbbb-bbbb-bbbb': first, 'GHSA-cccc-cccc-cccc': second })) {
    answers[`/npm/${id}.json`] = { id, modified: iso(at), published: iso(at), affected: [] };
    answers[LIST] = `${answers[LIST]}\n${iso(at)},${id}`;
    assert.equal(await sync(), 'complete');
    assert.ok(idsOf(ground).includes(id), id);
  }
});
it('OSV is not complete if there is no list, or another page', async () => {
  await using publisher = await openAnswers(osv);
  for (const list of [undefined, '<!doctype html><title>Please log in</title>', '']) {
    publisher.answers[LIST] = list;
    assert.equal(await publisher.sync(), 'failed', list);
  }
});
it('CISA takes back what it no longer lists, and not what we cannot read any more', async () => {
  await using publisher = await openAnswers((origin) => kevSource({ url: `${origin}/kev.json`, everyMs: HOUR }));
  const entry = (cveID: string) => ({ cveID, dateAdded: '2026-01-31', requiredAction: 'Apply updates.' });
  const [one, two, three] = ['CVE-2026-0001', 'CVE-2026-0002', 'CVE-2026-0003'].map(entry);
  const { dateAdded: _, ...broken } = entry('CVE-2026-0002');
  for (const [vulnerabilities, end, left] of [
    [[one, two, three], 'complete', 3],
    [[one, broken], 'complete', 2],
    // Another form.
    [[{ id: 'CVE-2026-0001', added: '2026-01-31' }], 'failed', 2],
  ] as const) {
    publisher.answers['/kev.json'] = { catalogVersion: '2026.01.31', vulnerabilities };
    assert.deepEqual([await publisher.sync(), publisher.ground.dump().known_exploited?.length], [end, left]);
  }
});
it('FIRST is not believed when its scores are of a day to come, or its file is one endless line', async () => {
  await using publisher = await openAnswers((origin) => epssSource({ url: `${origin}/epss.csv.gz`, everyMs: HOUR }));
  for (const [at, end] of [[START + 90 * DAY, 'failed'] as const, [START, 'complete'] as const]) {
    const head = `#model_version:v2026.01.01,score_date:${iso(at).slice(0, 19)}+0000`;
    publisher.answers['/epss.csv.gz'] = gzipSync(`${head}\ncve,epss,percentile\nCVE-2026-0001,0.5,0.9\n`);
    assert.equal(await publisher.sync(), end);
  }
  publisher.answers['/epss.csv.gz'] = gzipSync(Buffer.alloc(64 << 20, '<'));
  assert.equal(await publisher.sync(), 'failed');
  assert.match((await publisher.ground.stored('epss')).error ?? '', /is damaged or not CSV/);
  assert.equal((publisher.ground.dump().exploit_scores ?? []).length, 1);
});

const read = (text: string) => readJson(Buffer.from(text));

it('the JSON of publishers is what it says, brackets and quotes in texts too', () => {
  for (const value of [
    null,
    'a"b\\',
    { 'x\\"[': ['\\\\', '[[['.repeat(500), '"', { y: [{}] }] },
    Array.from({ length: 1_000 }, (_, n) => ({ n, text: '\\'.repeat(n % 7) })),
  ])
    assert.deepEqual(read(JSON.stringify(value)), value);
  assert.throws(() => read('{"a": '), SyntaxError);
  assert.throws(() => read('"open'), SyntaxError);
});
it('the JSON of publishers is refused where it is a maze, whether it ends or not', () => {
  const deep = '['.repeat(201);
  assert.throws(() => read(deep), RangeError);
  assert.throws(() => read(`{"a":${deep}${']'.repeat(201)}}`), RangeError);
  assert.throws(() => read(`[${'{},'.repeat(4_000_000)}{}]`), RangeError);
  assert.equal((read(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown[]).length, 1);
});
