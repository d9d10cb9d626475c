import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { readEpssHead, readEpssRow } from './epss.ts';
import { readKev } from './kev.ts';
import { recognise } from './recognise.ts';

const entry = { cveID: 'CVE-2021-44228', dateAdded: '2021-12-10', requiredAction: 'Update.' };

describe('a KEV catalog', () => {
  it('has entries without the fields that came later', () => {
    const read = readKev({ catalogVersion: '2022.01.01', vulnerabilities: [entry, { ...entry, dueDate: 'soon' }] });
    assert.ok(read.ok);
    const { cveID: cve, ...rest } = entry;
    assert.deepEqual(read.catalog.exploited, Array(2).fill({ cve, ...rest, dueDate: null, isRansomware: false }));
    assert.equal(read.catalog.released, null);
  });

  it('names the first of what is wrong and counts the rest', () => {
    const vulnerabilities = [...Array(50).fill({ ...entry, dateAdded: '2021-02-30' }), entry];
    const read = readKev({ catalogVersion: '1', vulnerabilities });
    assert.ok(read.ok);
    assert.deepEqual([read.catalog.exploited.length, read.catalog.skipped, read.catalog.problems.length], [1, 50, 20]);
    assert.equal(read.catalog.problems[0], 'CVE-2021-44228: dateAdded: expected a date');
  });
  it('that is none is refused', () => {
    for (const other of [null, [], {}, { catalogVersion: 1, vulnerabilities: [] }, { catalogVersion: '1' }])
      assert.equal(readKev(other).ok, false);
  });
});

describe('a line of EPSS', () => {
  it('is a head only in its form', () => {
    const headOf = (version: string, date: string) => readEpssHead(`#model_version:${version},score_date:${date}`);
    const scoredAt = '2025-03-14T00:00:00.000Z';
    assert.deepEqual(headOf('v2025.03.14', '2025-03-14T00:00:00+0000'), { modelVersion: 'v2025.03.14', scoredAt });
    assert.deepEqual(headOf('v1', '2025-03-14T00:00:00Z'), { modelVersion: 'v1', scoredAt });
    assert.equal(headOf('v1', '2025-13-14T00:00:00Z'), null);
    for (const other of ['', 'cve,epss,percentile', '#model_version:v1']) assert.equal(readEpssHead(other), null);
  });

  it('is a row only with an id and two shares', () => {
    const cve = 'CVE-2021-44228';
    assert.deepEqual(readEpssRow([cve, '0.94358', '1']), { cve, epss: 0.94358, percentile: 1 });
    assert.equal(readEpssRow([cve, '1e-5', '0.0'])?.epss, 0.00001);
    for (const other of [[], [cve], [cve, '1.1', '0'], [cve, '-0.1', '0'], ['x', '0', '0']])
      assert.equal(readEpssRow(other), null);
    for (const share of ['', ' 0.5', 'NaN', 'Infinity', '0x1', '.5', '1_0'])
      assert.equal(readEpssRow([cve, share, '0.5']), null, share);
  });

  it('whatever it holds, gives shares or nothing', () =>
    holds(100, [fc.array(fc.oneof(fc.string(), fc.double().map(String)), { maxLength: 4 })], (fields) => {
      const { epss, percentile } = readEpssRow(['CVE-2024-0001', ...fields]) ?? { epss: 0, percentile: 0 };
      assert.ok(epss >= 0 && epss <= 1 && percentile >= 0 && percentile <= 1);
    }));
});

describe('a file of a folder', () => {
  it('is recognised by its outermost fields', () => {
    const delta = { fetchTime: '2025-01-01T00:00:00Z', numberOfChanges: 0, new: [], updated: [], error: [] };
    assert.equal(recognise(delta), 'cve-delta');
    const others = [null, 1, 'id', [], [delta], {}, { vulnerabilities: [] }, { id: 'x' }, { new: [], updated: [] }];
    for (const other of others) assert.equal(recognise(other), 'unknown');
  });
});
