// Postures of a loaded world as the stored bits and score: all flags measured, with adoption rates similar to the
// internet's. The bit positions are those of detection's flags; users of this module can compare them with a real
// posture.
import type { Random } from '../random.ts';

/** Bit position of each flag. */
const FLAG = {
  spfMeasured: 0,
  spfValid: 1,
  spfFail: 3,
  spfSoftfail: 4,
  dmarcMeasured: 7,
  dmarcValid: 8,
  dmarcNone: 9,
  dmarcQuarantine: 10,
  dmarcReject: 11,
  dmarcReporting: 15,
  mtaStsMeasured: 16,
  mtaSts: 17,
  tlsRptMeasured: 18,
  tlsRpt: 19,
  dnssecMeasured: 20,
  dnssec: 21,
  caaMeasured: 22,
  caa: 23,
  bimiMeasured: 24,
  bimi: 25,
  tlsMeasured: 26,
  tlsTrusted: 27,
} as const;
/** Offset from a published DMARC policy to the equal effective policy. */
const EFFECTIVE = 3;

const POLICIES = [
  { weight: 5, bit: FLAG.dmarcNone },
  { weight: 2, bit: FLAG.dmarcQuarantine },
  { weight: 3, bit: FLAG.dmarcReject },
];
const SHARES = [
  [FLAG.mtaSts, 0.01],
  [FLAG.tlsRpt, 0.02],
  [FLAG.dnssec, 0.08],
  [FLAG.caa, 0.1],
  [FLAG.bimi, 0.01],
  [FLAG.tlsTrusted, 0.9],
] as const;

export function makePosture(random: Random): number {
  let bits = 0;
  const set = (...positions: readonly number[]) => {
    for (const bit of positions) bits |= 1 << bit;
  };
  set(FLAG.spfMeasured, FLAG.dmarcMeasured, FLAG.mtaStsMeasured, FLAG.tlsRptMeasured);
  set(FLAG.dnssecMeasured, FLAG.caaMeasured, FLAG.bimiMeasured, FLAG.tlsMeasured);
  if (random.chance(0.75)) set(FLAG.spfValid, random.chance(0.4) ? FLAG.spfFail : FLAG.spfSoftfail);
  if (random.chance(0.5)) {
    const policy = random.weighted(POLICIES).bit;
    set(FLAG.dmarcValid, policy, policy + EFFECTIVE);
    if (random.chance(0.7)) set(FLAG.dmarcReporting);
  }
  for (const [bit, share] of SHARES) {
    if (random.chance(share)) set(bit);
  }
  return bits;
}

const has = (bits: number, bit: number): boolean => ((bits >>> bit) & 1) === 1;

/** Points of each flag generated here, and the maximum; docs/posture.md has the formula. */
const POINTS = [
  [FLAG.spfFail, 25],
  [FLAG.spfSoftfail, 23],
  [FLAG.dmarcNone, 13],
  [FLAG.dmarcQuarantine, 33],
  [FLAG.dmarcReject, 40],
  [FLAG.dmarcReporting, 5],
  [FLAG.dnssec, 10],
  [FLAG.caa, 5],
  [FLAG.mtaSts, 5],
  [FLAG.tlsRpt, 5],
  [FLAG.tlsTrusted, 10],
] as const;
/** What `~all` costs is given back under an enforced DMARC policy. */
const SOFTFAIL_ENFORCED = 2;
const POSSIBLE = 110;

/** 0–100. */
export function scoreOf(bits: number): number {
  const isEnforced = has(bits, FLAG.dmarcQuarantine) || has(bits, FLAG.dmarcReject);
  const softfail = isEnforced && has(bits, FLAG.spfSoftfail) ? SOFTFAIL_ENFORCED : 0;
  const points = POINTS.reduce((sum, [bit, each]) => sum + (has(bits, bit) ? each : 0), softfail);
  return Math.round((100 * points) / POSSIBLE);
}
