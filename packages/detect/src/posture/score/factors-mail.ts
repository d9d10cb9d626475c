// The factors of the score for mail and names, and their issues; issues.ts has the cost of each issue.

import type { SpfProblem, SpfProblemCode } from '../../spf/problems.ts';
import type { DmarcPolicy, DmarcProblem, DmarcProblemCode } from '../mail/dmarc.ts';
import type { Posture, PostureFactor } from '../posture-type.ts';
import type { IssueId } from './issues.ts';
import { judged, type PostureParts, unmeasured } from './score.ts';

const RANK: Readonly<Record<DmarcPolicy, number>> = { none: 0, quarantine: 1, reject: 2 };
const BY_ALL = {
  '-all': [],
  '~all': ['spf.softfail'],
  '?all': ['spf.neutral'],
  '+all': ['spf.open'],
} as const satisfies Record<string, readonly IssueId[]>;
/** Most severe first. */
const BY_PROBLEM: Readonly<Partial<Record<SpfProblemCode, IssueId>>> = {
  'several-records': 'spf.several',
  syntax: 'spf.syntax',
  loop: 'spf.loop',
  'include-without-policy': 'spf.dead-include',
  'redirect-without-policy': 'spf.dead-include',
  'too-many-lookups': 'spf.too-many-lookups',
  'too-many-exchanges': 'spf.too-many-lookups',
  'too-many-voids': 'spf.too-many-voids',
};
const UNTIDY = [
  ['ptr', 'spf.ptr'],
  ['void', 'spf.void'],
  ['wide-range', 'spf.wide'],
] as const;
const ISSUE_BY_PROBLEM: Readonly<Partial<Record<SpfProblemCode, IssueId>>> = {
  ...BY_PROBLEM,
  ...Object.fromEntries(UNTIDY),
  'no-all': 'spf.neutral',
  'unreadable-record': 'spf.unreadable',
};
/** A /8 in total is not a list of servers: as good as open to everyone. */
const OPEN_IPV4 = 2 ** 24;

/**
 * How the policy ends, and whether its terms are narrow. If a referenced record was not available it is not judged: that
 * record may void the policy or open it to everyone.
 */
export function spfFactor({ spf, dmarc }: PostureParts): PostureFactor {
  if (spf.result === 'unmeasured') return unmeasured('spf', 25);
  if (spf.result === 'none') return judged('spf', 25, [isUnreadable(spf) ? 'spf.unreadable' : 'spf.missing']);
  if (spf.result === 'permerror') return judged('spf', 25, [gravest(spf)]);
  if (isOpen(spf)) return judged('spf', 25, ['spf.open']);
  if (spf.evaluation === 'unknown') return unmeasured('spf', 25);
  const untidy = UNTIDY.flatMap(([code, issue]) => (spf.problems.some((each) => each.code === code) ? [issue] : []));
  // RFC 7208 §4.7: without `all` the result is neutral, as with `?all`.
  const end = spf.effectiveAll ?? '?all';
  // RFC 7489 §10.1: -all may refuse mail that passes DKIM, so under an enforced DMARC policy ~all is not a weakness.
  const isCovered = end === '~all' && dmarc.effectivePolicy !== null && dmarc.effectivePolicy !== 'none';
  return judged('spf', 25, [...(isCovered ? [] : BY_ALL[end]), ...untidy]);
}

/** For a domain that takes no mail: whether it refuses to send any. */
export function noMailSpfFactor({ spf }: PostureParts): PostureFactor {
  if (spf.result === 'unmeasured') return unmeasured('spf', 20);
  if (spf.result === 'permerror') return judged('spf', 20, [gravest(spf)]);
  if (isOpen(spf)) return judged('spf', 20, ['spf.open']);
  if (spf.evaluation === 'unknown') return unmeasured('spf', 20);
  if (isUnreadable(spf)) return judged('spf', 20, ['spf.unreadable']);
  if (spf.effectiveAll !== '-all') return judged('spf', 20, ['spf.not-refusing']);
  return judged('spf', 20, spf.isPermitting ? ['spf.needless-senders'] : []);
}

/** The problem of the policy that causes an issue, if there is one. */
export function spfProblemOf({ problems }: Posture['spf'], issue: IssueId): SpfProblem | undefined {
  return problems.find(({ code }) => ISSUE_BY_PROBLEM[code] === issue);
}

function isUnreadable({ problems }: Posture['spf']): boolean {
  return problems.some(({ code }) => code === 'unreadable-record');
}

