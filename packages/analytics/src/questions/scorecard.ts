// The security posture of a population: adoption of each standard, by sector, and the grades.
import { gradeOf, POSTURE_FLAGS, type PostureFlag, SECTORS } from '@strata/detect';
import { SCORES, stateNumber } from '../columns/terms.ts';
import type { Population } from './population.ts';

/** A count and its base: domains in which it could be measured. */
export interface Adoption {
  readonly domains: number;
  readonly measured: number;
  /** 0–1; null when nothing was measured. */
  readonly share: number | null;
}

interface SectorCard {
  readonly sector: string;
  readonly domains: number;
  readonly adoption: Readonly<Record<string, Adoption>>;
  readonly meanScore: number | null;
}

export interface Scorecard {
  /** Domains that exist: active and parked. */
  readonly domains: number;
  readonly adoption: Readonly<Record<string, Adoption>>;
  /** Published and valid SPF together with a valid DMARC policy. */
  readonly both: Adoption;
  readonly bySector: readonly SectorCard[];
  readonly grades: readonly { readonly grade: string; readonly domains: number }[];
  readonly scored: number;
  readonly meanScore: number | null;
}

/** The counted flags, each with the flag of the domains in which it was measured. */
const MEASURED_BY = {
  spf: ['spf_valid', 'spf_measured'],
  spf_fail: ['spf_fail', 'spf_measured'],
  spf_softfail: ['spf_softfail', 'spf_measured'],
  spf_neutral: ['spf_neutral', 'spf_measured'],
  spf_pass: ['spf_pass', 'spf_measured'],
  spf_permerror: ['spf_permerror', 'spf_measured'],
  dmarc: ['dmarc_valid', 'dmarc_measured'],
  dmarc_none: ['dmarc_none', 'dmarc_measured'],
  dmarc_quarantine: ['dmarc_quarantine', 'dmarc_measured'],
  dmarc_reject: ['dmarc_reject', 'dmarc_measured'],
  dmarc_effective_none: ['dmarc_effective_none', 'dmarc_measured'],
  dmarc_effective_quarantine: ['dmarc_effective_quarantine', 'dmarc_measured'],
  dmarc_effective_reject: ['dmarc_effective_reject', 'dmarc_measured'],
  dmarc_reporting: ['dmarc_reporting', 'dmarc_measured'],
  mta_sts: ['mta_sts', 'mta_sts_measured'],
  tls_rpt: ['tls_rpt', 'tls_rpt_measured'],
  dnssec: ['dnssec', 'dnssec_measured'],
  caa: ['caa', 'caa_measured'],
  bimi: ['bimi', 'bimi_measured'],
  tls_trusted: ['tls_trusted', 'tls_measured'],
} as const satisfies Record<string, readonly [PostureFlag, PostureFlag]>;
export type CountedStandard = keyof typeof MEASURED_BY;
export const COUNTED_STANDARDS = Object.keys(MEASURED_BY) as readonly CountedStandard[];

const flagNumber = (flag: PostureFlag): number => POSTURE_FLAGS.indexOf(flag);
const live = () => [stateNumber('active'), stateNumber('parked')];

/** What a scorecard is computed from: numbers of domains that exist, of one sector or of all. */
export interface ScoreCounts {
  domains(sector?: number): number;
  flag(flag: PostureFlag, sector?: number): number;
  score(score: number, sector?: number): number;
  /** Domains with valid SPF and DMARC, and those in which both were measured. */
  readonly both: { readonly domains: number; readonly measured: number };
}

export function scorecard({ tallies }: Population): Scorecard {
  return scorecardOf({
    domains: (sector) => tallies.domains(live(), sector),
    flag: (flag, sector) => tallies.flag(flagNumber(flag), live(), sector),
    score: (score, sector) => tallies.score(score, live(), sector),
    both: { domains: tallies.both('valid', live()), measured: tallies.both('measured', live()) },
  });
}

/** The adoption and the grades of counts. */
export function scorecardOf(counts: ScoreCounts): Scorecard {
  const bySector = SECTORS.map((sector, number) => ({ sector, number }))
    .filter(({ number }) => counts.domains(number) > 0)
    .map(({ sector, number }) => ({
      sector,
      domains: counts.domains(number),
      adoption: adoptionOf(counts, number),
      meanScore: scoresOf(counts, number).mean,
    }));
  const { grades, scored, mean } = scoresOf(counts);
  return {
    domains: counts.domains(),
    adoption: adoptionOf(counts),
    both: adoption(counts.both.domains, counts.both.measured),
    bySector,
    grades,
    scored,
    meanScore: mean,
  };
}

function adoptionOf(counts: ScoreCounts, sector?: number): Record<CountedStandard, Adoption> {
  return Object.fromEntries(
    Object.entries(MEASURED_BY).map(([name, [flag, denominator]]) => [
      name,
      adoption(counts.flag(flag, sector), counts.flag(denominator, sector)),
    ]),
  ) as Record<CountedStandard, Adoption>;
}

function scoresOf(counts: ScoreCounts, sector?: number) {
  const byGrade = new Map<string, number>(['A+', 'A', 'B', 'C', 'D', 'F'].map((grade) => [grade, 0]));
  let scored = 0;
  let sum = 0;
  for (let score = 0; score < SCORES - 1; score += 1) {
    const domains = counts.score(score, sector);
    scored += domains;
    sum += domains * score;
    byGrade.set(gradeOf(score), (byGrade.get(gradeOf(score)) ?? 0) + domains);
  }
  return {
    scored,
    mean: scored === 0 ? null : sum / scored,
    grades: [...byGrade].map(([grade, domains]) => ({ grade, domains })),
  };
}

function adoption(domains: number, measured: number): Adoption {
  return { domains, measured, share: measured === 0 ? null : domains / measured };
}
