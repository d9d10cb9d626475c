import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../tests/support/property.ts';
import { casesOf, vectorsIn } from '../../../tests/support/vectors.ts';
import type { AdvisoryRecord, Cvss } from './advisory.ts';
import { cvssOf, readVector, scoreOf, severityOf } from './cvss.ts';
import { advisoryIdOf, mergeRecords } from './merge.ts';

const vector = (name: string) => vectorsIn<{ read: { record: AdvisoryRecord } }>(`advisories/${name}.json`).read.record;

const log4shell = ['nvd/log4shell', 'cve-record/log4shell', 'osv/log4shell'].map(vector);

function record(more: Partial<AdvisoryRecord>): AdvisoryRecord {
  const times = { published: '2024-01-01T00:00:00.000Z', modified: '2024-01-02T00:00:00.000Z' };
  const nothing = { aliases: [], title: null, summary: null, cvss: [], severity: null, claims: [] };
  const named = { source: 'nvd', id: 'CVE-2024-0001', state: 'published', url: 'https://example.org/' } as const;
  return { ...named, ...times, ...nothing, ...more };
}
const scored = (by: string, version: Cvss['version'], score: number) => {
  return { by, version, score, vector: `${by} ${score}` };
};
const shown = (...cvss: Cvss[]) => mergeRecords('CVE-2024-0001', [record({ cvss })]);

it('all publishers’ words on one vulnerability are one advisory', () => {
  const merged = mergeRecords('CVE-2021-44228', log4shell);
  const times = { published: '2021-12-10T00:00:00.000Z', modified: '2025-05-09T13:13:16.000Z' };
  const words = { aliases: ['GHSA-JFH8-C2JP-5V3Q'], severity: 'critical', cvss: { by: 'nvd', score: 10 } };
  assert.partialDeepStrictEqual({ ...merged }, { ...times, ...words });
  assert.match(merged?.title ?? '', /^Apache Log4j2 JNDI features/);
  const claims = merged?.claims.map(({ source, kind }) => `${source} ${kind}`);
  assert.deepEqual(claims, ['nvd configuration', 'nvd configuration', 'cna product', 'ghsa product']);
  assert.deepEqual([merged?.urls.length, merged?.aliases.length], [3, 1]);
});
it('all publishers’ words on one vulnerability come to the same in any order, also when given twice', () => {
  const twins = [record({ title: 'a' }), record({ title: 'b' }), record({ modified: '2024-02-01T00:00:00.000Z' })];
  const all = [...log4shell, ...twins, ...log4shell];
  const expected = JSON.stringify(mergeRecords('CVE-2021-44228', all));
  holds(100, [fc.shuffledSubarray(all, { minLength: all.length })], (shuffled) =>
    assert.equal(JSON.stringify(mergeRecords('CVE-2021-44228', shuffled)), expected),
  );
});
it('all publishers’ words on one vulnerability are nothing without any', () =>
  assert.equal(mergeRecords('CVE-2024-0001', []), undefined));
