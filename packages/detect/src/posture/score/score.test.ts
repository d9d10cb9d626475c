import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { best, factorOf, postureOf } from '../../test/best-posture.ts';
import { type EvidenceParts, everyRecord } from '../../test/evidence-of.ts';
import { hasMembers, rows } from '../../test/rows.ts';
import type { FactorName } from '../posture-type.ts';
import type { IssueId } from './issues.ts';

const spfOf = (terms: string) =>
  factorOf({ ...best, txt: [`v=spf1 ${terms}`], policies: { spf: { '_spf.a.test': 'timeout' } } }, 'spf');
const unmeasuredIn = ({ factors }: ReturnType<typeof postureOf>) =>
  factors.filter(({ finding }) => finding === 'unmeasured').map(({ factor }) => factor);
const namesIn = ({ factors }: ReturnType<typeof postureOf>) => factors.map(({ factor }) => factor).join(' ');

it('the score is full where everything is in order, and 0 for a domain with nothing', () => {
  hasMembers(postureOf(best), { score: 100, grade: 'A+', coverage: 1, scoreVersion: '2' });
  const nothing: EvidenceParts = { tls: { isTrusted: false }, files: { securityTxt: { status: 'missing' } } };
  hasMembers(postureOf(nothing), { score: 0, grade: 'F' });
});
it('the score leaves unmeasured parts out of the denominator', () => {
  const failed = { mtaSts: 'timeout', caa: 'servfail', tls: { status: 'timeout' } } as const;
  const posture = postureOf({ ...best, ...failed });
  // 97 of 122 points.
  assert.deepEqual([posture.score, posture.coverage], [100, 0.795]);
  assert.deepEqual(unmeasuredIn(posture), ['dkim', 'caa', 'mta_sts', 'tls']);
});
it('the score leaves out the part of a factor that was not measured', () => {
  const factor = factorOf({ ...best, dmarc: ['v=DMARC1; p=reject; rua=mailto:d@rua.test'] }, 'dmarc');
  assert.deepEqual([factor?.points, factor?.possible, factor?.weight, factor?.finding], [40, 40, 45, 'pass']);
});
it('the score does not treat an unmeasured protocol as an old one', () => {
  const factor = factorOf({ ...best, tls: { protocol: null } }, 'tls');
  assert.deepEqual([factor?.points, factor?.possible, factor?.issues], [5, 5, []]);
});
it('the score is null below 60 % coverage', () => {
  // 52 of 122 points.
  const expected = { score: null, grade: null, coverage: 0.426 };
  hasMembers(postureOf({ ...best, dmarc: 'timeout', txt: 'timeout' }), expected);
});
it('the score of evidence of an earlier probe has what that probe did not see unmeasured', () => {
  const { policies: _, files: __, ...earlier } = best;
  const posture = postureOf(earlier);
  assert.deepEqual(unmeasuredIn(posture), ['dkim', 'mta_sts', 'security_txt']);
  assert.deepEqual([posture.score, posture.coverage], [100, 0.902]);
});
it('the score does not judge a policy that leads to a record that was not had, unless the rest decides', () => {
  for (const unknown of ['include:_spf.a.test -all', 'redirect=_spf.a.test'])
    assert.equal(spfOf(unknown)?.finding, 'unmeasured', unknown);
  assert.equal(factorOf({ ...best, txt: ['v=spf1 redirect=_spf.example.net'] }, 'spf')?.finding, 'unmeasured');
  assert.deepEqual(spfOf('include:_spf.a.test +all')?.issues, ['spf.open']);
  assert.deepEqual(spfOf('include:_spf.a.test nonsense -all')?.issues, ['spf.syntax']);
  const parts = { ...best, dmarc: [], policies: { dmarcParents: { com: 'timeout' as const } } };
  assert.equal(factorOf(parts, 'dmarc')?.finding, 'unmeasured');
});
it('the score judges a domain that takes no mail on refusing to send any', () => {
  const policies = { txt: ['v=spf1 -all'], dmarc: ['v=DMARC1; p=reject'] };
  const none = { ...best, ...policies, mx: ['0 '], mtaSts: 'empty', tlsRpt: 'empty' } as const;
  assert.equal(postureOf(none).score, 100);
  assert.equal(namesIn(postureOf(none)), 'spf dmarc dnssec caa tls hsts headers security_txt');
  const behind = { policies: { spf: { '_spf.a.test': ['v=spf1 -all'] } } };
  const table: [parts: EvidenceParts, name: FactorName, points: number | undefined, issues: IssueId[]][] = [
    [{ txt: ['v=spf1 ~all'] }, 'spf', 0, ['spf.not-refusing']],
    [{ txt: ['v=spf1 ip4:192.0.2.1 -all'] }, 'spf', 10, ['spf.needless-senders']],
    [{ txt: ['v=spf1 include:_spf.a.test -ip4:192.0.2.1 -all'], ...behind }, 'spf', undefined, []],
    [{ txt: ['v=spf1 -all', 'v=spf1 -all'] }, 'spf', 0, ['spf.several']],
    [{ txt: ['v=spf1 ip6:::/0 -all'] }, 'spf', undefined, ['spf.open']],
    [{ dmarc: [] }, 'dmarc', 0, ['dmarc.not-refusing']],
    [{ dmarc: ['v=DMARC1; p=none'] }, 'dmarc', 8, ['dmarc.not-rejecting']],
    [{ dmarc: ['v=DMARC1; p=quarantine; t=y'] }, 'dmarc', 8, ['dmarc.not-rejecting']],
    [{ dmarc: ['v=DMARC1; p=quarantine'] }, 'dmarc', 28, ['dmarc.only-quarantining']],
    [{ dmarc: ['v=DMARC1; p=reject; sp=none'] }, 'dmarc', 30, ['dmarc.weak-subdomains']],
  ];
  for (const [parts, name, points, issues] of table) {
    const found = factorOf({ ...none, ...parts }, name);
    assert.deepEqual([points === undefined ? undefined : found?.points, found?.issues], [points, issues]);
  }
});
it('the score has no factors of the web without one, and a failed one where port 443 is refused', () => {
  const withoutWeb = postureOf({ ...best, a: 'empty', tls: { status: 'failed' } });
  assert.deepEqual([namesIn(withoutWeb), withoutWeb.score], ['spf dmarc dkim dnssec caa mta_sts tls_rpt', 100]);
  const findingOf = (status: 'refused' | 'timeout') =>
    factorOf({ ...best, http: {}, tls: { status, isTrusted: null } }, 'tls')?.finding;
  assert.deepEqual([findingOf('refused'), findingOf('timeout')], ['fail', 'unmeasured']);
});
it('the score asks no page of a domain that only redirects to another', () => {
  const redirect = { url: 'https://other.test/', statusCode: 301, redirects: ['https://example.com/'], headers: {} };
  assert.doesNotMatch(namesIn(postureOf({ ...best, http: redirect })), /headers|security_txt/);
  assert.equal(factorOf({ ...best, http: redirect }, 'hsts')?.finding, 'fail');
});
it('the score is null for a domain that does not exist', () =>
  hasMembers(postureOf(everyRecord('nxdomain')), { score: null, factors: [] }));

