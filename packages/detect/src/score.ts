// The posture's score and grade; the formula stands in docs/detection.md under the version below.
import type { Dmarc, DmarcPolicy } from './dmarc.ts';
import type { Finding, Posture, PostureFactor } from './profile.ts';
import type { Reading } from './reading.ts';

/** Changes whenever the same posture would get another score. */
export const SCORE_VERSION = '1';

/** Below this share of measurable points a score would be a guess. */
const MIN_COVERAGE = 0.6;

const GRADES = [
  [95, 'A+'],
  [85, 'A'],
  [70, 'B'],
  [50, 'C'],
  [30, 'D'],
  [0, 'F'],
] as const;

const DMARC_POINTS: Readonly<Record<DmarcPolicy, number>> = { reject: 35, quarantine: 28, none: 8 };
const POLICY_RANK: Readonly<Record<DmarcPolicy, number>> = { none: 0, quarantine: 1, reject: 2 };
const SPF_POINTS = { '-all': 20, '~all': 18, '?all': 5, '+all': 0 } as const;
/** RFC 8996 deprecates TLS 1.0 and 1.1. */
const CURRENT_TLS: ReadonlySet<string> = new Set(['TLSv1.2', 'TLSv1.3']);

type Parts = Pick<Posture, 'spf' | 'dmarc' | 'dnssec' | 'caa' | 'mtaSts' | 'tlsRpt' | 'tls'>;

type Grade = (typeof GRADES)[number][1];

/** Grade of a score from 0 to 100. */
export function gradeOf(score: number): Grade {
  return GRADES.find(([from]) => score >= from)?.[1] ?? 'F';
}

type Score = Pick<Posture, 'factors' | 'score' | 'grade' | 'coverage' | 'scoreVersion'>;

/** Points by factor. A domain that takes no mail (null MX) is judged on refusing to send any. */
export function scorePosture(parts: Parts, reading: Reading): Score {
  const dmarc = reading.dmarcPolicy;
  if (reading.existence !== 'exists')
    return { factors: [], score: null, grade: null, coverage: 0, scoreVersion: SCORE_VERSION };
  const factors = reading.hasNullMx
    ? [noMailSpf(parts), noMailDmarc(parts, dmarc), dnssec(parts), caa(parts), ...tls(parts, reading)]
    : [
        spf(parts, reading),
        dmarcFactor(parts, dmarc),
        dnssec(parts),
        caa(parts),
        mtaSts(parts),
        tlsRpt(parts),
        ...tls(parts, reading),
      ];
  const total = sum(factors, ({ possible }) => possible);
  const measured = factors.filter(({ finding }) => finding !== 'unmeasured');
  const possible = sum(measured, (factor) => factor.possible);
  const coverage = total === 0 ? 0 : Math.round((possible / total) * 1000) / 1000;
  const score = coverage < MIN_COVERAGE ? null : Math.round((100 * sum(measured, ({ points }) => points)) / possible);
  const grade = score === null ? null : gradeOf(score);
  return { factors, score, grade, coverage, scoreVersion: SCORE_VERSION };
}

/** 20 for the strictness of `all`, 5 for a record without `ptr`. The policy behind `redirect=` was not read. */
function spf({ spf: { result, all } }: Parts, { spf: record }: Reading): PostureFactor {
  if (result === 'unmeasured' || (result === 'valid' && record.isRedirected)) return unmeasured('spf', 25);
  if (result !== 'valid') return factor('spf', 0, 25);
  // RFC 7208 §4.7: without `all` the result is neutral, as with `?all`.
  const points = SPF_POINTS[all ?? '?all'];
  return factor('spf', points === 0 ? 0 : points + (record.usesPtr ? 0 : 5), 25);
}

/** 35 for the effective policy, 5 for sub-domains no weaker than it, 5 for reports. */
function dmarcFactor({ dmarc: { status } }: Parts, dmarc: Dmarc): PostureFactor {
  if (status === 'unmeasured') return unmeasured('dmarc', 45);
  const { policy, effectivePolicy, subdomainPolicy, nonexistentPolicy, hasReporting } = dmarc;
  if (policy === null || effectivePolicy === null) return factor('dmarc', 0, 45);
  const isCovered = [subdomainPolicy, nonexistentPolicy].every(
    (sub) => sub === null || POLICY_RANK[sub] >= POLICY_RANK[policy],
  );
  return factor('dmarc', DMARC_POINTS[effectivePolicy] + (isCovered ? 5 : 0) + (hasReporting ? 5 : 0), 45);
}

function noMailSpf({ spf: { result, all } }: Parts): PostureFactor {
  if (result === 'unmeasured') return unmeasured('spf', 20);
  return factor('spf', result === 'valid' && all === '-all' ? 20 : 0, 20);
}

function noMailDmarc({ dmarc: { status } }: Parts, { effectivePolicy }: Dmarc): PostureFactor {
  if (status === 'unmeasured') return unmeasured('dmarc', 35);
  return factor('dmarc', effectivePolicy === null ? 0 : DMARC_POINTS[effectivePolicy], 35);
}

function dnssec({ dnssec: { isSigned } }: Parts): PostureFactor {
  return isSigned === null ? unmeasured('dnssec', 10) : factor('dnssec', isSigned ? 10 : 0, 10);
}

function caa({ caa: { status } }: Parts): PostureFactor {
  return status === 'unmeasured' ? unmeasured('caa', 5) : factor('caa', status === 'observed' ? 5 : 0, 5);
}

/** The policy file is not read, and only `enforce` in it would earn all 10: a record counts as `testing`. */
function mtaSts({ mtaSts: { hasRecord } }: Parts): PostureFactor {
  return hasRecord === null ? unmeasured('mta_sts', 10) : factor('mta_sts', hasRecord ? 5 : 0, 10);
}

function tlsRpt({ tlsRpt: { hasRecord } }: Parts): PostureFactor {
  return hasRecord === null ? unmeasured('tls_rpt', 5) : factor('tls_rpt', hasRecord ? 5 : 0, 5);
}

/** A trusted certificate over a current protocol. A domain without web addresses has no such factor. */
function tls({ tls: { status, isTrusted, protocol } }: Parts, { hasNoWeb }: Reading): PostureFactor[] {
  if (hasNoWeb && status !== 'observed') return [];
  if (status === 'unmeasured' || (status === 'observed' && isTrusted === null)) return [unmeasured('tls', 10)];
  if (status !== 'observed' || !isTrusted) return [factor('tls', 0, 10)];
  return [factor('tls', protocol !== null && CURRENT_TLS.has(protocol) ? 10 : 5, 10)];
}

function factor(name: PostureFactor['factor'], points: number, possible: number): PostureFactor {
  const finding: Finding = points === 0 ? 'fail' : points === possible ? 'pass' : 'partial';
  return { factor: name, finding, points, possible };
}

function unmeasured(name: PostureFactor['factor'], possible: number): PostureFactor {
  return { factor: name, finding: 'unmeasured', points: 0, possible };
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}
