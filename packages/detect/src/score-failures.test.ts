// The score while one look-up fails: it is null, or moves by no more than what that look-up decides.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { best, factorIn, postureOf } from './test/best-posture.ts';
import type { EvidenceParts } from './test/evidence-of.ts';

const noPage = { status: 'timeout', url: null, statusCode: null, headers: {} } as const;
/** Each look-up that can fail, and the points of 122 that rest on it; 0: the score may only become null or stay. */
const FAILURES: readonly [name: string, failed: EvidenceParts, points: number][] = [
  ['TXT', { txt: 'timeout' }, 0],
  ['DMARC', { dmarc: 'timeout' }, 0],
  ['a policy that SPF leads to', { policies: { validation: 'secure', spf: { 'a.test': 'timeout' } } }, 0],
  ['a parent’s DMARC', { policies: { validation: 'secure', dmarcParents: { com: 'timeout' } } }, 0],
  ['a consent to reports', { policies: { validation: 'secure', reportConsents: { 'rua.test': 'timeout' } } }, 5],
  ['MX', { mx: 'timeout' }, 20],
  ['A', { a: 'timeout' }, 0],
  ['AAAA', { aaaa: 'timeout' }, 0],
  ['a random label', { wildcardTxt: 'timeout' }, 0],
  ['DS', { ds: 'timeout' }, 10],
  ['CAA', { caa: 'timeout' }, 5],
  ['the MTA-STS record', { mtaSts: 'timeout' }, 10],
  ['the MTA-STS policy', { files: { ...best.files, mtaSts: { status: 'timeout' } } }, 10],
  ['TLS-RPT', { tlsRpt: 'timeout' }, 5],
  ['BIMI', { bimi: 'timeout' }, 0],
  ['the certificate', { tls: { status: 'timeout', isTrusted: null } }, 10],
  ['the page', { http: noPage }, 10],
  ['security.txt', { files: { ...best.files, securityTxt: { status: 'timeout' } } }, 2],
];
const dead = { policies: { validation: 'secure', spf: { 'a.test': [] } } } as const;
const refusing: EvidenceParts = { mx: ['0 '], txt: ['v=spf1 -all'], dmarc: ['v=DMARC1; p=reject'] };
const nullMx: EvidenceParts = { ...best, ...refusing, mtaSts: 'empty', tlsRpt: 'empty' };
const little: EvidenceParts = { txt: ['v=spf1 ?all'], dmarc: ['v=DMARC1; p=none'], mx: ['10 mx.example.com'] };
const DOMAINS: readonly [why: string, parts: EvidenceParts][] = [
  ['with everything', best],
  ['without DMARC', { ...best, dmarc: [] }],
  ['without SPF', { ...best, txt: [] }],
  ['with neither', { ...best, txt: [], dmarc: [] }],
  ['with an SPF policy that is void', { ...best, txt: ['v=spf1 include:a.test -all'], ...dead }],
  ['with little', { ...little, tls: {}, policies: {} }],
  ['with reports to a stranger', { ...best, dmarc: ['v=DMARC1; p=reject; rua=mailto:d@rua.test'] }],
  ['without a web', { ...best, a: 'empty', tls: { status: 'failed' } }],
  ['without mail', nullMx],
  ['without mail or DMARC', { ...nullMx, dmarc: [] }],
  ['without mail, half closed', { ...nullMx, txt: ['v=spf1 ~all'], dmarc: ['v=DMARC1; p=quarantine'] }],
  ['without MX and addresses', { ...nullMx, mx: [], a: 'empty', tls: { status: 'failed' } }],
];

describe('the score of a domain', () => {
  for (const [why, parts] of DOMAINS) {
    it(`${why} is null, or moves by what failed`, () => {
      const { score, factors } = postureOf(parts);
      assert.ok(score !== null);
      const total = factors.reduce((sum, { weight }) => sum + weight, 0);
      for (const [name, failed, points] of FAILURES) {
        const { score: now } = postureOf({ ...parts, ...failed });
        const limit = points === 0 ? 0 : Math.ceil((100 * points) / total) + 1;
        if (now !== null) assert.ok(Math.abs(now - score) <= limit, `${name}: ${score} -> ${now}`);
      }
    });
  }

  it('is null while SPF or DMARC is not known, whatever else is', () => {
    for (const failed of [{ txt: 'timeout' }, { dmarc: 'timeout' }] as const) {
      const { score, grade, coverage } = postureOf({ ...best, ...failed });
      assert.deepEqual([score, grade], [null, null]);
      assert.ok(coverage >= 0.6);
    }
  });
});

describe('a domain of which nobody knows whether it takes mail', () => {
  it('is not told to protect mail to it', () => {
    for (const mx of ['timeout', 'servfail'] as const) {
      const posture = postureOf({ ...nullMx, mx });
      for (const factor of ['mta_sts', 'tls_rpt'] as const)
        assert.equal(factorIn(posture, factor)?.finding, 'unmeasured');
      for (const { issues } of posture.factors) assert.deepEqual(issues, []);
    }
  });

  it('has no score where its policies are judged differently with mail and without', () => {
    assert.equal(postureOf({ ...nullMx, mx: 'timeout', txt: ['v=spf1 ~all'] }).score, null);
    assert.notEqual(postureOf({ ...nullMx, mx: 'timeout' }).score, null);
  });
  it('takes none where neither an MX nor an address is there', () => {
    const { factors } = postureOf({ ...nullMx, mx: [], a: 'empty', tls: { status: 'failed' } });
    const findings = factors.map(({ factor, finding }) => `${factor} ${finding}`);
    assert.deepEqual(findings, ['spf pass', 'dmarc pass', 'dnssec pass', 'caa pass']);
  });
});