/** Each look-up that can fail, and the points of 122 that rest on it; 0: the score may only become null or stay. */
const FAILURES: readonly [points: number, ...failed: EvidenceParts[]][] = [
  [0, { txt: 'timeout' }, { dmarc: 'timeout' }, { a: 'timeout' }, { aaaa: 'timeout' }, { wildcardTxt: 'timeout' }],
  [0, { bimi: 'timeout' }, { policies: { validation: 'secure', spf: { 'a.test': 'timeout' } } }],
  [0, { policies: { validation: 'secure', dmarcParents: { com: 'timeout' } } }],
  [2, { files: { ...best.files, securityTxt: { status: 'timeout' } } }],
  [5, { caa: 'timeout' }, { tlsRpt: 'timeout' }],
  [5, { policies: { validation: 'secure', reportConsents: { 'rua.test': 'timeout' } } }],
  [10, { ds: 'timeout' }, { mtaSts: 'timeout' }, { files: { ...best.files, mtaSts: { status: 'timeout' } } }],
  [10, { tls: { status: 'timeout', isTrusted: null } }],
  [10, { http: { status: 'timeout', url: null, statusCode: null, headers: {} } }],
  [20, { mx: 'timeout' }],
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
  ['with reports to another domain', { ...best, dmarc: ['v=DMARC1; p=reject; rua=mailto:d@rua.test'] }],
  ['without a web', { ...best, a: 'empty', tls: { status: 'failed' } }],
  ['without mail', nullMx],
  ['without mail or DMARC', { ...nullMx, dmarc: [] }],
  ['without mail, half closed', { ...nullMx, txt: ['v=spf1 ~all'], dmarc: ['v=DMARC1; p=quarantine'] }],
  ['without MX and addresses', { ...nullMx, mx: [], a: 'empty', tls: { status: 'failed' } }],
];

