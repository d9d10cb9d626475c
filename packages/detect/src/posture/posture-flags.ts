// The posture as flags, one bit each, by which sets of domains are counted and filtered.
import type { Posture } from '../profile.ts';

/**
 * Append only: a flag's index is its bit in stored integers. `…_measured` is the denominator of the flags after it: a
 * failed look-up leaves all of them unset.
 */
export const POSTURE_FLAGS = [
  'spf_measured',
  'spf_valid',
  'spf_permerror',
  'spf_fail',
  'spf_softfail',
  'spf_neutral',
  'spf_pass',
  'dmarc_measured',
  'dmarc_valid',
  'dmarc_none',
  'dmarc_quarantine',
  'dmarc_reject',
  'dmarc_effective_none',
  'dmarc_effective_quarantine',
  'dmarc_effective_reject',
  'dmarc_reporting',
  'mta_sts_measured',
  'mta_sts',
  'tls_rpt_measured',
  'tls_rpt',
  'dnssec_measured',
  'dnssec',
  'caa_measured',
  'caa',
  'bimi_measured',
  'bimi',
  'tls_measured',
  'tls_trusted',
  'tls_expired',
] as const;
export type PostureFlag = (typeof POSTURE_FLAGS)[number];

const ALL_QUALIFIER = {
  '-all': 'spf_fail',
  '~all': 'spf_softfail',
  '?all': 'spf_neutral',
  '+all': 'spf_pass',
} as const;

export function postureFlags(posture: Posture): ReadonlySet<PostureFlag> {
  const { spf, dmarc, mtaSts, tlsRpt, dnssec, caa, bimi, tls } = posture;
  const flags = new Set<PostureFlag>();
  const set = (flag: PostureFlag, isSet: boolean | null) => {
    if (isSet) flags.add(flag);
  };
  // If a referenced record was not available, the policy may be void or valid.
  const isSpfValid = spf.result === 'valid' && spf.evaluation !== 'unknown';
  set('spf_measured', isSpfValid || spf.result === 'none' || spf.result === 'permerror');
  set('spf_valid', isSpfValid);
  set('spf_permerror', spf.result === 'permerror');
  if (isSpfValid && spf.all) flags.add(ALL_QUALIFIER[spf.all]);
  set('dmarc_measured', dmarc.status !== 'unmeasured');
  set('dmarc_valid', dmarc.policy !== null);
  if (dmarc.policy) flags.add(`dmarc_${dmarc.policy}`);
  if (dmarc.effectivePolicy) flags.add(`dmarc_effective_${dmarc.effectivePolicy}`);
  set('dmarc_reporting', dmarc.policy !== null && dmarc.hasReporting);
  set('mta_sts_measured', mtaSts.hasRecord !== null);
  set('mta_sts', mtaSts.hasRecord);
  set('tls_rpt_measured', tlsRpt.hasRecord !== null);
  set('tls_rpt', tlsRpt.hasRecord);
  set('dnssec_measured', dnssec.isSigned !== null);
  set('dnssec', dnssec.isSigned);
  set('caa_measured', caa.status !== 'unmeasured');
  set('caa', caa.status === 'observed');
  set('bimi_measured', bimi.hasRecord !== null);
  set('bimi', bimi.hasRecord);
  set('tls_measured', tls.status === 'observed' && tls.isTrusted !== null);
  set('tls_trusted', tls.isTrusted);
  set('tls_expired', tls.problem === 'CERT_HAS_EXPIRED');
  return flags;
}

export function packPosture(posture: Posture): number {
  const flags = postureFlags(posture);
  return POSTURE_FLAGS.reduce((bits, flag, i) => (flags.has(flag) ? bits | (1 << i) : bits), 0);
}

/** The bit of a flag in the result of `packPosture`. */
export function postureBit(flag: PostureFlag): number {
  return 1 << POSTURE_FLAGS.indexOf(flag);
}

/** Properties that got worse between two scans that both measured them. */
export const REGRESSIONS = [
  'dmarc_removed',
  'dmarc_weakened',
  'spf_removed',
  'dnssec_broken',
  'certificate_expired',
] as const;
export type Regression = (typeof REGRESSIONS)[number];

const STRENGTH = { none: 0, quarantine: 1, reject: 2 } as const;

/**
 * Regressions from one posture to the next, each only if both scans measured it. An unchanged DMARC record is not a
 * regression, even if a later version interprets it as another policy.
 */
export function regressionsOf(before: Posture, after: Posture): Regression[] {
  const found: Regression[] = [];
  const dmarc = [before.dmarc.effectivePolicy, after.dmarc.effectivePolicy] as const;
  if (after.dmarc.status !== 'unmeasured' && before.dmarc.policy !== null && !isSameRecord(before.dmarc, after.dmarc)) {
    if (after.dmarc.policy === null) found.push('dmarc_removed');
    else if (dmarc[0] && dmarc[1] && STRENGTH[dmarc[1]] < STRENGTH[dmarc[0]]) found.push('dmarc_weakened');
  }
  if (before.spf.result === 'valid' && after.spf.result === 'none') found.push('spf_removed');
  if (isSound(before) && (after.dnssec.isSigned === false || after.dnssec.validation === 'bogus'))
    found.push('dnssec_broken');
  if (before.tls.isTrusted === true && after.tls.problem === 'CERT_HAS_EXPIRED') found.push('certificate_expired');
  return found;
}

/** Earlier versions did not store the name of the record. */
function isSameRecord(before: Posture['dmarc'], after: Posture['dmarc']): boolean {
  if (before.record === null || before.record !== after.record) return false;
  return before.foundAt === null || before.foundAt === after.foundAt;
}

function isSound({ dnssec }: Posture): boolean {
  return dnssec.isSigned === true && dnssec.validation !== 'bogus';
}
