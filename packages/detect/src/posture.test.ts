import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assessPosture } from './posture.ts';
import type { PostureFactor } from './profile.ts';
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';

const best: EvidenceParts = {
  mx: ['10 mx.example.com'],
  txt: ['v=spf1 mx -all'],
  dmarc: ['v=DMARC1; p=reject; rua=mailto:d@example.com'],
  ds: [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'ab' }],
  caa: ['0 issue certy.test'],
  mtaSts: ['v=STSv1; id=20260101'],
  tlsRpt: ['v=TLSRPTv1; rua=mailto:t@example.com'],
  tls: { issuer: 'Certy' },
};
const postureOf = (parts: EvidenceParts) => assessPosture(evidenceOf(parts));
const factorOf = (parts: EvidenceParts, name: PostureFactor['factor']) =>
  postureOf(parts).factors.find(({ factor }) => factor === name);

describe('the score', () => {
  it('misses full marks only for the MTA-STS policy that is not read', () => {
    const { score, grade, coverage, scoreVersion } = postureOf(best);
    // 105 of 110 points.
    assert.deepEqual([score, grade, coverage, scoreVersion], [95, 'A+', 1, '1']);
  });

  it('is 0 and F for a domain with nothing', () => {
    const { score, grade } = postureOf({ tls: { isTrusted: false } });
    assert.deepEqual([score, grade], [0, 'F']);
  });

  const table: [why: string, parts: EvidenceParts, factor: PostureFactor['factor'], points: number][] = [
    ['~all', { txt: ['v=spf1 ~all'] }, 'spf', 23],
    ['?all', { txt: ['v=spf1 ?all'] }, 'spf', 10],
    ['no all, which is neutral', { txt: ['v=spf1 mx'] }, 'spf', 10],
    ['+all', { txt: ['v=spf1 +all'] }, 'spf', 0],
    ['ptr', { txt: ['v=spf1 ptr -all'] }, 'spf', 20],
    ['two records', { txt: ['v=spf1 -all', 'v=spf1 ~all'] }, 'spf', 0],
    ['quarantine', { dmarc: ['v=DMARC1; p=quarantine'] }, 'dmarc', 33],
    ['none', { dmarc: ['v=DMARC1; p=none'] }, 'dmarc', 13],
    ['reject while testing', { dmarc: ['v=DMARC1; p=reject; t=y'] }, 'dmarc', 33],
    ['reject with weaker sub-domains', { dmarc: ['v=DMARC1; p=reject; sp=none'] }, 'dmarc', 35],
    ['reject with weaker nonexistent sub-domains', { dmarc: ['v=DMARC1; p=reject; np=none'] }, 'dmarc', 35],
    ['an invalid policy', { dmarc: ['v=DMARC1; p=junk'] }, 'dmarc', 0],
    ['an untrusted certificate', { tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } }, 'tls', 0],
    ['an old protocol', { tls: { protocol: 'TLSv1.1' } }, 'tls', 5],
    ['two MTA-STS records', { mtaSts: ['v=STSv1; id=1', 'v=STSv1; id=2'] }, 'mta_sts', 0],
    ['something else under _smtp._tls', { tlsRpt: ['v=TLSRPTv10; rua=x', 'hello'] }, 'tls_rpt', 0],
  ];
  for (const [why, parts, name, points] of table) {
    it(`gives ${points} for ${name} with ${why}`, () =>
      assert.equal(factorOf({ ...best, ...parts }, name)?.points, points));
  }

  it('leaves unmeasured parts out of the denominator', () => {
    const { score, coverage, factors } = postureOf({
      ...best,
      mtaSts: 'timeout',
      caa: 'servfail',
      tls: { status: 'timeout' },
    });
    assert.equal(score, 100);
    assert.equal(coverage, 0.773);
    assert.equal(factors.filter(({ finding }) => finding === 'unmeasured').length, 3);
  });

  it('is null below 60 % coverage', () => {
    const { score, grade, coverage } = postureOf({ ...best, dmarc: 'timeout', txt: 'timeout' });
    assert.equal(coverage, 0.364);
    assert.deepEqual([score, grade], [null, null]);
  });

  it('does not judge a policy that stands behind a redirect', () => {
    assert.equal(factorOf({ ...best, txt: ['v=spf1 redirect=_spf.example.net'] }, 'spf')?.finding, 'unmeasured');
  });

  it('judges a domain that takes no mail on refusing to send any', () => {
    const none = {
      ...best,
      mx: ['0 '],
      txt: ['v=spf1 -all'],
      dmarc: ['v=DMARC1; p=reject'],
      mtaSts: 'empty',
      tlsRpt: 'empty',
    } as const;
    const { score, factors } = postureOf(none);
    assert.equal(score, 100);
    assert.deepEqual(
      factors.map(({ factor }) => factor),
      ['spf', 'dmarc', 'dnssec', 'caa', 'tls'],
    );
    assert.equal(factorOf({ ...none, txt: ['v=spf1 ~all'] }, 'spf')?.points, 0);
  });

  it('has no TLS factor without a web, and a failed one where port 443 is refused', () => {
    assert.equal(factorOf({ ...best, a: 'empty', tls: { status: 'failed' } }, 'tls'), undefined);
    assert.equal(factorOf({ ...best, http: {}, tls: { status: 'refused', isTrusted: null } }, 'tls')?.finding, 'fail');
    assert.equal(
      factorOf({ ...best, http: {}, tls: { status: 'timeout', isTrusted: null } }, 'tls')?.finding,
      'unmeasured',
    );
  });
});

