// The factors of the score that speak of mail and names: points for each, and the issues that cost the rest.
import type { DmarcPolicy } from './dmarc.ts';
import type { IssueId } from './issues.ts';
import type { Posture, PostureFactor } from './posture-type.ts';
import { judged, type PostureParts, unmeasured } from './score.ts';

const DMARC_POINTS: Readonly<Record<DmarcPolicy, number>> = { reject: 35, quarantine: 28, none: 8 };
const DMARC_ISSUE: Readonly<Record<DmarcPolicy, readonly IssueId[]>> = {
  reject: [],
  quarantine: ['dmarc.quarantine'],
  none: ['dmarc.none'],
};
const RANK: Readonly<Record<DmarcPolicy, number>> = { none: 0, quarantine: 1, reject: 2 };
const SPF_POINTS = { '-all': 20, '~all': 18, '?all': 5, '+all': 0 } as const;
const SPF_ISSUE = { '-all': [], '~all': ['spf.softfail'], '?all': ['spf.neutral'], '+all': ['spf.open'] } as const;
/** A /8 in all is nobody's list of servers: as good as everybody. */
const OPEN_IPV4 = 2 ** 24;

/** 20 for how the policy ends, 5 for terms that all lead somewhere narrow. The end behind an unread `redirect=` is not judged. */
export function spfFactor({ spf }: PostureParts): PostureFactor {
  if (spf.result === 'unmeasured') return unmeasured('spf', 25);
  if (spf.result === 'none') return judged('spf', 25, 0, ['spf.missing']);
  if (spf.result === 'permerror') return judged('spf', 25, 0, [spfError(spf)]);
  if (isOpen(spf)) return judged('spf', 25, 0, ['spf.open']);
  if (isEndUnknown(spf)) return unmeasured('spf', 25);
  // RFC 7208 §4.7: without `all` the result is neutral, as with `?all`.
  const all = spf.effectiveAll ?? '?all';
  const untidy: IssueId[] = [];
  const has = (code: string) => spf.problems.some((problem) => problem.code === code);
  if (has('ptr')) untidy.push('spf.ptr');
  if (has('void')) untidy.push('spf.void');
  if (has('wide-range')) untidy.push('spf.wide');
  return judged('spf', 25, SPF_POINTS[all] + (untidy.length === 0 ? 5 : 0), [...SPF_ISSUE[all], ...untidy]);
}

/** Of a domain that takes no mail: 20 for refusing to send any. */
export function noMailSpfFactor({ spf }: PostureParts): PostureFactor {
  if (spf.result === 'unmeasured' || (spf.result === 'valid' && isEndUnknown(spf))) return unmeasured('spf', 20);
  const isRefusing = spf.result === 'valid' && spf.effectiveAll === '-all' && !isOpen(spf);
  return judged('spf', 20, isRefusing ? 20 : 0, isRefusing ? [] : ['spf.not-refusing']);
}

function isOpen({ isOpen: lets, authorizedIpv4 }: Posture['spf']): boolean {
  return lets || authorizedIpv4 >= OPEN_IPV4;
}

/** Only a redirect that was not had leaves a valid policy without an end that is known. */
function isEndUnknown({ effectiveAll, problems }: Posture['spf']): boolean {
  return effectiveAll === null && !problems.some(({ code }) => code === 'no-all');
}

function spfError({ problems }: Posture['spf']): IssueId {
  for (const { code } of problems) {
    if (code === 'several-records') return 'spf.several';
    if (code === 'syntax') return 'spf.syntax';
    if (code === 'too-many-lookups' || code === 'too-many-exchanges') return 'spf.too-many-lookups';
    if (code === 'include-without-policy' || code === 'redirect-without-policy') return 'spf.dead-include';
    if (code === 'loop') return 'spf.loop';
  }
  return 'spf.too-many-voids';
}

/** 35 for the effective policy, 5 for names below no weaker than it, 5 for reports that somebody receives. */
export function dmarcFactor(parts: PostureParts): PostureFactor {
  const { dmarc } = parts;
  const base = noMailDmarcFactor(parts);
  if (base.finding === 'unmeasured') return unmeasured('dmarc', 45);
  const { policy, subdomainPolicy, nonexistentPolicy, reporting } = dmarc;
  if (policy === null) return judged('dmarc', 45, 0, base.issues);
  const isWeaker = [subdomainPolicy, nonexistentPolicy].some((sub) => sub !== null && RANK[sub] < RANK[policy]);
  const issues: IssueId[] = [...base.issues];
  if (isWeaker) issues.push('dmarc.weak-subdomains');
  if (reporting === 'none') issues.push('dmarc.no-reports');
  if (reporting === 'unauthorized') issues.push('dmarc.unauthorized-reports');
  const points = base.points + (isWeaker ? 0 : 5) + (reporting === 'authorized' ? 5 : 0);
  return judged('dmarc', 45, points, issues, reporting === 'unknown' ? 40 : 45);
}

