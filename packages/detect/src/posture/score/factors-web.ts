// The factors of the score for the web site, and their issues. A domain without a web site has none of them.

import type { PostureFactor } from '../posture-type.ts';
import { ISSUES, type IssueId } from './issues.ts';
import { judged, type PostureParts, unmeasured } from './score.ts';

/** RFC 8996 deprecates TLS 1.0 and 1.1. */
const CURRENT_TLS: ReadonlySet<string> = new Set(['TLSv1.2', 'TLSv1.3']);
/** Half a year: visitors may stay away for longer than a shorter time, and browsers then forget the site. */
const HSTS_SECONDS = 180 * 86_400;
const BY_CSP = {
  strong: [],
  weak: ['headers.weak-csp'],
  'report-only': ['headers.report-only-csp'],
  none: ['headers.no-csp'],
} as const satisfies Record<string, readonly IssueId[]>;

/** A certificate that browsers accept, over a current protocol, renewed in time. */
export function tlsFactor({ tls }: PostureParts): PostureFactor {
  const { status, isTrusted, protocol, issue, expiresSoon } = tls;
  if (status === 'unmeasured' || (status === 'observed' && isTrusted === null)) return unmeasured('tls', 10);
  if (status !== 'observed') return judged('tls', 10, ['tls.missing']);
  if (!isTrusted) return judged('tls', 10, [`tls.${issue ?? 'untrusted'}`]);
  const issues: IssueId[] = [];
  if (protocol !== null && !CURRENT_TLS.has(protocol)) issues.push('tls.old-protocol');
  if (expiresSoon) issues.push('tls.expires-soon');
  return judged('tls', 10, issues, protocol === null ? 10 - ISSUES['tls.old-protocol'].cost : 10);
}

/** Browsers ignore the header of a site whose certificate they do not accept (RFC 6797 §8.1). */
export function hstsFactor({ hsts: { status, maxAge }, tls }: PostureParts): PostureFactor {
  if (status === 'unmeasured') return unmeasured('hsts', 5);
  // §6.1.1: a max-age of 0 makes browsers forget the site.
  if (maxAge === null || maxAge === 0) return judged('hsts', 5, ['hsts.missing']);
  if (tls.isTrusted === false) return judged('hsts', 5, ['hsts.ignored']);
  return judged('hsts', 5, maxAge < HSTS_SECONDS ? ['hsts.short'] : []);
}

/** Scripts, types and frames that are limited, and a policy that does not disclose referrers. */
export function headersFactor({ headers }: PostureParts): PostureFactor {
  const { csp, isSniffingOff, isFramingLimited, isReferrerCareful } = headers;
  if (headers.status !== 'observed' || csp === null) return unmeasured('headers', 5);
  const issues: IssueId[] = [...BY_CSP[csp]];
  if (!isSniffingOff) issues.push('headers.sniffing');
  if (!isFramingLimited) issues.push('headers.framing');
  if (!isReferrerCareful) issues.push('headers.referrer');
  return judged('headers', 5, issues);
}

export function securityTxtFactor({ securityTxt: { status, problem } }: PostureParts): PostureFactor {
  if (status === 'unmeasured') return unmeasured('security_txt', 2);
  if (status !== 'observed') return judged('security_txt', 2, ['security_txt.missing']);
  return judged('security_txt', 2, problem === null ? [] : [`security_txt.${problem}`]);
}