it('all publishers’ words on one vulnerability show NVD’s scoring before the CNA’s before that of other scorers, in its newest version', () => {
  const rest = ['zeta', 'osv', 'ghsa', 'cisa-adp'].map((by, i) => scored(by, '4.0', i + 1));
  assert.equal(shown(...rest)?.cvss?.by, 'cisa-adp');
  assert.equal(shown(...rest, scored('cna', '3.0', 5))?.cvss?.by, 'cna');
  const nvd = [scored('nvd', '2.0', 9), scored('nvd', '3.1', 6), scored('nvd', '3.1', 7), scored('nvd', '3.0', 8)];
  assert.deepEqual(shown(...rest, ...nvd)?.cvss, nvd[2]);
  assert.equal(shown(scored('zeta', '4.0', 1))?.cvss?.by, 'zeta');
});
it('all publishers’ words on one vulnerability take a publisher’s word for the severity only without a scoring', () => {
  const word = { severity: 'high' } as const;
  assert.equal(mergeRecords('x', [record(word)])?.severity, 'high');
  assert.equal(mergeRecords('x', [record({ ...word, cvss: [scored('nvd', '3.1', 5)] })])?.severity, 'medium');
  assert.equal(mergeRecords('x', [record({ ...word, cvss: [scored('nvd', '3.1', 0)] })])?.severity, null);
});
it('all publishers’ words on one vulnerability are rejected when all have withdrawn it, and a withdrawn one’s claims do not count', () => {
  const [nvd, cna] = log4shell.map((given) => ({ ...given, state: 'rejected' as const }));
  assert.ok(nvd && cna);
  const rejected = mergeRecords('CVE-2021-44228', [nvd, cna]);
  assert.deepEqual([rejected?.state, rejected?.claims], ['rejected', []]);
  assert.notEqual(rejected?.summary, null);
  const listed = mergeRecords('CVE-2021-44228', [...log4shell.filter(({ source }) => source !== 'cna'), cna]);
  assert.deepEqual([listed?.state, listed?.claims], ['rejected', []], 'the CVE List alone');
  const other = mergeRecords('CVE-2021-44229', [...log4shell.filter(({ source }) => source !== 'cna'), cna]);
  assert.equal(other?.state, 'published', 'of another number');
  const left = mergeRecords('CVE-2021-44228', [nvd, ...log4shell.slice(1)]);
  assert.deepEqual([left?.state, left?.claims.map(({ source }) => source)], ['published', ['cna', 'ghsa']]);
});
it('all publishers’ words on one vulnerability have as their id the smallest CVE id, else GitHub’s, else the record’s own', () => {
  for (const [id, aliases, expected] of casesOf<[string, string[], string][]>('advisories', 'ids'))
    assert.equal(advisoryIdOf({ id, aliases }), expected);
});

const cvss = vectorsIn<{ scores: { vector: string; score: number }[]; refused: string[] }>('cvss.json');
for (const { vector, score } of cvss.scores)
  it(`CVSS ${vector} is ${score}`, () => assert.equal(scoreOf(vector), score));
for (const vector of [...cvss.refused, 'AV:N/'.repeat(100_000)])
  it(`CVSS '${vector.slice(0, 50)}' has no score`, () => assert.equal(scoreOf(vector), undefined));
it('CVSS keeps the published score', () => {
  const vector = 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:H';
  assert.deepEqual(cvssOf({ vector, score: 7.7, by: 'nvd' }), { version: '3.1', vector, score: 7.7, by: 'nvd' });
  assert.equal(cvssOf({ vector, by: 'osv' })?.score, 7);
  assert.equal(cvssOf({ vector: 'nonsense', score: 7.7, by: 'nvd' }), undefined);
});
it('CVSS calls scores by FIRST’s bands', () => {
  const bands = [0, 0.1, 3.9, 4, 6.9, 7, 8.9, 9, 10, Number.NaN].map(severityOf);
  assert.deepEqual(bands, [null, 'low', 'low', 'medium', 'medium', 'high', 'high', 'critical', 'critical', null]);
});
it('CVSS never throws and prints nothing, whatever the vector', (test) => {
  const printed = ['log', 'warn', 'error'].map((name) => test.mock.method(console, name as 'log', () => {}));
  const metrics = ['AV:N', 'AC:L', 'Au:N', 'E:Z', 'S:', ':', '', 'A:H', 'VC:H', 'CVSS:3.0', 'CVSS:3.1', 'CVSS:4.0'];
  const parts = fc.constantFrom(...metrics);
  fc.assert(fc.property(fc.array(parts, { maxLength: 20 }), (list) => void scoreOf(list.join('/'))));
  fc.assert(fc.property(fc.string(), (text) => void readVector(text)));
  for (const { mock } of printed) assert.equal(mock.callCount(), 0);
});
