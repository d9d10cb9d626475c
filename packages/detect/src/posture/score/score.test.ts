import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { best, type EvidenceParts, everyRecord, factorOf, hasMembers, postureOf, rowsOf } from '../../test/index.ts';
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
  type Row = [parts: EvidenceParts, name: FactorName, points: number | null, issues: IssueId[]];
  for (const [parts, name, points, issues] of casesOf<Row[]>('detect', 'scores of refusing all mail')) {
    const found = factorOf({ ...none, ...parts }, name);
    assert.deepEqual([points === null ? null : found?.points, found?.issues], [points, issues]);
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
  ...casesOf<[points: number, ...failed: EvidenceParts[]][]>('detect', 'points of look-ups that can fail'),
  [2, { files: { ...best.files, securityTxt: { status: 'timeout' } } }],
  [10, { files: { ...best.files, mtaSts: { status: 'timeout' } } }],
];
const refusing: EvidenceParts = { mx: ['0 '], txt: ['v=spf1 -all'], dmarc: ['v=DMARC1; p=reject'] };
const nullMx: EvidenceParts = { ...best, ...refusing, mtaSts: 'empty', tlsRpt: 'empty' };
type Domain = [why: string, isBest: boolean, parts: EvidenceParts];
for (const [why, isBest, more] of casesOf<Domain[]>('detect', 'domains with a score')) {
  const parts = isBest ? { ...best, ...more } : more;
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

describe('the points of a factor, with', () => {
  const costs = (parts: EvidenceParts, name: FactorName, points: number, issues: string) => {
    const factor = factorOf({ ...best, ...parts }, name);
    const ids = issues.split(' ').flatMap((issue) => (issue ? [`${name}.${issue}`] : []));
    assert.deepEqual([factor?.points, factor?.issues], [points, ids]);
    if (factor && factor.weight > 0)
      assert.equal(factor.finding, points === 0 ? 'fail' : points === factor.possible ? 'pass' : 'partial');
  };
  rowsOf('points of a factor', costs);
});
