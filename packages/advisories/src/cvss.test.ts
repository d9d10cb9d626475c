import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cvssOf, readVector, scoreOf, severityOf } from './cvss.ts';

/** Scores as FIRST's calculators and NVD give them. */
const scores: readonly (readonly [string, number])[] = [
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8],
  ['CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', 7.5],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O/RC:U', 9.8],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 9.3],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:U', 8.1],
  ['AV:N/AC:M/Au:N/C:C/I:C/A:C', 9.3],
  ['(AV:N/AC:L/Au:N/C:P/I:N/A:N)', 5],
];
const V31 = 'AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
const refused = [
  ...['', 'CVSS:3.1', 'CVSS:3.1/', 'CVSS:3.1/AV:N', 'CVSS:9.9/AV:N/AC:L', '9.8', 'AV:N//AC:M', '/'.repeat(500)],
  ...[`CVSS:3.1/AV:Q/${V31}`, `CVSS:3.1/AV:N/AV:N/${V31}`, `CVSS:3.1/XX:N/${V31}`],
  ...['AV:N/'.repeat(100_000), '__proto__:N/AC:L', 'CVSS:4.0/AV:N/AC:L'],
];

describe('CVSS', () => {
  for (const [vector, score] of scores) it(`${vector} is ${score}`, () => assert.equal(scoreOf(vector), score));
  for (const vector of refused)
    it(`'${vector.slice(0, 50)}' has no score`, () => assert.equal(scoreOf(vector), undefined));
  it('keeps the published score', () => {
    const vector = 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:H';
    assert.deepEqual(cvssOf({ vector, score: 7.7, by: 'nvd' }), { version: '3.1', vector, score: 7.7, by: 'nvd' });
    assert.equal(cvssOf({ vector, by: 'osv' })?.score, 7);
    assert.equal(cvssOf({ vector: 'nonsense', score: 7.7, by: 'nvd' }), undefined);
  });
  it('calls scores by FIRST’s bands', () => {
    const bands = [0, 0.1, 3.9, 4, 6.9, 7, 8.9, 9, 10, Number.NaN].map(severityOf);
    const names = [null, 'low', 'low', 'medium', 'medium', 'high', 'high', 'critical', 'critical', null];
    assert.deepEqual(bands, names);
  });
  it('never throws and prints nothing, whatever the vector', (test) => {
    const printed = ['log', 'warn', 'error'].map((name) => test.mock.method(console, name as 'log', () => {}));
    const metrics = ['AV:N', 'AC:L', 'Au:N', 'E:Z', 'S:', ':', '', 'A:H', 'VC:H', 'CVSS:3.0', 'CVSS:3.1', 'CVSS:4.0'];
    const parts = fc.constantFrom(...metrics);
    fc.assert(fc.property(fc.array(parts, { maxLength: 20 }), (list) => void scoreOf(list.join('/'))));
    fc.assert(fc.property(fc.string(), (text) => void readVector(text)));
    for (const { mock } of printed) assert.equal(mock.callCount(), 0);
  });
});
