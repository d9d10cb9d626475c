import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IssueId } from './issues.ts';
import type { FactorName } from './posture-type.ts';
import { best, factorOf, postureOf } from './test/best-posture.ts';
import { type EvidenceParts, everyRecord } from './test/evidence-of.ts';

const spfOf = (terms: string) =>
  factorOf({ ...best, txt: [`v=spf1 ${terms}`], policies: { spf: { '_spf.a.test': 'timeout' } } }, 'spf');
const unmeasuredIn = ({ factors }: ReturnType<typeof postureOf>) =>
  factors.filter(({ finding }) => finding === 'unmeasured').map(({ factor }) => factor);
const namesIn = ({ factors }: ReturnType<typeof postureOf>) => factors.map(({ factor }) => factor).join(' ');

describe('the score', () => {
  it('is full where everything is in order', () => {
    const { score, grade, coverage, scoreVersion } = postureOf(best);
    assert.deepEqual([score, grade, coverage, scoreVersion], [100, 'A+', 1, '2']);
  });
  it('is 0 and F for a domain with nothing', () => {
    const { score, grade } = postureOf({ tls: { isTrusted: false }, files: { securityTxt: { status: 'missing' } } });
    assert.deepEqual([score, grade], [0, 'F']);
  });

  it('leaves unmeasured parts out of the denominator', () => {
    const failed = { mtaSts: 'timeout', caa: 'servfail', tls: { status: 'timeout' } } as const;
    const posture = postureOf({ ...best, ...failed });
    // 97 of 122 points.
    assert.deepEqual([posture.score, posture.coverage], [100, 0.795]);
    assert.deepEqual(unmeasuredIn(posture), ['dkim', 'caa', 'mta_sts', 'tls']);
  });

  it('leaves out the part of a factor that nobody asked about', () => {
    const factor = factorOf({ ...best, dmarc: ['v=DMARC1; p=reject; rua=mailto:d@rua.test'] }, 'dmarc');
    assert.deepEqual([factor?.points, factor?.possible, factor?.weight, factor?.finding], [40, 40, 45, 'pass']);
  });
  it('takes a protocol that was not seen for none that is old', () => {
    const factor = factorOf({ ...best, tls: { protocol: null } }, 'tls');
    assert.deepEqual([factor?.points, factor?.possible, factor?.issues], [5, 5, []]);
  });
  it('is null below 60 % coverage', () => {
    const { score, grade, coverage } = postureOf({ ...best, dmarc: 'timeout', txt: 'timeout' });
    // 52 of 122 points.
    assert.deepEqual([score, grade, coverage], [null, null, 0.426]);
  });
  it('of evidence of an earlier probe has what that probe did not see unmeasured', () => {
    const { policies: _, files: __, ...earlier } = best;
    const posture = postureOf(earlier);
    assert.deepEqual(unmeasuredIn(posture), ['dkim', 'mta_sts', 'security_txt']);
    assert.deepEqual([posture.score, posture.coverage], [100, 0.902]);
  });
  it('does not judge a policy that leads to a record that was not had, unless the rest decides', () => {
    assert.equal(spfOf('include:_spf.a.test -all')?.finding, 'unmeasured');
    assert.deepEqual(spfOf('include:_spf.a.test +all')?.issues, ['spf.open']);
    assert.deepEqual(spfOf('include:_spf.a.test nonsense -all')?.issues, ['spf.syntax']);
  });
  it('does not judge a policy that stands behind a redirect', () => {
    assert.equal(factorOf({ ...best, txt: ['v=spf1 redirect=_spf.example.net'] }, 'spf')?.finding, 'unmeasured');
    assert.equal(spfOf('redirect=_spf.a.test')?.finding, 'unmeasured');
  });
  it('does not judge a domain without DMARC while a parent’s policy could not be had', () => {
    const parts = { ...best, dmarc: [], policies: { dmarcParents: { com: 'timeout' as const } } };
    assert.equal(factorOf(parts, 'dmarc')?.finding, 'unmeasured');
  });

  it('judges a domain that takes no mail on refusing to send any', () => {
    const policies = { txt: ['v=spf1 -all'], dmarc: ['v=DMARC1; p=reject'] };
    const none = { ...best, ...policies, mx: ['0 '], mtaSts: 'empty', tlsRpt: 'empty' } as const;
    assert.equal(postureOf(none).score, 100);
    assert.equal(namesIn(postureOf(none)), 'spf dmarc dnssec caa tls hsts headers security_txt');
    const behind = { policies: { spf: { '_spf.a.test': ['v=spf1 -all'] } } };
    const rows: [parts: EvidenceParts, name: FactorName, points: number | undefined, issues: IssueId[]][] = [
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
    for (const [parts, name, points, issues] of rows) {
      const found = factorOf({ ...none, ...parts }, name);
      assert.deepEqual([points === undefined ? undefined : found?.points, found?.issues], [points, issues]);
    }
  });

  it('has no factors of the web without one, and a failed one where port 443 is refused', () => {
    const withoutWeb = postureOf({ ...best, a: 'empty', tls: { status: 'failed' } });
    assert.deepEqual([namesIn(withoutWeb), withoutWeb.score], ['spf dmarc dkim dnssec caa mta_sts tls_rpt', 100]);
    const findingOf = (status: 'refused' | 'timeout') =>
      factorOf({ ...best, http: {}, tls: { status, isTrusted: null } }, 'tls')?.finding;
    assert.deepEqual([findingOf('refused'), findingOf('timeout')], ['fail', 'unmeasured']);
  });
  it('asks no page of a domain that only redirects to another', () => {
    const redirect = { url: 'https://other.test/', statusCode: 301, redirects: ['https://example.com/'], headers: {} };
    assert.doesNotMatch(namesIn(postureOf({ ...best, http: redirect })), /headers|security_txt/);
    assert.equal(factorOf({ ...best, http: redirect }, 'hsts')?.finding, 'fail');
  });
  it('is none for a domain that does not exist', () => {
    const nothing = everyRecord('nxdomain');
    assert.deepEqual([postureOf(nothing).score, postureOf(nothing).factors], [null, []]);
  });
});
