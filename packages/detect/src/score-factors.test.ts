// What keeps each factor of the score from full points, and what it costs.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { FactorName } from './posture-type.ts';
import { best, factorOf } from './test/best-posture.ts';
import type { EvidenceParts } from './test/evidence-of.ts';
import { rows } from './test/rows.ts';

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
    ['ip6 of everybody', spf('ip6:::/0 -all'), 'spf', 0, 'open'],
    ['ip6 of all that is used', spf('ip6:2000::/3 -all'), 'spf', 0, 'open'],
    ['a of everybody', spf('a:b.test/0 -all'), 'spf', 0, 'open'],
    ['a of everybody in IPv6', spf('a:b.test//0 -all'), 'spf', 0, 'open'],
    ['everybody refused and then let softly through', spf('-ip6:::/0 -a/0 -all'), 'spf', 20, 'wide'],
    ['an include of ip6 of everybody', including(['v=spf1 ip6:::/0 -all']), 'spf', 0, 'open'],
    ['an include of mx of everybody', including(['v=spf1 mx/1 -all']), 'spf', 0, 'open'],
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
    ['an include of everybody', including(['v=spf1 all']), 'spf', 0, 'open'],
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
    ['CAA that limits nobody', { caa: ['0 iodef mailto:a@b.test'] }, 'caa', 0, 'unrestricted'],
    ['CAA that nobody understands', { caa: ['0 issue a.test', '128 x y'] }, 'caa', 3, 'unknown-critical'],
    ['two MTA-STS records', { mtaSts: ['v=STSv1; id=1', 'v=STSv1; id=2'] }, 'mta_sts', 0, 'several'],
    ['an MTA-STS record without its semicolon', { mtaSts: ['v=STSv1 id=1'] }, 'mta_sts', 0, 'unreadable'],
    ['no MTA-STS record', { mtaSts: ['hello'] }, 'mta_sts', 0, 'missing'],
    ['two TLS-RPT records', { tlsRpt: ['v=TLSRPTv1; rua=a', 'v=TLSRPTv1; rua=b'] }, 'tls_rpt', 0, 'several'],
    ['a TLS-RPT record after a space', { tlsRpt: [' v=TLSRPTv1; rua=a'] }, 'tls_rpt', 0, 'unreadable'],
    ['an MTA-STS policy in testing', { files: stsPolicy('testing') }, 'mta_sts', 5, 'testing'],
    ['an MTA-STS policy that is off', { files: stsPolicy('none') }, 'mta_sts', 0, 'off'],
    ['an MTA-STS policy for others', { files: stsPolicy('enforce', 'mx.other.test') }, 'mta_sts', 2, 'mx-mismatch'],
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
