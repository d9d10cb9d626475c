// The security posture of a population: adoption of each standard, by sector, and the grades.
import { gradeOf, POSTURE_FLAGS, type PostureFlag, SECTORS } from '@strata/detect';
import { SCORES, stateNumber } from '../columns/terms.ts';
import { intersection } from '../sets/set-operations.ts';
import { type Population, sizeIn } from './population.ts';

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

export function scorecard(population: Population): Scorecard {
  const bySector = SECTORS.map((sector, number) => ({ sector, number }))
    .filter(({ number }) => population.tallies.domains(live(), number) > 0)
    .map(({ sector, number }) => ({
      sector,
      domains: population.tallies.domains(live(), number),
      adoption: adoptionOf(population, number),
      meanScore: scoresOf(population, number).mean,
    }));
  const { grades, scored, mean } = scoresOf(population);
  return {
    domains: population.tallies.domains(live()),
    adoption: adoptionOf(population),
    both: both(population),
    bySector,
    grades,
    scored,
    meanScore: mean,
  };
}

function adoptionOf(population: Population, sector?: number): Record<CountedStandard, Adoption> {
  const count = (flag: PostureFlag) => population.tallies.flag(flagNumber(flag), live(), sector);
  return Object.fromEntries(
    Object.entries(MEASURED_BY).map(([name, [flag, denominator]]) => [name, adoption(count(flag), count(denominator))]),
  ) as Record<CountedStandard, Adoption>;
}

function both(population: Population): Adoption {
  const within = (flags: readonly PostureFlag[]) => {
    const [first, ...rest] = flags.map((flag) => population.sets.flag(flagNumber(flag)));
    const set = rest.reduce((all, other) => all && intersection(all, other), first);
    const inState = (state: number) => (set ? sizeIn(population, intersection(set, population.sets.state(state))) : 0);
    return live().reduce((sum, state) => sum + inState(state), 0);
  };
  return adoption(within(['spf_valid', 'dmarc_valid']), within(['spf_measured', 'dmarc_measured']));
}

function scoresOf(population: Population, sector?: number) {
  const byGrade = new Map<string, number>(['A+', 'A', 'B', 'C', 'D', 'F'].map((grade) => [grade, 0]));
  let scored = 0;
  let sum = 0;
  for (let score = 0; score < SCORES - 1; score += 1) {
    const domains = population.tallies.score(score, live(), sector);
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
