// Postures of a loaded world as the bits and the score that a store keeps: everything measured, adoption about as seen
// on the internet. The places are those of detection's flags; whoever loads them can hold them against a real posture.
import type { Random } from '../random.ts';

/** Place of each flag. */
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
/** From a published DMARC policy to the same as effective policy. */
const EFFECTIVE = 3;

const POLICIES = [
  { weight: 5, place: FLAG.dmarcNone },
  { weight: 2, place: FLAG.dmarcQuarantine },
  { weight: 3, place: FLAG.dmarcReject },
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
  const set = (...places: readonly number[]) => {
    for (const place of places) bits |= 1 << place;
  };
  set(FLAG.spfMeasured, FLAG.dmarcMeasured, FLAG.mtaStsMeasured, FLAG.tlsRptMeasured);
  set(FLAG.dnssecMeasured, FLAG.caaMeasured, FLAG.bimiMeasured, FLAG.tlsMeasured);
  if (random.chance(0.75)) set(FLAG.spfValid, random.chance(0.4) ? FLAG.spfFail : FLAG.spfSoftfail);
  if (random.chance(0.5)) {
    const policy = random.weighted(POLICIES).place;
    set(FLAG.dmarcValid, policy, policy + EFFECTIVE);
    if (random.chance(0.7)) set(FLAG.dmarcReporting);
  }
  for (const [place, share] of SHARES) {
    if (random.chance(share)) set(place);
  }
  return bits;
}

const has = (bits: number, place: number): boolean => ((bits >>> place) & 1) === 1;

/** Points of each flag of those that are made here, and all that could be had; docs/posture.md has the formula. */
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
const POSSIBLE = 110;

/** 0–100. */
export function scoreOf(bits: number): number {
  const points = POINTS.reduce((sum, [place, each]) => sum + (has(bits, place) ? each : 0), 0);
  return Math.round((100 * points) / POSSIBLE);
}