for (const [why, parts] of DOMAINS) {
  it(`while one look-up fails the score of a domain ${why} is null, or moves by what failed`, () => {
    const { score, factors } = postureOf(parts);
    assert.ok(score !== null);
    const total = factors.reduce((sum, { weight }) => sum + weight, 0);
    for (const [points, ...failures] of FAILURES) {
      const limit = points === 0 ? 0 : Math.ceil((100 * points) / total) + 1;
      const scores = failures.map((failed) => postureOf({ ...parts, ...failed }).score);
      for (const now of scores) assert.ok(now === null || Math.abs(now - score) <= limit, `${points}: ${scores}`);
    }
  });
}
it('while one look-up fails the score of a domain is null while SPF or DMARC is not known, whatever else is', () => {
  for (const failed of [{ txt: 'timeout' }, { dmarc: 'timeout' }] as const) {
    const { score, grade, coverage } = postureOf({ ...best, ...failed });
    assert.deepEqual([score, grade, coverage >= 0.6], [null, null, true]);
  }
});

it('a domain with unknown use of mail gets no advice to protect incoming mail', () => {
  for (const mx of ['timeout', 'servfail'] as const) {
    const posture = postureOf({ ...nullMx, mx });
    const missing = ['mta_sts', 'tls_rpt'].filter((factor) => !unmeasuredIn(posture).includes(factor as FactorName));
    assert.deepEqual([missing, posture.factors.flatMap(({ issues }) => issues)], [[], []]);
  }
});
it('a domain with unknown use of mail has no score where its policies are judged differently with mail and without', () => {
  assert.equal(postureOf({ ...nullMx, mx: 'timeout', txt: ['v=spf1 ~all'] }).score, null);
  assert.notEqual(postureOf({ ...nullMx, mx: 'timeout' }).score, null);
});
it('a domain with unknown use of mail takes none where neither an MX nor an address is there', () => {
  const { factors } = postureOf({ ...nullMx, mx: [], a: 'empty', tls: { status: 'failed' } });
  const findings = factors.map(({ factor, finding }) => `${factor} ${finding}`);
  assert.deepEqual(findings, ['spf pass', 'dmarc pass', 'dnssec pass', 'caa pass']);
});

const stsPolicy = (mode: string, mx = 'mx.example.com') => ({
  mtaSts: { text: `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 604800\n` },
});
const spf = (terms: string): EvidenceParts => ({ txt: [`v=spf1 ${terms}`] });
const dmarc = (tags: string): EvidenceParts => ({ dmarc: [`v=DMARC1; ${tags}`] });
const inherited = (tags: string) => ({ dmarc: [], policies: { dmarcParents: { com: [`v=DMARC1; ${tags}`] } } });
const behind = (terms: string, policy: string[] | 'nxdomain'): EvidenceParts => ({
  ...spf(terms),
  policies: { spf: { '_spf.a.test': policy } },
});
const including = (policy: string[] | 'nxdomain') => behind('include:_spf.a.test -all', policy);
const redirected = (policy: string[]) => behind('redirect=_spf.a.test', policy);

const headers = (given: Record<string, string>): EvidenceParts => ({ http: { headers: given } });
const securityTxt = (text: string): EvidenceParts => ({ files: { securityTxt: { text } } });
const careless = { 'referrer-policy': 'unsafe-url', 'x-content-type-options': 'nosniff' };
const uselessKey = { 's1._domainkey': ['v=DKIM1; k=dsa; t=y; p=AAAA'] };
const noLogo = { bimi: ['v=BIMI1; l=x'], ...dmarc('p=none') };
const expired = { isTrusted: false, problem: 'CERT_HAS_EXPIRED' };
const toOther = dmarc('p=reject; rua=mailto:d@rua.test');
const refused = { policies: { reportConsents: { 'rua.test': 'nxdomain' } } } as const;
const MODIFIERS = Array.from({ length: 20 }, (_, i) => `x${i}=1`).join(' ');

