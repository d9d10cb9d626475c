import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileEvidence } from '../evidence.ts';
import type { Posture } from '../posture-type.ts';
import { postureOf } from '../test/best-posture.ts';
import type { EvidenceParts } from '../test/evidence-of.ts';
import { hasMembers, rows } from '../test/rows.ts';

const record = ['v=STSv1; id=20260101T000000'];
const policy = (...lines: readonly string[]) => ['version: STSv1', ...lines].join('\r\n');
const good = policy('mode: enforce', 'mx: mx.example.com', 'mx: *.backup.test', 'max_age: 604800');

const mx = ['10 mx.example.com', '20 in.backup.test'];
const mtaSts = (file: Partial<FileEvidence>, parts: EvidenceParts = {}): Posture['mtaSts'] =>
  postureOf({ mtaSts: record, mx, files: { mtaSts: file }, ...parts }).mtaSts;

describe('MTA-STS', () => {
  const reads = (text: string | Partial<FileEvidence>, expected: Partial<Posture['mtaSts']>) =>
    hasMembers(mtaSts(typeof text === 'string' ? { text } : text), { ...expected, hasRecord: true });
  rows(reads, [
    ['is enforced', good, { mode: 'enforce', maxAge: 604_800, problem: null }],
    ['may end its lines in LF', good.replaceAll('\r', ''), { mode: 'enforce', problem: null }],
    ['is tested', good.replace('enforce', 'testing'), { mode: 'testing', problem: null }],
    ['is off, whoever receives', policy('mode: none', 'max_age: 86400'), { mode: 'none', problem: null }],
    ['leaves an exchange out', good.replace('*.backup', '*.other'), { mode: 'enforce', problem: 'mx-mismatch' }],
    ['has a star for one label only', good.replace('*.backup.test', '*.test'), { problem: 'mx-mismatch' }],
    ['is soon forgotten', good.replace('604800', '3600'), { problem: 'short-max-age' }],
    ['has no such mode', good.replace('enforce', 'strict'), { mode: null, problem: 'bad-policy' }],
    ['has no version', good.replace('version: STSv1', ''), { problem: 'bad-policy' }],
    ['has no age', good.replace('max_age', 'age'), { problem: 'bad-policy' }],
    ['has an age beyond the limit', good.replace('604800', '99999999'), { problem: 'bad-policy' }],
    ['names no exchange', policy('mode: enforce', 'max_age: 604800'), { problem: 'bad-policy' }],
    ['is a page', '<!doctype html><title>Hello</title>', { problem: 'bad-policy' }],
    ['is not there', { status: 'missing' }, { mode: null, problem: 'no-policy' }],
    ['could not be had', { status: 'timeout' }, { mode: null, problem: null }],
    ['is a redirect', { status: 'failed', statusCode: 301 }, { problem: 'no-policy' }],
    ['is forbidden', { status: 'failed', statusCode: 403 }, { problem: 'no-policy' }],
    ['is not text', { status: 'failed', contentType: 'text/html' }, { problem: 'bad-policy' }],
    ['is behind an error that passes', { status: 'failed', statusCode: 503 }, { problem: null }],
    ['is asked for too often', { status: 'failed', statusCode: 429 }, { problem: null }],
    ['was cut off', { status: 'failed' }, { problem: null }],
    ['was blocked', { status: 'blocked' }, { mode: null, problem: null }],
    ['is long', `${good}\r\n${'mx: a.test\r\n'.repeat(5000)}`, { mode: 'enforce', problem: null }],
  ]);
  it('has an id of letters and digits', () => {
    for (const bad of ['v=STSv1', 'v=STSv1; id=', 'v=STSv1; id=a-b', `v=STSv1; id=${'1'.repeat(33)}`])
      assert.equal(mtaSts({ text: good }, { mtaSts: [bad] }).problem, 'bad-id', bad);
  });
  it('names the domain itself where it has no MX records', () => {
    const parts = { mx: 'empty' } as const;
    assert.equal(mtaSts({ text: good }, parts).problem, 'mx-mismatch');
    assert.equal(mtaSts({ text: good.replace('mx.example.com', 'example.com') }, parts).problem, null);
  });
  it('is none with two records, or with a policy alone', () => {
    assert.equal(mtaSts({ text: good }, { mtaSts: [...record, 'v=STSv1; id=2'] }).hasRecord, false);
    assert.deepEqual(
      [mtaSts({ text: good }, { mtaSts: [] }).hasRecord, mtaSts({ text: good }, { mtaSts: [] }).mode],
      [false, null],
    );
  });
});

describe('TLS-RPT', () => {
  const reportsOf = (record: string) => postureOf({ tlsRpt: [record] }).tlsRpt;
  it('has an address where one is of mail or HTTPS', () => {
    const found = { status: 'observed', hasRecord: true, problem: null };
    for (const rua of ['mailto:t@example.com', 'https://t.example.com/v1', 'nonsense,mailto:t@example.com'])
      assert.deepEqual(reportsOf(`v=TLSRPTv1;rua=${rua}`), { ...found, hasAddress: true }, rua);
    for (const rest of ['; rua=http://t.example.com', '; rua=', ''])
      assert.deepEqual(reportsOf(`v=TLSRPTv1${rest}`), { ...found, hasAddress: false }, rest);
  });
  it('is not measured while its name does not answer', () =>
    assert.equal(postureOf({ tlsRpt: 'timeout' }).tlsRpt.hasAddress, null));
});