function isOpen({ isOpen: lets, authorizedIpv4 }: Posture['spf']): boolean {
  return lets || authorizedIpv4 >= OPEN_IPV4;
}

function gravest({ problems }: Posture['spf']): IssueId {
  const codes = new Set<string>(problems.map(({ code }) => code));
  const [, issue] = Object.entries(BY_PROBLEM).find(([code]) => codes.has(code)) ?? [];
  return issue ?? 'spf.syntax';
}

/** The effective policy, subdomain policies that are no weaker, and reports that have a receiver. */
export function dmarcFactor({ dmarc }: PostureParts): PostureFactor {
  if (dmarc.status === 'unmeasured') return unmeasured('dmarc', 45);
  const issues = policyIssues(dmarc);
  if (dmarc.policy === null) return judged('dmarc', 45, issues);
  issues.push(...subdomainIssues(dmarc), ...reportIssues(dmarc));
  return judged('dmarc', 45, issues, dmarc.reporting === 'unknown' && !dmarc.isInherited ? 40 : 45);
}

/** For a domain that takes no mail: the policies only. It has no mail of its own to wait for before it rejects all. */
export function noMailDmarcFactor({ dmarc }: PostureParts): PostureFactor {
  if (dmarc.status === 'unmeasured') return unmeasured('dmarc', 35);
  const issues = policyIssues(dmarc).map((issue) => WITHOUT_MAIL[issue] ?? issue);
  return judged('dmarc', 35, [...issues, ...subdomainIssues(dmarc)]);
}

const WITHOUT_MAIL: Readonly<Partial<Record<IssueId, IssueId>>> = {
  'dmarc.missing': 'dmarc.not-refusing',
  'dmarc.none': 'dmarc.not-rejecting',
  'dmarc.inherited-none': 'dmarc.not-rejecting',
  'dmarc.testing-quarantine': 'dmarc.not-rejecting',
  'dmarc.quarantine': 'dmarc.only-quarantining',
};

function subdomainIssues({ policy, subdomainPolicy, nonexistentPolicy }: Posture['dmarc']): IssueId[] {
  const isWeaker = (sub: DmarcPolicy | null) => sub !== null && policy !== null && RANK[sub] < RANK[policy];
  return isWeaker(subdomainPolicy) || isWeaker(nonexistentPolicy) ? ['dmarc.weak-subdomains'] : [];
}

/** Reports of a parent's policy go to the parent's owner, so a domain under it receives none. */
function reportIssues({ reporting, isInherited, record }: Posture['dmarc']): IssueId[] {
  if (isInherited) return ['dmarc.inherited'];
  if (reporting === 'unauthorized') return ['dmarc.unauthorized-reports'];
  if (reporting !== 'none') return [];
  return [/;\s*rua\s*=/i.test(record ?? '') ? 'dmarc.bad-address' : 'dmarc.no-reports'];
}

/** While it is unknown whether the domain takes mail, only what is correct in both cases is judged. */
export function anyMailSpfFactor(parts: PostureParts): PostureFactor {
  const withMail = spfFactor(parts);
  return isInOrder(withMail) && isInOrder(noMailSpfFactor(parts)) ? withMail : unmeasured('spf', 25);
}

/** As `anyMailSpfFactor`; report receivers matter only for domains with mail. */
export function anyMailDmarcFactor(parts: PostureParts): PostureFactor {
  return isInOrder(noMailDmarcFactor(parts)) ? judged('dmarc', 45, [], 40) : unmeasured('dmarc', 45);
}

function isInOrder({ finding }: PostureFactor): boolean {
  return finding === 'pass';
}

function policyIssues({ policy, isTesting, isInherited, problems, record }: Posture['dmarc']): IssueId[] {
  const has = (wanted: DmarcProblemCode) => problems.some(({ code }) => code === wanted);
  switch (policy) {
    case null:
      if (has('several-records')) return ['dmarc.several'];
      if (has('unreadable-record')) return ['dmarc.unreadable'];
      return [record === null ? 'dmarc.missing' : 'dmarc.invalid'];
    case 'none':
      if (isInherited) return ['dmarc.inherited-none'];
      return [problems.some(isBadPolicy) ? 'dmarc.bad-value' : 'dmarc.none'];
    case 'quarantine':
      return [isTesting ? 'dmarc.testing-quarantine' : 'dmarc.quarantine'];
    case 'reject':
      return isTesting ? ['dmarc.testing'] : [];
    default:
      return policy satisfies never;
  }
}