describe('the posture', () => {
  it('tells no record from no answer', () => {
    assert.equal(postureOf({}).spf.result, 'none');
    assert.deepEqual(postureOf({ txt: 'timeout' }).spf, {
      status: 'unmeasured',
      record: null,
      all: null,
      result: 'unmeasured',
    });
    assert.deepEqual(postureOf({ ds: 'servfail' }).dnssec, { status: 'unmeasured', isSigned: null });
    assert.deepEqual(postureOf({}).dnssec, { status: 'absent', isSigned: false });
  });

  it('gives the published and the effective policy', () => {
    const { dmarc } = postureOf({ dmarc: ['v=DMARC1; p=reject; sp=quarantine; t=y; rua=mailto:a@b.test'] });
    assert.deepEqual(dmarc, {
      status: 'observed',
      record: 'v=DMARC1; p=reject; sp=quarantine; t=y; rua=mailto:a@b.test',
      policy: 'reject',
      effectivePolicy: 'quarantine',
      subdomainPolicy: 'quarantine',
      hasReporting: true,
    });
  });

  it('lists selectors that hold a key, and no revoked ones', () => {
    const named = {
      's1._domainkey': ['v=DKIM1; k=rsa; p=MIGf'],
      'selector1._domainkey': ['v=DKIM1; p='],
      autodiscover: ['p=x'],
    };
    assert.deepEqual(postureOf({ named }).dkim, { status: 'observed', selectors: ['s1'] });
    assert.equal(postureOf({ named: { 's1._domainkey': 'nxdomain' } }).dkim.status, 'absent');
    assert.equal(
      postureOf({ named: { 's1._domainkey': 'nxdomain', 's2._domainkey': 'timeout' } }).dkim.status,
      'unmeasured',
    );
    assert.equal(postureOf({}).dkim.status, 'unmeasured');
  });

  it('lists CAA issuers without parameters, and none for "nobody"', () => {
    const { caa } = postureOf({
      caa: ['0 issue b.test; x=1', '0 issuewild a.test', '0 issue ;', '0 iodef mailto:c@c.test'],
    });
    assert.deepEqual(caa, { status: 'observed', issuers: ['a.test', 'b.test'] });
  });

  it('keeps records fit to be stored and signed', () => {
    const { record } = postureOf({ txt: [`v=spf1 \u0000\ud800${'x'.repeat(70_000)}`] }).spf;
    assert.equal(record?.length, 2048);
    assert.ok(record?.isWellFormed() && !record.includes('\u0000'));
  });
});
