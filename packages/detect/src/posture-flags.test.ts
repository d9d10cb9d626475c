import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  POSTURE_FLAGS,
  type PostureFlag,
  packPosture,
  postureBit,
  postureFlags,
  type Regression,
  regressionsOf,
} from './posture-flags.ts';
import { restorePosture, shortenPosture } from './stored-posture.ts';
import { best as bestPosture, postureOf } from './test/best-posture.ts';
import type { EvidenceParts } from './test/evidence-of.ts';
import { rows } from './test/rows.ts';

const flagsOf = (parts: EvidenceParts) => [...postureFlags(postureOf(parts))];
const unmeasured: EvidenceParts = Object.fromEntries(
  ['txt', 'dmarc', 'mtaSts', 'tlsRpt', 'ds', 'caa', 'bimi'].map((name) => [name, 'timeout']),
);
const MEASURED = POSTURE_FLAGS.filter((flag) => flag.endsWith('_measured') && flag !== 'tls_measured');
const best: EvidenceParts = { ...bestPosture, bimi: ['v=BIMI1; l=https://example.com/logo.svg'] };
const EXPIRED = { isTrusted: false, problem: 'CERT_HAS_EXPIRED' };
const SELF_SIGNED = { isTrusted: false, problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
const BOGUS = { ...best, policies: { validation: 'bogus' } } as const;
const REJECT = 'v=DMARC1; p=reject; rua=mailto:d@example.com';

describe('the flags of a posture', () => {
  it('are all unset where nothing could be measured', () => assert.deepEqual(flagsOf(unmeasured), []));
  it('say what was looked at where nothing was found', () => assert.deepEqual(flagsOf({}), MEASURED));
  it('are set for each standard that is there', () => {
    const mail = 'spf_valid spf_fail dmarc_valid dmarc_reject dmarc_effective_reject dmarc_reporting mta_sts tls_rpt';
    const more = `${mail} dnssec caa bimi tls_measured tls_trusted`.split(' ');
    assert.deepEqual(new Set<string>(flagsOf(best)), new Set([...MEASURED, ...more]));
  });

  function say(parts: EvidenceParts, flags: PostureFlag[], not: PostureFlag[]): void {
    const found = new Set(flagsOf(parts));
    assert.deepEqual([new Set(flags).difference(found), found.intersection(new Set(not))], [new Set(), new Set()]);
  }
  const unread: EvidenceParts = { txt: ['v=spf1 include:a.test -all'], policies: { spf: { 'a.test': 'timeout' } } };
  const testing: EvidenceParts = { dmarc: ['v=DMARC1; p=reject; t=y'] };
  rows(say, [
    ['say ~all', { txt: ['v=spf1 ~all'] }, ['spf_valid', 'spf_softfail'], ['spf_fail']],
    ['say ?all', { txt: ['v=spf1 ?all'] }, ['spf_neutral'], ['spf_pass']],
    ['say +all', { txt: ['v=spf1 +all'] }, ['spf_pass'], ['spf_fail']],
    ['leave open what an unread include decides', unread, [], ['spf_measured', 'spf_valid', 'spf_fail']],
    ['say two records', { txt: ['v=spf1 -all', 'v=spf1 ~all'] }, ['spf_permerror'], ['spf_valid', 'spf_fail']],
    ['say the policy in testing', testing, ['dmarc_reject', 'dmarc_effective_quarantine'], ['dmarc_effective_reject']],
    ['say no reports', testing, [], ['dmarc_reporting']],
    ['say an expired certificate', { tls: EXPIRED }, ['tls_measured', 'tls_expired'], ['tls_trusted']],
  ]);
  it('have one bit each, in places that stored integers rely on', () => {
    for (const parts of [unmeasured, {}, best]) {
      const bits = packPosture(postureOf(parts));
      const set = POSTURE_FLAGS.filter((flag) => (bits & postureBit(flag)) !== 0);
      assert.deepEqual(new Set(set), new Set(flagsOf(parts)));
      assert.ok(bits >= 0);
    }
    const stored = (['spf_measured', 'dmarc_measured', 'tls_expired'] as const).map(postureBit);
    assert.deepEqual(stored, [1, 1 << 7, 1 << 28]);
  });
});

describe('what got worse, where', () => {
  const all: Regression[] = ['dmarc_removed', 'spf_removed', 'dnssec_broken', 'certificate_expired'];
  const worse = (before: EvidenceParts, after: EvidenceParts, found: Regression[]) =>
    assert.deepEqual(regressionsOf(postureOf(before), postureOf(after)), found);
  rows(worse, [
    ['nothing', best, best, []],
    ['DMARC is gone', best, { ...best, dmarc: [] }, ['dmarc_removed']],
    ['DMARC is weaker', best, { ...best, dmarc: ['v=DMARC1; p=none'] }, ['dmarc_weakened']],
    ['DMARC is only being tested', best, { ...best, dmarc: ['v=DMARC1; p=reject; t=y'] }, ['dmarc_weakened']],
    ['DMARC is stronger', { ...best, dmarc: ['v=DMARC1; p=none'] }, best, []],
    ['SPF is gone', best, { ...best, txt: ['hello'] }, ['spf_removed']],
    ['SPF is softer, which many are on purpose', best, { ...best, txt: ['v=spf1 ~all'] }, []],
    ['DNSSEC is gone', best, { ...best, ds: [] }, ['dnssec_broken']],
    ['signatures do not hold', best, BOGUS, ['dnssec_broken']],
    ['signatures held no better before', BOGUS, { ...best, ds: [] }, []],
    ['the certificate has expired', best, { ...best, tls: EXPIRED }, ['certificate_expired']],
    ['an untrusted certificate has expired', { ...best, tls: SELF_SIGNED }, { ...best, tls: EXPIRED }, []],
    ['nothing could be measured', best, { ...unmeasured, tls: { status: 'timeout', isTrusted: null } }, []],
    ['nothing could be measured before', unmeasured, {}, []],
    ['only a wildcard is read anew', { ...best, wildcardTxt: 'timeout' }, { ...best, wildcardTxt: [REJECT] }, []],
    ['everything is gone', best, { tls: EXPIRED }, all],
  ]);
  it('is nothing where the same record is read otherwise than by an earlier version', () => {
    for (const [record, policy] of [
      ['v=DMARC1; p=quarantine; sp=', 'quarantine'],
      ['v=DMARC1; p=quarantine; sp=bogus; rua=mailto:d@example.com', 'quarantine'],
      ['v=DMARC1; p=reject; np=x', 'reject'],
    ] as const) {
      const now = postureOf({ ...best, dmarc: [record] });
      const { foundAt: _, ...dmarc } = { ...now.dmarc, policy, effectivePolicy: policy };
      const earlier = restorePosture({ ...shortenPosture(now), dmarc, scoreVersion: '1' });
      assert.deepEqual(regressionsOf(earlier, now), []);
      assert.notDeepEqual(regressionsOf(earlier, postureOf({ ...best, dmarc: [] })), []);
    }
  });
});
