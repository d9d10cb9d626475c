// The posture as it is read, stored, explained factor by factor, and packed into flags.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { best, type EvidenceParts, everyRecord, hasMembers, postureOf, rowsOf } from '../test/index.ts';
import type { PostureFlag, Regression } from './posture-flags.ts';
import { POSTURE_FLAGS, packPosture, postureBit, postureFlags, regressionsOf } from './posture-flags.ts';
import type { PostureFactor } from './posture-type.ts';
import { explainFactor } from './score/explain-factor.ts';
import { restorePosture, type StoredPosture, shortenPosture } from './stored-posture.ts';

it('the posture distinguishes a missing record from a missing answer', () => {
  assert.equal(postureOf({}).spf.result, 'none');
  const unmeasured = { status: 'unmeasured', result: 'unmeasured', evaluation: 'unmeasured' } as const;
  hasMembers(postureOf({ txt: 'timeout' }).spf, { ...unmeasured, record: null, all: null });
  hasMembers(postureOf({ ds: 'servfail' }).dnssec, { status: 'unmeasured', isSigned: null });
  hasMembers(postureOf({}).dnssec, { status: 'absent', isSigned: false });
});
it('the posture gives the published and the effective policy', () => {
  const record = 'v=DMARC1; p=reject; sp=quarantine; t=y; rua=mailto:a@b.test';
  hasMembers(postureOf({ dmarc: [record] }).dmarc, {
    ...{ status: 'observed', record, foundAt: 'example.com', isInherited: false, isTesting: true, problems: [] },
    ...{ policy: 'reject', subdomainPolicy: 'quarantine', nonexistentPolicy: 'quarantine' },
    ...{ effectivePolicy: 'quarantine', effectiveSubdomainPolicy: 'none', effectiveNonexistentPolicy: 'none' },
    ...{ hasReporting: true, reporting: 'unknown', refusingHosts: [] },
  });
});
it('the posture lists selectors that hold a key, and no revoked ones', () => {
  const [key, revoked] = [['v=DKIM1; k=rsa; p=MIGf'], ['v=DKIM1; p=']];
  const named = { 's1._domainkey': key, 'selector1._domainkey': revoked, autodiscover: ['p=x'] };
  const { status, selectors, keys } = postureOf({ named }).dkim;
  const problems = keys.map(({ selector, problem }) => `${selector} ${problem}`);
  assert.deepEqual([status, selectors, problems], ['observed', ['s1'], ['s1 unreadable', 'selector1 revoked']]);
  const statusOf = (labels?: EvidenceParts['named']) => postureOf(labels ? { named: labels } : {}).dkim.status;
  assert.equal(statusOf({ 's1._domainkey': 'nxdomain' }), 'absent');
  assert.equal(statusOf({ 's1._domainkey': 'nxdomain', 's2._domainkey': 'timeout' }), 'unmeasured');
  assert.equal(statusOf(), 'unmeasured');
  // A failed look-up of another kind of name says nothing about keys.
  assert.equal(statusOf({ 's1._domainkey': 'nxdomain', autodiscover: 'timeout' }), 'absent');
});
it('the posture keeps records fit to be stored and signed', () => {
  const { record } = postureOf({ txt: [`v=spf1 \u0000\ud800${'x'.repeat(70_000)}`] }).spf;
  assert.equal(record?.length, 2048);
  assert.ok(record?.isWellFormed() && !record.includes('\u0000'));
});

const throughText = (stored: StoredPosture) => JSON.parse(JSON.stringify(stored)) as StoredPosture;
const failing = { txt: 'timeout', dmarc: 'timeout', ds: 'servfail', caa: 'timeout', bimi: 'timeout' } as const;
const withoutMail: EvidenceParts = { ...best, mx: ['0 '] };

const spf = 'v=spf1 ptr include:a.test exists:%{i}.b.test ip4:10.0.0.0/8 ~all';
it('a stored posture is restored to what it was', () => {
  for (const parts of [
    ...[best, {}, failing, withoutMail, everyRecord('nxdomain'), { ...best, a: 'empty' } as const],
    { ...best, ...failing, named: { 's1._domainkey': ['p=AAAA'] } },
    { ...best, txt: [spf], dmarc: ['v=DMARC1; pct=5'] },
  ]) {
    const posture = postureOf(parts);
    assert.deepEqual(restorePosture(throughText(shortenPosture(posture))), posture);
  }
});
it('a stored posture is short where there is little to say', () => {
  const posture = postureOf({});
  assert.ok(JSON.stringify(shortenPosture(posture)).length < 0.65 * JSON.stringify(posture).length);
});

const { policies: _, files: __, ...earlier } = best;
const { hsts: _h, headers: _e, securityTxt: _s, ...old } = postureOf(earlier);
const factors = old.factors.map(({ factor, finding, points, possible }) => ({ factor, finding, points, possible }));
const dkim = { status: old.dkim.status, selectors: [] };
const stored: StoredPosture = { ...old, dkim, factors, scoreVersion: '1' };

it('a posture stored by an earlier version is restored completely, with its own score', () => {
  const posture = restorePosture(throughText(stored));
  assert.deepEqual([posture.score, posture.scoreVersion], [old.score, '1']);
  assert.deepEqual([posture.hsts.status, posture.dkim.keys, posture.spf.record], ['unmeasured', [], old.spf.record]);
  assert.deepEqual(Object.keys(posture).sort(), Object.keys(postureOf(best)).sort());
  for (const factor of posture.factors) assert.equal(explainFactor(posture, factor).advice, null);
});