/** The record requests a stricter policy that cannot be parsed (RFC 9989 §4.10.1). */
function isBadPolicy({ code, term }: DmarcProblem): boolean {
  return code === 'bad-value' && /^(?:p|sp|np)=/i.test(term);
}

/** Without weight: the selectors of a domain cannot be enumerated. */
export function dkimFactor({ dkim }: PostureParts): PostureFactor {
  if (dkim.status !== 'observed') return unmeasured('dkim', 0);
  const has = (...problems: readonly string[]) =>
    dkim.keys.some(({ problem }) => problem !== null && problems.includes(problem));
  const issues: IssueId[] = [];
  if (has('weak')) issues.push('dkim.weak');
  if (has('unknown-type', 'unreadable', 'sha1-only', 'not-for-mail')) issues.push('dkim.unusable');
  if (has('short')) issues.push('dkim.short');
  if (dkim.keys.some(({ isTesting }) => isTesting)) issues.push('dkim.testing');
  return judged('dkim', 0, issues);
}

/** Signed, with algorithms that validators accept. */
export function dnssecFactor({ dnssec }: PostureParts): PostureFactor {
  if (dnssec.validation === 'bogus') return judged('dnssec', 10, ['dnssec.bogus']);
  if (dnssec.isSigned === null) return unmeasured('dnssec', 10);
  if (!dnssec.isSigned) return judged('dnssec', 10, ['dnssec.unsigned']);
  if (dnssec.isWeak) return judged('dnssec', 10, ['dnssec.weak']);
  return judged('dnssec', 10, dnssec.validation === 'insecure' ? ['dnssec.unvalidated'] : []);
}

export function caaFactor({ caa }: PostureParts): PostureFactor {
  if (caa.status === 'unmeasured') return unmeasured('caa', 5);
  if (caa.status !== 'observed') return judged('caa', 5, ['caa.missing']);
  if (!caa.isRestricted) return judged('caa', 5, ['caa.unrestricted']);
  return judged('caa', 5, caa.unknownCritical.length > 0 ? ['caa.unknown-critical'] : []);
}

/** A record whose policy was not available is not judged. */
export function mtaStsFactor({ mtaSts }: PostureParts): PostureFactor {
  const { hasRecord, mode } = mtaSts;
  if (hasRecord === null) return unmeasured('mta_sts', 10);
  const issue = mtaStsIssue(mtaSts);
  return issue === null && mode === null
    ? unmeasured('mta_sts', 10)
    : judged('mta_sts', 10, issue === null ? [] : [issue]);
}

function mtaStsIssue({ hasRecord, mode, problem }: Posture['mtaSts']): IssueId | null {
  switch (problem) {
    case 'several-records':
      return 'mta_sts.several';
    case 'unreadable-record':
      return 'mta_sts.unreadable';
    case 'bad-id':
      return 'mta_sts.invalid';
    case 'no-policy':
    case 'bad-policy':
    case 'mx-mismatch':
      return `mta_sts.${problem}`;
    case 'short-max-age':
    case null:
      if (!hasRecord) return 'mta_sts.missing';
      if (mode === 'none') return 'mta_sts.off';
      if (mode === 'testing') return 'mta_sts.testing';
      return problem === null ? null : 'mta_sts.short';
    default:
      return problem satisfies never;
  }
}

export function tlsRptFactor({ tlsRpt }: PostureParts): PostureFactor {
  if (tlsRpt.hasRecord === null) return unmeasured('tls_rpt', 5);
  if (tlsRpt.problem === 'several-records') return judged('tls_rpt', 5, ['tls_rpt.several']);
  if (tlsRpt.problem === 'unreadable-record') return judged('tls_rpt', 5, ['tls_rpt.unreadable']);
  if (!tlsRpt.hasRecord) return judged('tls_rpt', 5, ['tls_rpt.missing']);
  return judged('tls_rpt', 5, tlsRpt.hasAddress ? [] : ['tls_rpt.no-address']);
}

/** For a domain with BIMI. A logo is not needed for security, so it has no weight. */
export function bimiFactor({ bimi }: PostureParts): PostureFactor {
  const issues: IssueId[] = [];
  if (bimi.hasLogo === false) issues.push('bimi.no-logo');
  // A domain that declines wants no logo.
  if (bimi.hasLogo !== null && bimi.isEligible === false) issues.push('bimi.ineligible');
  return judged('bimi', 0, issues);
}