describe('the points of a factor, with', () => {
  const costs = (parts: EvidenceParts, name: FactorName, points: number, issues: string) => {
    const factor = factorOf({ ...best, ...parts }, name);
    const ids = issues.split(' ').flatMap((issue) => (issue ? [`${name}.${issue}`] : []));
    assert.deepEqual([factor?.points, factor?.issues], [points, ids]);
    if (factor && factor.weight > 0)
      assert.equal(factor.finding, points === 0 ? 'fail' : points === factor.possible ? 'pass' : 'partial');
  };
  rows(costs, [
    ['~all that nothing stands behind', { txt: ['v=spf1 ~all'], dmarc: ['v=DMARC1; p=none'] }, 'spf', 23, 'softfail'],
    ['~all under an enforced DMARC policy', spf('~all'), 'spf', 25, ''],
    ['ip6 of everyone', spf('ip6:::/0 -all'), 'spf', 0, 'open'],
    ['ip6 of all that is used', spf('ip6:2000::/3 -all'), 'spf', 0, 'open'],
    ['a of everyone', spf('a:b.test/0 -all'), 'spf', 0, 'open'],
    ['a of everyone in IPv6', spf('a:b.test//0 -all'), 'spf', 0, 'open'],
    ['everyone refused and then passed with softfail', spf('-ip6:::/0 -a/0 -all'), 'spf', 20, 'wide'],
    ['an include of ip6 of everyone', including(['v=spf1 ip6:::/0 -all']), 'spf', 0, 'open'],
    ['an include of mx of everyone', including(['v=spf1 mx/1 -all']), 'spf', 0, 'open'],
    ['no all behind unknown modifiers without end', spf(MODIFIERS), 'spf', 10, 'neutral'],
    ['a redirect that depends on the sender', spf('redirect=%{d}.a.test'), 'spf', 10, 'neutral'],
    ['a dead include behind them', behind(`${MODIFIERS} include:_spf.a.test -all`, []), 'spf', 0, 'dead-include'],
    ['?all', spf('?all'), 'spf', 10, 'neutral'],
    ['no all, which is neutral', spf('mx'), 'spf', 10, 'neutral'],
    ['+all', spf('+all'), 'spf', 0, 'open'],
    ['ptr', spf('ptr -all'), 'spf', 20, 'ptr'],
    ['a term without an answer', { mx: 'empty', txt: ['v=spf1 mx ~all'] }, 'spf', 20, 'void'],
    ['a wide range', spf('ip4:10.0.0.0/12 -all'), 'spf', 20, 'wide'],
    ['a sixteenth of all addresses', spf('ip4:16.0.0.0/4 -all'), 'spf', 0, 'open'],
    ['two records', { txt: ['v=spf1 -all', 'v=spf1 ~all'] }, 'spf', 0, 'several'],
    ['a mistake', spf('inclde:a.test -all'), 'spf', 0, 'syntax'],
    ['eleven look-ups', spf(`${'a:b.test '.repeat(11)}-all`), 'spf', 0, 'too-many-lookups'],
    ['an include that leads nowhere', including('nxdomain'), 'spf', 0, 'dead-include'],
    ['an include of everyone', including(['v=spf1 all']), 'spf', 0, 'open'],
    ['a circle', including(['v=spf1 include:_spf.a.test']), 'spf', 0, 'loop'],
    ['a redirect to a strict policy', redirected(['v=spf1 ~all']), 'spf', 25, ''],
    ['a redirect to a policy without end', redirected(['v=spf1 a:b.test']), 'spf', 10, 'neutral'],
    ['no record', { txt: [] }, 'spf', 0, 'missing'],
    ['quarantine', dmarc('p=quarantine'), 'dmarc', 33, 'quarantine no-reports'],
    ['none', dmarc('p=none'), 'dmarc', 13, 'none no-reports'],
    ['reject while testing', dmarc('p=reject; t=y'), 'dmarc', 33, 'testing no-reports'],
    ['weaker sub-domains', dmarc('p=reject; sp=none; rua=mailto:d@example.com'), 'dmarc', 40, 'weak-subdomains'],
    ['weaker unused sub-domains', dmarc('p=reject; np=none; rua=mailto:d@example.com'), 'dmarc', 40, 'weak-subdomains'],
    ['reports refused', { ...toOther, ...refused }, 'dmarc', 40, 'unauthorized-reports'],
    ['a misspelled policy', dmarc('p=rejct; rua=mailto:d@example.com'), 'dmarc', 18, 'bad-value'],
    ['an address that nothing can be sent to', dmarc('p=reject; rua=d@example.com'), 'dmarc', 40, 'bad-address'],
    ['no semicolon', { dmarc: ['v=DMARC1 p=reject'] }, 'dmarc', 0, 'unreadable'],
    ['a space before the version', { dmarc: [' v=DMARC1; p=reject'] }, 'dmarc', 0, 'unreadable'],
    ['a version in small letters', { dmarc: ['v=dmarc1; x=DMARC1; p=reject'] }, 'dmarc', 0, 'unreadable'],
    ['a suffix with sp=none', inherited('p=reject; sp=none; psd=y'), 'dmarc', 13, 'inherited-none inherited'],
    ['a semicolon after the version', { txt: ['v=spf1; mx -all'] }, 'spf', 0, 'unreadable'],
    ['an invalid policy', dmarc('p=junk'), 'dmarc', 0, 'invalid'],
    ['two policies', { dmarc: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] }, 'dmarc', 0, 'several'],
    ['no policy', { dmarc: [] }, 'dmarc', 0, 'missing'],
    ['a public suffix’s policy', inherited('p=reject; psd=y'), 'dmarc', 40, 'inherited'],
    ['a zone that is not signed', { ds: [] }, 'dnssec', 0, 'unsigned'],
    ['a broken signature', { policies: { validation: 'bogus' } }, 'dnssec', 0, 'bogus'],
    ['a resolver that takes it for unsigned', { policies: { validation: 'insecure' } }, 'dnssec', 5, 'unvalidated'],
    ['an old algorithm', { ds: [{ keyTag: 1, algorithm: 5, digestType: 2, digest: 'ab' }] }, 'dnssec', 5, 'weak'],
    ['CAA that restricts nothing', { caa: ['0 iodef mailto:a@b.test'] }, 'caa', 0, 'unrestricted'],
    ['CAA with an unknown critical property', { caa: ['0 issue a.test', '128 x y'] }, 'caa', 3, 'unknown-critical'],
    ['two MTA-STS records', { mtaSts: ['v=STSv1; id=1', 'v=STSv1; id=2'] }, 'mta_sts', 0, 'several'],
    ['an MTA-STS record without its semicolon', { mtaSts: ['v=STSv1 id=1'] }, 'mta_sts', 0, 'unreadable'],
    ['no MTA-STS record', { mtaSts: ['hello'] }, 'mta_sts', 0, 'missing'],
    ['two TLS-RPT records', { tlsRpt: ['v=TLSRPTv1; rua=a', 'v=TLSRPTv1; rua=b'] }, 'tls_rpt', 0, 'several'],
    ['a TLS-RPT record after a space', { tlsRpt: [' v=TLSRPTv1; rua=a'] }, 'tls_rpt', 0, 'unreadable'],
    ['an MTA-STS policy in testing', { files: stsPolicy('testing') }, 'mta_sts', 5, 'testing'],
    ['an MTA-STS policy that is off', { files: stsPolicy('none') }, 'mta_sts', 0, 'off'],
    [
      'an MTA-STS policy for another exchange',
      { files: stsPolicy('enforce', 'mx.other.test') },
      'mta_sts',
      2,
      'mx-mismatch',
    ],
    ['an MTA-STS record alone', { files: { mtaSts: { status: 'missing' } } }, 'mta_sts', 0, 'no-policy'],
    ['something else under _smtp._tls', { tlsRpt: ['v=TLSRPTv10; rua=x', 'hello'] }, 'tls_rpt', 0, 'missing'],
    ['TLS-RPT without an address', { tlsRpt: ['v=TLSRPTv1; rua=x'] }, 'tls_rpt', 2, 'no-address'],
    ['an expired certificate', { tls: expired }, 'tls', 0, 'expired'],
    ['an old protocol', { tls: { protocol: 'TLSv1.1' } }, 'tls', 5, 'old-protocol'],
    ['a certificate at its end', { tls: { validTo: '2026-01-04T00:00:00Z' } }, 'tls', 8, 'expires-soon'],
    ['a short HSTS', headers({ 'strict-transport-security': 'max-age=600' }), 'hsts', 2, 'short'],
    ['HSTS under an expired certificate', { tls: expired }, 'hsts', 0, 'ignored'],
    ['HSTS that ends itself', headers({ 'strict-transport-security': 'max-age=0' }), 'hsts', 0, 'missing'],
    ['no headers', headers({}), 'headers', 0, 'no-csp sniffing framing'],
    ['a careless referrer and no more', headers(careless), 'headers', 0, 'no-csp framing referrer'],
    ['no security.txt', { files: { securityTxt: { status: 'missing' } } }, 'security_txt', 0, 'missing'],
    ['an old one', securityTxt('Contact: tel:+1\nExpires: 2020-01-01T00:00:00Z'), 'security_txt', 1, 'expired'],
    ['keys of no use, without points', { named: uselessKey }, 'dkim', 0, 'unusable testing'],
    ['a logo that is not shown', noLogo, 'bimi', 0, 'no-logo ineligible'],
  ]);
});
