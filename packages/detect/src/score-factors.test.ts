// What keeps each factor of the score from full points, and what it costs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IssueId } from './issues.ts';
import { assessPosture } from './posture.ts';
import type { FactorName } from './posture-type.ts';
import { best } from './test/best-posture.ts';
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';

const postureOf = (parts: EvidenceParts) => assessPosture(evidenceOf(parts));
const factorOf = (parts: EvidenceParts, name: FactorName) =>
  postureOf(parts).factors.find(({ factor }) => factor === name);
const stsPolicy = (mode: string, mx = 'mx.example.com') => ({
  mtaSts: { text: `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 604800\n` },
});
const including = (record: string, policy: string[] | 'nxdomain' | 'timeout') => ({
  txt: [record],
  policies: { spf: { '_spf.a.test': policy } },
});

const MODIFIERS = Array.from({ length: 20 }, (_, i) => `x${i}=1`).join(' ');

describe('a factor of the score', () => {
  const table: [why: string, parts: EvidenceParts, factor: FactorName, points: number, issues: readonly IssueId[]][] = [
    [
      '~all that nothing stands behind',
      { txt: ['v=spf1 ~all'], dmarc: ['v=DMARC1; p=none'] },
      'spf',
      23,
      ['spf.softfail'],
    ],
    ['~all under an enforced DMARC policy', { txt: ['v=spf1 ~all'] }, 'spf', 25, []],
    ['ip6 of everybody', { txt: ['v=spf1 ip6:::/0 -all'] }, 'spf', 0, ['spf.open']],
    ['ip6 of all that is used', { txt: ['v=spf1 ip6:2000::/3 -all'] }, 'spf', 0, ['spf.open']],
    ['a of everybody', { txt: ['v=spf1 a:b.test/0 -all'] }, 'spf', 0, ['spf.open']],
    ['a of everybody in IPv6', { txt: ['v=spf1 a:b.test//0 -all'] }, 'spf', 0, ['spf.open']],
    ['everybody refused and then let softly through', { txt: ['v=spf1 -ip6:::/0 -a/0 -all'] }, 'spf', 20, ['spf.wide']],
    [
      'an include of ip6 of everybody',
      including('v=spf1 include:_spf.a.test -all', ['v=spf1 ip6:::/0 -all']),
      'spf',
      0,
      ['spf.open'],
    ],
    [
      'an include of mx of everybody',
      including('v=spf1 include:_spf.a.test -all', ['v=spf1 mx/1 -all']),
      'spf',
      0,
      ['spf.open'],
    ],
    ['no all behind unknown modifiers without end', { txt: [`v=spf1 ${MODIFIERS}`] }, 'spf', 10, ['spf.neutral']],
    ['a redirect that depends on the sender', { txt: ['v=spf1 redirect=%{d}.a.test'] }, 'spf', 10, ['spf.neutral']],
    [
      'a dead include behind them',
      including(`v=spf1 ${MODIFIERS} include:_spf.a.test -all`, []),
      'spf',
      0,
      ['spf.dead-include'],
    ],
    ['?all', { txt: ['v=spf1 ?all'] }, 'spf', 10, ['spf.neutral']],
    ['no all, which is neutral', { txt: ['v=spf1 mx'] }, 'spf', 10, ['spf.neutral']],
    ['+all', { txt: ['v=spf1 +all'] }, 'spf', 0, ['spf.open']],
    ['ptr', { txt: ['v=spf1 ptr -all'] }, 'spf', 20, ['spf.ptr']],
    ['a term without an answer', { mx: 'empty', txt: ['v=spf1 mx ~all'] }, 'spf', 20, ['spf.void']],
    ['a wide range', { txt: ['v=spf1 ip4:10.0.0.0/12 -all'] }, 'spf', 20, ['spf.wide']],
    ['a sixteenth of all addresses', { txt: ['v=spf1 ip4:16.0.0.0/4 -all'] }, 'spf', 0, ['spf.open']],
    ['two records', { txt: ['v=spf1 -all', 'v=spf1 ~all'] }, 'spf', 0, ['spf.several']],
    ['a mistake', { txt: ['v=spf1 inclde:a.test -all'] }, 'spf', 0, ['spf.syntax']],
    ['eleven look-ups', { txt: [`v=spf1 ${'a:b.test '.repeat(11)}-all`] }, 'spf', 0, ['spf.too-many-lookups']],
    [
      'an include that leads nowhere',
      including('v=spf1 include:_spf.a.test -all', 'nxdomain'),
      'spf',
      0,
      ['spf.dead-include'],
    ],
    ['an include of everybody', including('v=spf1 include:_spf.a.test -all', ['v=spf1 all']), 'spf', 0, ['spf.open']],
    ['a circle', including('v=spf1 include:_spf.a.test -all', ['v=spf1 include:_spf.a.test']), 'spf', 0, ['spf.loop']],
    ['a redirect to a strict policy', including('v=spf1 redirect=_spf.a.test', ['v=spf1 ~all']), 'spf', 25, []],
    [
      'a redirect to a policy without end',
      including('v=spf1 redirect=_spf.a.test', ['v=spf1 a:b.test']),
      'spf',
      10,
      ['spf.neutral'],
    ],
    ['no record', { txt: [] }, 'spf', 0, ['spf.missing']],
    ['quarantine', { dmarc: ['v=DMARC1; p=quarantine'] }, 'dmarc', 33, ['dmarc.quarantine', 'dmarc.no-reports']],
    ['none', { dmarc: ['v=DMARC1; p=none'] }, 'dmarc', 13, ['dmarc.none', 'dmarc.no-reports']],
    [
      'reject while testing',
      { dmarc: ['v=DMARC1; p=reject; t=y'] },
      'dmarc',
      33,
      ['dmarc.testing', 'dmarc.no-reports'],
    ],
    [
      'reject with weaker sub-domains',
      { dmarc: ['v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com'] },
      'dmarc',
      40,
      ['dmarc.weak-subdomains'],
    ],
    [
      'reject with weaker nonexistent sub-domains',
      { dmarc: ['v=DMARC1; p=reject; np=none; rua=mailto:d@example.com'] },
      'dmarc',
      40,
      ['dmarc.weak-subdomains'],
    ],
    [
      'reports that nobody receives',
      {
        dmarc: ['v=DMARC1; p=reject; rua=mailto:d@rua.test'],
        policies: { reportConsents: { 'rua.test': 'nxdomain' } },
      },
      'dmarc',
      40,
      ['dmarc.unauthorized-reports'],
    ],
    [
      'a policy that cannot be read, with reports',
      { dmarc: ['v=DMARC1; p=rejct; rua=mailto:d@example.com'] },
      'dmarc',
      18,
      ['dmarc.bad-value'],
    ],
    [
      'an address that nothing can be sent to',
      { dmarc: ['v=DMARC1; p=reject; rua=d@example.com'] },
      'dmarc',
      40,
      ['dmarc.bad-address'],
    ],
    ['no semicolon', { dmarc: ['v=DMARC1 p=reject'] }, 'dmarc', 0, ['dmarc.unreadable']],
    ['a space before the version', { dmarc: [' v=DMARC1; p=reject'] }, 'dmarc', 0, ['dmarc.unreadable']],
    ['a version in small letters', { dmarc: ['v=dmarc1; x=DMARC1; p=reject'] }, 'dmarc', 0, ['dmarc.unreadable']],
    [
      'a public suffix that asks for nothing',
      { dmarc: [], policies: { dmarcParents: { com: ['v=DMARC1; p=reject; sp=none; psd=y'] } } },
      'dmarc',
      13,
      ['dmarc.inherited-none', 'dmarc.inherited'],
    ],
    ['a semicolon after the version', { txt: ['v=spf1; mx -all'] }, 'spf', 0, ['spf.unreadable']],
    ['an invalid policy', { dmarc: ['v=DMARC1; p=junk'] }, 'dmarc', 0, ['dmarc.invalid']],
    ['two policies', { dmarc: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] }, 'dmarc', 0, ['dmarc.several']],
    ['no policy', { dmarc: [] }, 'dmarc', 0, ['dmarc.missing']],
    [
      'a public suffix that speaks for its names',
      { dmarc: [], policies: { dmarcParents: { com: ['v=DMARC1; p=reject; psd=y'] } } },
      'dmarc',
      40,
      ['dmarc.inherited'],
    ],
    ['a zone that is not signed', { ds: [] }, 'dnssec', 0, ['dnssec.unsigned']],
    ['a broken signature', { policies: { validation: 'bogus' } }, 'dnssec', 0, ['dnssec.bogus']],
    [
      'a resolver that takes it for unsigned',
      { policies: { validation: 'insecure' } },
      'dnssec',
      5,
      ['dnssec.unvalidated'],
    ],
    [
      'an old algorithm',
      { ds: [{ keyTag: 1, algorithm: 5, digestType: 2, digest: 'ab' }] },
      'dnssec',
      5,
      ['dnssec.weak'],
    ],
    ['CAA that limits nobody', { caa: ['0 iodef mailto:a@b.test'] }, 'caa', 0, ['caa.unrestricted']],
    ['CAA that nobody understands', { caa: ['0 issue a.test', '128 x y'] }, 'caa', 3, ['caa.unknown-critical']],
    ['two MTA-STS records', { mtaSts: ['v=STSv1; id=1', 'v=STSv1; id=2'] }, 'mta_sts', 0, ['mta_sts.several']],
    ['an MTA-STS record without its semicolon', { mtaSts: ['v=STSv1 id=1'] }, 'mta_sts', 0, ['mta_sts.unreadable']],
    ['no MTA-STS record', { mtaSts: ['hello'] }, 'mta_sts', 0, ['mta_sts.missing']],
    ['two TLS-RPT records', { tlsRpt: ['v=TLSRPTv1; rua=a', 'v=TLSRPTv1; rua=b'] }, 'tls_rpt', 0, ['tls_rpt.several']],
    ['a TLS-RPT record after a space', { tlsRpt: [' v=TLSRPTv1; rua=a'] }, 'tls_rpt', 0, ['tls_rpt.unreadable']],
    ['an MTA-STS policy in testing', { files: stsPolicy('testing') }, 'mta_sts', 5, ['mta_sts.testing']],
    ['an MTA-STS policy that is off', { files: stsPolicy('none') }, 'mta_sts', 0, ['mta_sts.off']],
    [
      'an MTA-STS policy for others',
      { files: stsPolicy('enforce', 'mx.other.test') },
      'mta_sts',
      2,
      ['mta_sts.mx-mismatch'],
    ],
    ['an MTA-STS record alone', { files: { mtaSts: { status: 'missing' } } }, 'mta_sts', 0, ['mta_sts.no-policy']],
    ['something else under _smtp._tls', { tlsRpt: ['v=TLSRPTv10; rua=x', 'hello'] }, 'tls_rpt', 0, ['tls_rpt.missing']],
    ['TLS-RPT without an address', { tlsRpt: ['v=TLSRPTv1; rua=x'] }, 'tls_rpt', 2, ['tls_rpt.no-address']],
    ['an expired certificate', { tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } }, 'tls', 0, ['tls.expired']],
    ['an old protocol', { tls: { protocol: 'TLSv1.1' } }, 'tls', 5, ['tls.old-protocol']],
    ['a certificate at its end', { tls: { validTo: '2026-01-04T00:00:00Z' } }, 'tls', 8, ['tls.expires-soon']],
    ['a short HSTS', { http: { headers: { 'strict-transport-security': 'max-age=600' } } }, 'hsts', 2, ['hsts.short']],
    [
      'HSTS under a certificate that nobody accepts',
      { tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } },
      'hsts',
      0,
      ['hsts.ignored'],
    ],
    [
      'HSTS that ends itself',
      { http: { headers: { 'strict-transport-security': 'max-age=0' } } },
      'hsts',
      0,
      ['hsts.missing'],
    ],
    ['no headers', { http: { headers: {} } }, 'headers', 0, ['headers.no-csp', 'headers.sniffing', 'headers.framing']],
    [
      'a careless referrer and no more',
      { http: { headers: { 'referrer-policy': 'unsafe-url', 'x-content-type-options': 'nosniff' } } },
      'headers',
      0,
      ['headers.no-csp', 'headers.framing', 'headers.referrer'],
    ],
    ['no security.txt', { files: { securityTxt: { status: 'missing' } } }, 'security_txt', 0, ['security_txt.missing']],
    [
      'an old security.txt',
      { files: { securityTxt: { text: 'Contact: tel:+1\nExpires: 2020-01-01T00:00:00Z' } } },
      'security_txt',
      1,
      ['security_txt.expired'],
    ],
    [
      'DKIM keys that help nobody, for which there are no points',
      { named: { 's1._domainkey': ['v=DKIM1; k=dsa; t=y; p=AAAA'] } },
      'dkim',
      0,
      ['dkim.unusable', 'dkim.testing'],
    ],
    [
      'a logo that nobody shows',
      { bimi: ['v=BIMI1; l=x'], dmarc: ['v=DMARC1; p=none'] },
      'bimi',
      0,
      ['bimi.no-logo', 'bimi.ineligible'],
    ],
  ];
  for (const [why, parts, name, points, issues] of table) {
    it(`gives ${points} for ${name} with ${why}`, () => {
      const factor = factorOf({ ...best, ...parts }, name);
      assert.deepEqual([factor?.points, factor?.issues], [points, issues]);
      if (factor && factor.weight > 0)
        assert.equal(factor.finding, points === 0 ? 'fail' : points === factor.possible ? 'pass' : 'partial');
    });
  }
});
