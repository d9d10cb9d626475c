// The factors of the score that speak of the web site. A domain without one has none of them.
import type { IssueId } from './issues.ts';
import type { Posture, PostureFactor, TlsIssue } from './posture-type.ts';
import { judged, type PostureParts, unmeasured } from './score.ts';

/** RFC 8996 deprecates TLS 1.0 and 1.1. */
const CURRENT_TLS: ReadonlySet<string> = new Set(['TLSv1.2', 'TLSv1.3']);
/** Half a year: shorter than a visitor may stay away, and a browser forgets. */
const HSTS_SECONDS = 180 * 86_400;
const CSP_POINTS = { strong: 2, weak: 1, 'report-only': 1, none: 0 } as const;
const CSP_ISSUE = {
  strong: [],
  weak: ['headers.weak-csp'],
  'report-only': ['headers.report-only-csp'],
  none: ['headers.no-csp'],
} as const;

/** A certificate that browsers accept, over a current protocol, renewed in time. */
export function tlsFactor({ tls }: PostureParts): PostureFactor {
  const { status, isTrusted, protocol, issue, expiresSoon } = tls;
  if (status === 'unmeasured' || (status === 'observed' && isTrusted === null)) return unmeasured('tls', 10);
  if (status !== 'observed') return judged('tls', 10, 0, ['tls.missing']);
  if (!isTrusted) return judged('tls', 10, 0, [`tls.${issue ?? ('untrusted' satisfies TlsIssue)}`]);
  const isOld = protocol === null || !CURRENT_TLS.has(protocol);
  if (isOld) return judged('tls', 10, 5, ['tls.old-protocol']);
  return expiresSoon ? judged('tls', 10, 8, ['tls.expires-soon']) : judged('tls', 10, 10, []);
}

export function hstsFactor({ hsts }: PostureParts): PostureFactor {
  if (hsts.status === 'unmeasured') return unmeasured('hsts', 5);
  // §6.1.1: a max-age of 0 makes browsers forget the site.
  if (hsts.maxAge === null || hsts.maxAge === 0) return judged('hsts', 5, 0, ['hsts.missing']);
  return hsts.maxAge < HSTS_SECONDS ? judged('hsts', 5, 2, ['hsts.short']) : judged('hsts', 5, 5, []);
}

/** 2 for scripts that are limited, 1 each for types, frames and referrers. */
export function headersFactor({ headers }: PostureParts): PostureFactor {
  const { csp, isSniffingOff, isFramingLimited, isReferrerCareful } = headers;
  if (headers.status !== 'observed' || csp === null) return unmeasured('headers', 5);
  const issues: IssueId[] = [...CSP_ISSUE[csp]];
  if (!isSniffingOff) issues.push('headers.sniffing');
  if (!isFramingLimited) issues.push('headers.framing');
  if (!isReferrerCareful) issues.push('headers.referrer');
  const points = CSP_POINTS[csp] + [isSniffingOff, isFramingLimited, isReferrerCareful].filter(Boolean).length;
  return judged('headers', 5, points, issues);
}

export function securityTxtFactor({ securityTxt }: { readonly securityTxt: Posture['securityTxt'] }): PostureFactor {
  const { status, problem } = securityTxt;
  if (status === 'unmeasured') return unmeasured('security_txt', 2);
  if (status !== 'observed') return judged('security_txt', 2, 0, ['security_txt.missing']);
  return problem === null
    ? judged('security_txt', 2, 2, [])
    : judged('security_txt', 2, 1, [`security_txt.${problem}`]);
}
