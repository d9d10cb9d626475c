// Scores and severities of CVSS vectors: https://www.first.org/cvss/specification-document.
import library from 'ae-cvss-calculator';
import type { Cvss, Severity } from './advisory.ts';

type CvssVersion = Cvss['version'];

/** Longer than any vector with every metric of its version. */
const MAX_VECTOR = 512;
const METRICS = /^[A-Z][A-Za-z]{0,2}:[A-Za-z]{1,6}(?:\/[A-Z][A-Za-z]{0,2}:[A-Za-z]{1,6}){0,63}$/;

/** The library logs unknown metric names to the console, so they are checked first. */
const known: Readonly<Record<CvssVersion, { findComponent(name: string): unknown }>> = {
  '2.0': new library.Cvss2(),
  '3.0': new library.Cvss3P0(),
  '3.1': new library.Cvss3P1(),
  '4.0': new library.Cvss4P0(),
};

/** A vector's version and its metrics in normal form; undefined if it is invalid. */
export function readVector(text: string): { readonly version: CvssVersion; readonly vector: string } | undefined {
  if (text.length > MAX_VECTOR) return undefined;
  const vector = text
    .trim()
    .replace(/^\((.*)\)$/, '$1')
    .replace(/\/$/, '');
  const prefix = /^CVSS:(3\.0|3\.1|4\.0)\//.exec(vector);
  const version = (prefix?.[1] ?? '2.0') as CvssVersion;
  const metrics = vector.slice(prefix?.[0].length ?? 0);
  if (!METRICS.test(metrics)) return undefined;
  const names = metrics.split('/').map((metric) => metric.slice(0, metric.indexOf(':')));
  const areOf = new Set(names).size === names.length && names.every((name) => known[version].findComponent(name));
  return areOf ? { version, vector } : undefined;
}

/**
 * The score of a vector: of the base metrics, for version 4 with its other metrics; undefined if it cannot be computed.
 */
export function scoreOf(text: string): number | undefined {
  const read = readVector(text);
  if (read === undefined) return undefined;
  try {
    const score = calculated(read.version, read.vector);
    return score !== undefined && score >= 0 && score <= 10 ? score : undefined;
  } catch {
    // A value that the metric does not have.
    return undefined;
  }
}

/** The scoring as published; if the publisher gives only a vector, its score is calculated. */
export function cvssOf(scoring: { vector: string; score?: number | undefined; by: string }): Cvss | undefined {
  const read = readVector(scoring.vector);
  const score = scoring.score ?? scoreOf(scoring.vector);
  return read === undefined || score === undefined ? undefined : { ...read, score, by: scoring.by };
}

/** FIRST's bands; a score of 0.0 has no severity. */
export function severityOf(score: number): Severity | null {
  if (!(score >= 0.1)) return null;
  if (score < 4) return 'low';
  if (score < 7) return 'medium';
  return score < 9 ? 'high' : 'critical';
}

function calculated(version: CvssVersion, vector: string): number | undefined {
  switch (version) {
    case '2.0':
      return baseOf(new library.Cvss2(vector));
    case '3.0':
      return baseOf(new library.Cvss3P0(vector));
    case '3.1':
      return baseOf(new library.Cvss3P1(vector));
    case '4.0': {
      const cvss = new library.Cvss4P0(vector);
      return cvss.isBaseFullyDefined() ? cvss.calculateScores().overall : undefined;
    }
    default:
      return version satisfies never;
  }
}

function baseOf(cvss: { isBaseFullyDefined(): boolean; calculateScores(): { base: number | undefined } }) {
  return cvss.isBaseFullyDefined() ? cvss.calculateScores().base : undefined;
}
