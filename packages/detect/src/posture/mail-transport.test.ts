import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileEvidence } from '../evidence.ts';
import { assessPosture } from '../posture.ts';
import type { Posture } from '../posture-type.ts';
import { type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';

const record = ['v=STSv1; id=20260101T000000'];
const policy = (...lines: readonly string[]) => ['version: STSv1', ...lines].join('\r\n');
const good = policy('mode: enforce', 'mx: mx.example.com', 'mx: *.backup.test', 'max_age: 604800');

function mtaSts(text: string | Partial<FileEvidence>, parts: EvidenceParts = {}): Posture['mtaSts'] {
  const file = typeof text === 'string' ? { text } : text;
  return assessPosture(
    evidenceOf({ mtaSts: record, mx: ['10 mx.example.com', '20 in.backup.test'], files: { mtaSts: file }, ...parts }),
  ).mtaSts;
}

describe('MTA-STS', () => {
  const table: [why: string, text: string | Partial<FileEvidence>, expected: Partial<Posture['mtaSts']>][] = [
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
  ];
  for (const [why, text, expected] of table) {
    it(`${why}: ${JSON.stringify(expected)}`, () => {
      const found = mtaSts(text);
      for (const [key, value] of Object.entries(expected)) assert.equal(found[key as keyof typeof found], value, key);
      assert.equal(found.hasRecord, true);
    });
  }
  it('has an id of letters and digits', () => {
    for (const bad of ['v=STSv1', 'v=STSv1; id=', 'v=STSv1; id=a-b', `v=STSv1; id=${'1'.repeat(33)}`])
      assert.equal(mtaSts(good, { mtaSts: [bad] }).problem, 'bad-id', bad);
  });
  it('names the domain itself where it has no MX records', () => {
    const parts = { mx: 'empty' } as const;
    assert.equal(mtaSts(good, parts).problem, 'mx-mismatch');
    assert.equal(mtaSts(good.replace('mx.example.com', 'example.com'), parts).problem, null);
  });
  it('is none with two records, or with a policy alone', () => {
    assert.equal(mtaSts(good, { mtaSts: [...record, 'v=STSv1; id=2'] }).hasRecord, false);
    assert.deepEqual([mtaSts(good, { mtaSts: [] }).hasRecord, mtaSts(good, { mtaSts: [] }).mode], [false, null]);
  });
});

describe('TLS-RPT', () => {
  const table: [record: string, hasAddress: boolean][] = [
    ['v=TLSRPTv1; rua=mailto:t@example.com', true],
    ['v=TLSRPTv1;rua=https://t.example.com/v1', true],
    ['v=TLSRPTv1; rua=nonsense,mailto:t@example.com', true],
    ['v=TLSRPTv1; rua=http://t.example.com', false],
    ['v=TLSRPTv1; rua=', false],
    ['v=TLSRPTv1', false],
  ];
  for (const [text, hasAddress] of table) {
    it(`${text} ${hasAddress ? 'has' : 'has no'} address`, () =>
      assert.deepEqual(assessPosture(evidenceOf({ tlsRpt: [text] })).tlsRpt, {
        status: 'observed',
        hasRecord: true,
        hasAddress,
        problem: null,
      }));
  }

  it('is not measured while its name does not answer', () =>
    assert.equal(assessPosture(evidenceOf({ tlsRpt: 'timeout' })).tlsRpt.hasAddress, null));
});