const explained = (txt: string, spf: Record<string, string[]> = {}) => {
  const posture = postureOf({ ...best, txt: [txt], policies: { spf } });
  return explainFactor(posture, posture.factors[0] as PostureFactor);
};
const isBy = (id: string, evidence: string, ...given: Parameters<typeof explained>) =>
  assert.partialDeepStrictEqual(explained(...given), { id, evidence });
it('the explanation of a factor is the record, and nothing to do, where it passes', () =>
  assert.deepEqual(explained('v=spf1 mx -all'), { id: 'spf.pass', evidence: 'v=spf1 mx -all', advice: null }));
it('the explanation of a factor names the record of a mistake in another record', () => {
  const spf = { '_spf.a.test': ['v=spf1 nonsense'] };
  const { advice, ...rest } = explained('v=spf1 include:_spf.a.test -all', spf);
  assert.deepEqual(rest, { id: 'spf.syntax', evidence: 'syntax in _spf.a.test: nonsense' });
  assert.match(advice ?? '', /^Correct the term/);
});
it('the explanation of a factor depends on the most severe issue, not on other remarks', () => {
  isBy('spf.pass', 'v=spf1 x=1 mx -all', 'v=spf1 x=1 mx -all');
  const dead = 'include-without-policy in example.com: include:a.test';
  const empty = { 'a.test': [], 'b.test': [] };
  isBy('spf.dead-include', dead, 'v=spf1 x=1 include:a.test include:b.test -all', empty);
  isBy('spf.open', 'v=spf1 ip4:10.0.0.0/12 +all', 'v=spf1 ip4:10.0.0.0/12 +all');
  isBy('spf.unreadable', 'unreadable-record in example.com: v=spf1; mx -all', 'v=spf1; mx -all');
});
it('the explanation of a factor has a sentence for each issue, and nothing for what was not measured', () => {
  for (const parts of [best, {}, failing, withoutMail]) {
    const posture = postureOf(parts);
    for (const factor of posture.factors) {
      const { id, evidence, advice } = explainFactor(posture, factor);
      assert.equal(advice === null, factor.issues.length === 0, id);
      assert.ok(id.startsWith(`${factor.factor}.`));
      if (factor.finding === 'unmeasured') assert.equal(evidence, null);
    }
  }
});

const flagsOf = (parts: EvidenceParts) => [...postureFlags(postureOf(parts))];
const unmeasured: EvidenceParts = Object.fromEntries(
  ['txt', 'dmarc', 'mtaSts', 'tlsRpt', 'ds', 'caa', 'bimi'].map((name) => [name, 'timeout']),
);
const MEASURED = POSTURE_FLAGS.filter((flag) => flag.endsWith('_measured') && flag !== 'tls_measured');
const full: EvidenceParts = { ...best, bimi: ['v=BIMI1; l=https://example.com/logo.svg'] };

it('the flags of a posture are set for each standard that is there, and for what was measured', () => {
  assert.deepEqual([flagsOf(unmeasured), flagsOf({})], [[], MEASURED]);
  const mail = 'spf_valid spf_fail dmarc_valid dmarc_reject dmarc_effective_reject dmarc_reporting mta_sts tls_rpt';
  const more = `${mail} dnssec caa bimi tls_measured tls_trusted`.split(' ');
  assert.deepEqual(new Set<string>(flagsOf(full)), new Set([...MEASURED, ...more]));
});

function say(parts: EvidenceParts, flags: PostureFlag[], not: PostureFlag[]): void {
  const found = new Set(flagsOf(parts));
  assert.deepEqual([new Set(flags).difference(found), found.intersection(new Set(not))], [new Set(), new Set()]);
}
rowsOf('flags', say);
it('the flags of a posture have one bit each, in positions that stored integers depend on', () => {
  for (const parts of [unmeasured, {}, full]) {
    const bits = packPosture(postureOf(parts));
    const set = POSTURE_FLAGS.filter((flag) => (bits & postureBit(flag)) !== 0);
    assert.deepEqual([new Set(set), bits >= 0], [new Set(flagsOf(parts)), true]);
  }
  assert.deepEqual((['spf_measured', 'dmarc_measured', 'tls_expired'] as const).map(postureBit), [1, 1 << 7, 1 << 28]);
});

const bases = { full, unmeasured, nothing: {} };
type Changed = readonly [base: keyof typeof bases, changes?: EvidenceParts];
const changed = ([base, changes]: Changed) => postureOf({ ...bases[base], ...changes });
describe('what got worse, where', () =>
  rowsOf('what got worse', (before: Changed, after: Changed, found: Regression[]) =>
    assert.deepEqual(regressionsOf(changed(before), changed(after)), found),
  ));
it('what got worse is nothing where the same record is read otherwise than by an earlier version', () => {
  const records = ['p=quarantine; sp=', 'p=quarantine; sp=bogus; rua=mailto:d@example.com', 'p=reject; np=x'];
  for (const record of records) {
    const policy = record.startsWith('p=reject') ? ('reject' as const) : ('quarantine' as const);
    const now = postureOf({ ...full, dmarc: [`v=DMARC1; ${record}`] });
    const { foundAt: _, ...dmarc } = { ...now.dmarc, policy, effectivePolicy: policy };
    const earlier = restorePosture({ ...shortenPosture(now), dmarc, scoreVersion: '1' });
    assert.deepEqual(regressionsOf(earlier, now), []);
    assert.notDeepEqual(regressionsOf(earlier, postureOf({ ...full, dmarc: [] })), []);
  }
});