/** Of a domain that takes no mail: 35 for the effective policy alone. */
export function noMailDmarcFactor({ dmarc }: PostureParts): PostureFactor {
  if (dmarc.status === 'unmeasured') return unmeasured('dmarc', 35);
  const { policy, effectivePolicy, isTesting, problems, record } = dmarc;
  if (policy === null || effectivePolicy === null) {
    const isSeveral = problems.some(({ code }) => code === 'several-records');
    return judged('dmarc', 35, 0, [isSeveral ? 'dmarc.several' : record !== null ? 'dmarc.invalid' : 'dmarc.missing']);
  }
  const isLowered = isTesting && policy !== effectivePolicy;
  return judged(
    'dmarc',
    35,
    DMARC_POINTS[effectivePolicy],
    isLowered ? ['dmarc.testing'] : DMARC_ISSUE[effectivePolicy],
  );
}

/** Weighs nothing: the selectors of a domain cannot be enumerated. */
export function dkimFactor({ dkim }: PostureParts): PostureFactor {
  if (dkim.status !== 'observed') return unmeasured('dkim', 0);
  const has = (...problems: readonly string[]) =>
    dkim.keys.some(({ problem }) => problem !== null && problems.includes(problem));
  const issues: IssueId[] = [];
  if (has('weak')) issues.push('dkim.weak');
  if (has('unknown-type', 'unreadable', 'sha1-only', 'not-for-mail')) issues.push('dkim.unusable');
  if (has('short')) issues.push('dkim.short');
  if (dkim.keys.some(({ isTesting }) => isTesting)) issues.push('dkim.testing');
  return judged('dkim', 0, 0, issues);
}

/** Signed with what validators take 10, with what they are to give up or do not take 5, unsigned or broken 0. */
export function dnssecFactor({ dnssec }: PostureParts): PostureFactor {
  if (dnssec.validation === 'bogus') return judged('dnssec', 10, 0, ['dnssec.bogus']);
  if (dnssec.isSigned === null) return unmeasured('dnssec', 10);
  if (!dnssec.isSigned) return judged('dnssec', 10, 0, ['dnssec.unsigned']);
  if (dnssec.isWeak) return judged('dnssec', 10, 5, ['dnssec.weak']);
  return dnssec.validation === 'insecure'
    ? judged('dnssec', 10, 5, ['dnssec.unvalidated'])
    : judged('dnssec', 10, 10, []);
}

export function caaFactor({ caa }: PostureParts): PostureFactor {
  if (caa.status === 'unmeasured') return unmeasured('caa', 5);
  if (caa.status !== 'observed') return judged('caa', 5, 0, ['caa.missing']);
  if (!caa.isRestricted) return judged('caa', 5, 0, ['caa.unrestricted']);
  return caa.unknownCritical.length > 0 ? judged('caa', 5, 3, ['caa.unknown-critical']) : judged('caa', 5, 5, []);
}

/** Enforced 10, tested 5; a record whose policy was not had is not judged. */
export function mtaStsFactor({ mtaSts }: PostureParts): PostureFactor {
  const { hasRecord, mode, problem } = mtaSts;
  if (hasRecord === null) return unmeasured('mta_sts', 10);
  const fail = (issue: IssueId) => judged('mta_sts', 10, 0, [issue]);
  if (!hasRecord) return fail('mta_sts.missing');
  if (problem === 'bad-id') return fail('mta_sts.invalid');
  if (problem === 'no-policy') return fail('mta_sts.no-policy');
  if (problem === 'bad-policy') return fail('mta_sts.bad-policy');
  if (mode === null) return unmeasured('mta_sts', 10);
  if (mode === 'none') return fail('mta_sts.off');
  if (problem === 'mx-mismatch') return judged('mta_sts', 10, 2, ['mta_sts.mx-mismatch']);
  if (mode === 'testing') return judged('mta_sts', 10, 5, ['mta_sts.testing']);
  return problem === 'short-max-age' ? judged('mta_sts', 10, 8, ['mta_sts.short']) : judged('mta_sts', 10, 10, []);
}

export function tlsRptFactor({ tlsRpt }: PostureParts): PostureFactor {
  if (tlsRpt.hasRecord === null) return unmeasured('tls_rpt', 5);
  if (!tlsRpt.hasRecord) return judged('tls_rpt', 5, 0, ['tls_rpt.missing']);
  return tlsRpt.hasAddress ? judged('tls_rpt', 5, 5, []) : judged('tls_rpt', 5, 2, ['tls_rpt.no-address']);
}

/** Of a domain that has BIMI: nobody needs a logo to be safe, so it weighs nothing. */
export function bimiFactor({ bimi }: PostureParts): PostureFactor {
  const issues: IssueId[] = [];
  if (!bimi.hasLogo) issues.push('bimi.no-logo');
  if (!bimi.isEligible) issues.push('bimi.ineligible');
  return judged('bimi', 0, 0, issues);
}
