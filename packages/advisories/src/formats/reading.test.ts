// What every reader gives of its publisher's documents, as the vectors say, and of anything else.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { advisoryIdOf, mergeRecords } from '../merge.ts';
import { readCveRecord } from './cve/cve-record.ts';
import { isEpssColumns, readEpssHead, readEpssRow } from './epss.ts';
import { readKev } from './kev.ts';
import { readNvdHead, readNvdRecord } from './nvd.ts';
import { readOsvRecord } from './osv/osv.ts';
import type { RecordReading } from './reading.ts';
import { recognise } from './recognise.ts';

const root = path.join(import.meta.dirname, '../../../../vectors/advisories');
const readers = { nvd: readNvdRecord, 'cve-record': readCveRecord, osv: readOsvRecord };
const documents = Object.keys(readers).flatMap((kind) =>
  globSync(`${root}/${kind}/*.json`).map((file) => JSON.parse(readFileSync(file, 'utf8')).document),
);

function readEpss({ lines: [head = '', columns = '', ...rows] }: { lines: string[] }) {
  assert.ok(isEpssColumns(columns.split(',')));
  return { head: readEpssHead(head), scores: rows.map((row) => readEpssRow(row.split(','))) };
}

for (const [kind, read] of Object.entries({ ...readers, kev: readKev, epss: readEpss })) {
  const files = globSync(`${root}/${kind}/*.json`);
  it(`there are vectors of ${kind}`, () => assert.ok(files.length > 0));
  for (const file of files) {
    const vector = JSON.parse(readFileSync(file, 'utf8'));
    const isDocument = kind !== 'nvd' && kind !== 'epss' && vector.read.ok !== false;
    it(`documents of publishers are read as the vectors say: ${kind}/${path.basename(file, '.json')}: ${vector.what}`, () => {
      assert.deepEqual(read(vector.document), vector.read);
      assert.equal(recognise(vector.document), isDocument ? kind : 'unknown');
    });
  }
}

const listed = { cveID: 'CVE-2021-44228', dateAdded: '2021-12-10', requiredAction: 'Update.' };

it('a KEV catalog has entries without the fields that came later', () => {
  const read = readKev({ catalogVersion: '2022.01.01', vulnerabilities: [listed, { ...listed, dueDate: 'soon' }] });
  assert.ok(read.ok);
  const { cveID: cve, ...rest } = listed;
  assert.deepEqual(read.catalog.exploited, Array(2).fill({ cve, ...rest, dueDate: null, isRansomware: false }));
  assert.equal(read.catalog.released, null);
});
it('a KEV catalog lists the first problems and counts the rest; other documents are refused', () => {
  const vulnerabilities = [...Array(50).fill({ ...listed, dateAdded: '2021-02-30' }), listed];
  const read = readKev({ catalogVersion: '1', vulnerabilities });
  assert.ok(read.ok);
  assert.deepEqual([read.catalog.exploited.length, read.catalog.skipped, read.catalog.problems.length], [1, 50, 20]);
  assert.equal(read.catalog.problems[0], 'CVE-2021-44228: dateAdded: expected a date');
  for (const other of [null, [], {}, { catalogVersion: 1, vulnerabilities: [] }, { catalogVersion: '1' }])
    assert.equal(readKev(other).ok, false);
});

it('a line of EPSS is a head only in its form', () => {
  const headOf = (version: string, date: string) => readEpssHead(`#model_version:${version},score_date:${date}`);
  const scoredAt = '2025-03-14T00:00:00.000Z';
  assert.deepEqual(headOf('v2025.03.14', '2025-03-14T00:00:00+0000'), { modelVersion: 'v2025.03.14', scoredAt });
  assert.deepEqual(headOf('v1', '2025-03-14T00:00:00Z'), { modelVersion: 'v1', scoredAt });
  assert.equal(headOf('v1', '2025-13-14T00:00:00Z'), null);
  for (const other of ['', 'cve,epss,percentile', '#model_version:v1']) assert.equal(readEpssHead(other), null);
});
it('a line of EPSS is a row only with an id and two shares', () => {
  const cve = 'CVE-2021-44228';
  assert.deepEqual(readEpssRow([cve, '0.94358', '1']), { cve, epss: 0.94358, percentile: 1 });
  assert.equal(readEpssRow([cve, '1e-5', '0.0'])?.epss, 0.00001);
  for (const other of [[], [cve], [cve, '1.1', '0'], [cve, '-0.1', '0'], ['x', '0', '0']])
    assert.equal(readEpssRow(other), null);
  for (const share of ['', ' 0.5', 'NaN', 'Infinity', '0x1', '.5', '1_0'])
    assert.equal(readEpssRow([cve, share, '0.5']), null, share);
});
it('a line of EPSS gives shares or nothing, whatever it holds', () =>
  holds(100, [fc.array(fc.oneof(fc.string(), fc.double().map(String)), { maxLength: 4 })], (fields) => {
    const { epss, percentile } = readEpssRow(['CVE-2024-0001', ...fields]) ?? { epss: 0, percentile: 0 };
    assert.ok(epss >= 0 && epss <= 1 && percentile >= 0 && percentile <= 1);
  }));
