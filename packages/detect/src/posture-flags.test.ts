import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assessPosture } from './posture.ts';
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
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';

const postureOf = (parts: EvidenceParts) => assessPosture(evidenceOf(parts));
const flagsOf = (parts: EvidenceParts) => [...postureFlags(postureOf(parts))];
const unmeasured: EvidenceParts = {
  txt: 'timeout',
  dmarc: 'timeout',
  mtaSts: 'timeout',
  tlsRpt: 'timeout',
  ds: 'timeout',
  caa: 'timeout',
  bimi: 'timeout',
};
const MEASURED = POSTURE_FLAGS.filter((flag) => flag.endsWith('_measured') && flag !== 'tls_measured');
const best: EvidenceParts = {
  txt: ['v=spf1 mx -all'],
  dmarc: ['v=DMARC1; p=reject; rua=mailto:d@example.com'],
  ds: [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'ab' }],
  caa: ['0 issue certy.test'],
  mtaSts: ['v=STSv1; id=20260101'],
  tlsRpt: ['v=TLSRPTv1; rua=mailto:t@example.com'],
  bimi: ['v=BIMI1; l=https://example.com/logo.svg'],
  tls: { issuer: 'Certy' },
};

describe('the flags of a posture', () => {
  it('are all unset where nothing could be measured', () => assert.deepEqual(flagsOf(unmeasured), []));

  it('say what was looked at where nothing was found', () => assert.deepEqual(flagsOf({}), MEASURED));

  it('are set for each standard that is there', () => {
    const more: PostureFlag[] = [
      ...['spf_valid', 'spf_fail', 'dmarc_valid', 'dmarc_reject', 'dmarc_effective_reject', 'dmarc_reporting'],
      ...['mta_sts', 'tls_rpt', 'dnssec', 'caa', 'bimi', 'tls_measured', 'tls_trusted'],
    ] as PostureFlag[];
    assert.deepEqual(new Set(flagsOf(best)), new Set([...MEASURED, ...more]));
  });

  const table: [why: string, parts: EvidenceParts, flags: PostureFlag[], not: PostureFlag[]][] = [
    ['~all', { txt: ['v=spf1 ~all'] }, ['spf_valid', 'spf_softfail'], ['spf_fail']],
    ['?all', { txt: ['v=spf1 ?all'] }, ['spf_neutral'], ['spf_pass']],
    ['+all', { txt: ['v=spf1 +all'] }, ['spf_pass'], ['spf_fail']],
    [
      'that an include was not had',
      { txt: ['v=spf1 include:a.test -all'], policies: { spf: { 'a.test': 'timeout' } } },
      [],
      ['spf_measured', 'spf_valid', 'spf_fail'],
    ],
    ['two SPF records', { txt: ['v=spf1 -all', 'v=spf1 ~all'] }, ['spf_permerror'], ['spf_valid', 'spf_fail']],
    [
      'a policy in testing',
      { dmarc: ['v=DMARC1; p=reject; t=y'] },
      ['dmarc_reject', 'dmarc_effective_quarantine'],
      ['dmarc_effective_reject', 'dmarc_reporting'],
    ],
    [
      'an expired certificate',
      { tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } },
      ['tls_measured', 'tls_expired'],
      ['tls_trusted'],
    ],
  ];
  for (const [why, parts, flags, not] of table) {
    it(`tell ${why}`, () => {
      const found = new Set(flagsOf(parts));
      for (const flag of flags) assert.ok(found.has(flag), flag);
      for (const flag of not) assert.ok(!found.has(flag), flag);
    });
  }

  it('have one bit each, in places that stored integers rely on', () => {
    for (const parts of [unmeasured, {}, best]) {
      const bits = packPosture(postureOf(parts));
      const set = POSTURE_FLAGS.filter((flag) => (bits & postureBit(flag)) !== 0);
      assert.deepEqual(new Set(set), new Set(flagsOf(parts)));
      assert.ok(bits >= 0);
    }
    assert.equal(postureBit('spf_measured'), 1);
    assert.equal(postureBit('dmarc_measured'), 1 << 7);
    assert.equal(postureBit('tls_expired'), 1 << 28);
  });
});

describe('what got worse', () => {
  const table: [why: string, before: EvidenceParts, after: EvidenceParts, found: Regression[]][] = [
    ['nothing', best, best, []],
    ['DMARC is gone', best, { ...best, dmarc: [] }, ['dmarc_removed']],
    ['DMARC is weaker', best, { ...best, dmarc: ['v=DMARC1; p=none'] }, ['dmarc_weakened']],
    ['DMARC is only being tested', best, { ...best, dmarc: ['v=DMARC1; p=reject; t=y'] }, ['dmarc_weakened']],
    ['DMARC is stronger', { ...best, dmarc: ['v=DMARC1; p=none'] }, best, []],
    ['SPF is gone', best, { ...best, txt: ['hello'] }, ['spf_removed']],
    ['SPF is softer, which many are on purpose', best, { ...best, txt: ['v=spf1 ~all'] }, []],
    ['DNSSEC is gone', best, { ...best, ds: [] }, ['dnssec_broken']],
    ['signatures do not hold', best, { ...best, policies: { validation: 'bogus' } }, ['dnssec_broken']],
    ['signatures held no better before', { ...best, policies: { validation: 'bogus' } }, { ...best, ds: [] }, []],
    [
      'the certificate has expired',
      best,
      { ...best, tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } },
      ['certificate_expired'],
    ],
    [
      'a certificate that never was trusted has expired',
      { ...best, tls: { isTrusted: false, problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' } },
      { ...best, tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } },
      [],
    ],
    ['nothing could be measured', best, { ...unmeasured, tls: { status: 'timeout', isTrusted: null } }, []],
    ['nothing could be measured before', unmeasured, {}, []],
    [
      'a wildcard has the DMARC record, and was not always had itself',
      { ...best, wildcardTxt: 'timeout' },
      { ...best, wildcardTxt: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
      [],
    ],
    [
      'everything',
      best,
      { tls: { isTrusted: false, problem: 'CERT_HAS_EXPIRED' } },
      ['dmarc_removed', 'spf_removed', 'dnssec_broken', 'certificate_expired'],
    ],
  ];
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

  for (const [why, before, after, found] of table) {
    it(`is told when ${why}`, () => assert.deepEqual(regressionsOf(postureOf(before), postureOf(after)), found));
  }
});
