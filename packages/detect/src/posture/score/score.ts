// The posture's score and grade from its factors; docs/posture.md has the formula under the version below.

import type { FactorName, Finding, Posture, PostureFactor } from '../posture-type.ts';
import { ISSUES, type IssueId } from './issues.ts';

/** Changes whenever the same posture would get a different score. */
export const SCORE_VERSION = '2';

/** Below this share of measurable points a score would be a guess. */
const MIN_COVERAGE = 0.6;
/** At least half of all points: if either is unmeasured, a bad domain could score like a good one. */
const NEEDED: ReadonlySet<FactorName> = new Set(['spf', 'dmarc']);

const GRADES = [
  [95, 'A+'],
  [85, 'A'],
  [70, 'B'],
  [50, 'C'],
  [30, 'D'],
  [0, 'F'],
] as const;

type Score = Pick<Posture, 'factors' | 'score' | 'grade' | 'coverage' | 'scoreVersion'>;

/** The input of the factors. */
export type PostureParts = Omit<Posture, keyof Score>;

const NONE: readonly IssueId[] = Object.freeze([]);

type Grade = (typeof GRADES)[number][1];

/** Grade of a score from 0 to 100. */
export function gradeOf(score: number): Grade {
  return GRADES.find(([from]) => score >= from)?.[1] ?? 'F';
}

/**
 * Points as a percentage of the possible points of measured factors; null without SPF and DMARC, or below 60 %
 * coverage.
 */
export function scoreOf(factors: readonly PostureFactor[]): Score {
  const total = sum(factors, ({ weight }) => weight);
  const measured = factors.filter(({ finding }) => finding !== 'unmeasured');
  const possible = sum(measured, (factor) => factor.possible);
  const coverage = total === 0 ? 0 : Math.round((possible / total) * 1000) / 1000;
  const isReliable =
    coverage >= MIN_COVERAGE && factors.every(({ factor, finding }) => finding !== 'unmeasured' || !NEEDED.has(factor));
  const score = isReliable ? Math.round((100 * sum(measured, ({ points }) => points)) / possible) : null;
  const grade = score === null ? null : gradeOf(score);
  return { factors, score, grade, coverage, scoreVersion: SCORE_VERSION };
}

/** A measured factor: its points minus the cost of its issues. A factor without weight is judged by its issues. */
export function judged(
  factor: FactorName,
  weight: number,
  issues: readonly IssueId[],
  possible: number = weight,
): PostureFactor {
  if (issues.length === 0) return { factor, finding: 'pass', points: possible, possible, weight, issues };
  let cost = 0;
  let last = Number.POSITIVE_INFINITY;
  let isByCost = true;
  for (const issue of issues) {
    const each = ISSUES[issue].cost;
    if (each > last) isByCost = false;
    last = each;
    cost += each;
  }
  const points = Math.max(0, possible - cost);
  const sorted = isByCost ? issues : issues.toSorted((a, b) => ISSUES[b].cost - ISSUES[a].cost);
  return { factor, finding: findingOf(points, possible), points, possible, weight, issues: sorted };
}

export function unmeasured(factor: FactorName, weight: number): PostureFactor {
  return { factor, finding: 'unmeasured', points: 0, possible: weight, weight, issues: NONE };
}

/** For a factor with issues. */
function findingOf(points: number, possible: number): Finding {
  if (possible === 0) return 'partial';
  return points === possible ? 'pass' : points === 0 ? 'fail' : 'partial';
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += numberOf(item);
  return total;
}