it('a line of EPSS is one of a file that is recognised by its outermost fields', () => {
  const delta = { fetchTime: '2025-01-01T00:00:00Z', numberOfChanges: 0, new: [], updated: [], error: [] };
  assert.equal(recognise(delta), 'cve-delta');
  const unknown = [null, 1, 'id', [], [delta], {}, { vulnerabilities: [] }, { id: 'x' }, { new: [], updated: [] }];
  for (const other of unknown) assert.equal(recognise(other), 'unknown');
});

function check({ record, problem }: RecordReading): void {
  assert.ok(record !== null || problem !== null);
  assert.ok(problem === null || (problem.length < 400 && !/[\r\n]/.test(problem)));
  if (record === null) return;
  assert.deepEqual(JSON.parse(JSON.stringify(record)), record);
  assert.ok((record.title?.length ?? 0) <= 300 && (record.summary?.length ?? 0) <= 2_000);
  for (const time of [record.published, record.modified]) assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  for (const { score } of record.cvss) assert.ok(score >= 0 && score <= 10);
  for (const key of record.claims.flatMap(({ products }) => products)) assert.match(key, /^(?:cpe|pkg|cna):./);
  assert.equal(mergeRecords(advisoryIdOf(record), [record])?.state, record.state);
}

function readAny(value: unknown): void {
  for (const read of Object.values(readers)) check(read(value));
  readKev(value);
  readNvdHead(value);
  recognise(value);
}

const names = fc.constantFrom(...'cve id affected versions events __proto__ constructor toString a.b'.split(' '));
const texts = ['CVE-2024-0001', '2024-01-01T00:00:00Z', '0', '*', '', '\ud800', '\u0000', '< 1.2', '__proto__'];
const values = [fc.string(), fc.double(), fc.boolean(), fc.constant(null)];
const leaves = fc.oneof(fc.constantFrom(...texts, 'cpe:2.3:a:\\:b:c:*'), ...values);
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    leaves,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5, noNullPrototype: false }),
  ),
}));

function pathsOf(value: unknown, before: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [before];
  return [before, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...before, key]))];
}

function replaced(value: unknown, path: readonly string[], by: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as object) };
  Reflect.set(copy, key, replaced(Reflect.get(value as object, key), rest, by));
  return copy;
}

function* eachReplaced(isIt: (value: unknown) => boolean, by: unknown) {
  for (const document of documents)
    for (const path of pathsOf(document)) {
      const value = path.reduce<unknown>((inner, key) => Reflect.get(inner as object, key), document);
      if (isIt(value)) yield replaced(document, path, by);
    }
}

function readOne(document: object): RecordReading {
  if ('cve' in document) return readNvdRecord(document);
  return 'containers' in document ? readCveRecord(document) : readOsvRecord(document);
}

it('any JSON from a publisher, and a real document with anything at any path, is read or refused', () => {
  holds(300, [fc.jsonValue({ maxDepth: 6 })], readAny);
  holds(500, [anything], readAny);
  const cases = documents.flatMap((document) => pathsOf(document).map((path) => ({ document, path })));
  holds(1_000, [fc.constantFrom(...cases), anything], ({ document, path }, by) =>
    readAny(replaced(document, path, by)),
  );
});
it('names of prototypes that a publisher sends change nothing', () => {
  const own = '"__proto__":{"id":"X-1","dataType":"CVE_RECORD","vulnerabilities":[]}';
  const hostile = JSON.parse(`{${own},"constructor":{"prototype":{"polluted":1}}}`);
  const modified = '2024-01-01T00:00:00Z';
  readAny(hostile);
  assert.equal(recognise(hostile), 'unknown');
  assert.equal(readOsvRecord({ ...hostile, modified }).record, null);
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const affected = [{ package: { ecosystem: name, name }, versions: ['1.0'] }];
    assert.deepEqual(readOsvRecord({ id: 'OSV-1', modified, affected }).record?.claims, []);
  }
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});
it('deep nesting that a publisher sends is not followed', () => {
  const deep = JSON.parse(`${'[{"nodes":'.repeat(20_000)}[]${'}]'.repeat(20_000)}`);
  for (const document of documents) {
    const cve = { ...document.cve, configurations: deep, metrics: deep };
    if ('cve' in document) check(readNvdRecord({ cve }));
    else if ('containers' in document) check(readCveRecord({ ...document, containers: { cna: deep, adp: deep } }));
    else check(readOsvRecord({ ...document, affected: deep, aliases: deep }));
  }
});
it('a million elements in any array that a publisher sends, and endless strings, are refused, cut or passed over in little time', () => {
  const startedAt = performance.now();
  const million: unknown[] = new Array(1_000_000).fill({ a: 1 });
  for (const document of eachReplaced(Array.isArray, million)) check(readOne(document as object));
  readKev({ catalogVersion: '1', vulnerabilities: million });
  const page = { resultsPerPage: 1, startIndex: 0, totalResults: 1, format: 'NVD_CVE', version: '2.0' };
  readNvdHead({ ...page, vulnerabilities: million });
  readEpssRow(million as string[]);
  for (const endless of ['a'.repeat(20_000_000), ' '.repeat(20_000_000), '1.'.repeat(10_000_000)]) {
    for (const document of eachReplaced((value) => typeof value === 'string', endless)) readOne(document as object);
    assert.deepEqual([readEpssHead(endless), readEpssRow([endless, endless, endless])], [null, null]);
  }
  // Each takes well below a second in all; time that grows with the square of a length would not end.
  assert.ok(performance.now() - startedAt < 60_000);
});
