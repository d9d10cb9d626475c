// Explains a factor of the score: the observed value, and what the owner should do. Computed on request, so that stored
// postures stay small.

import { cutText } from '../../evidence/text.ts';
import type { FactorName, Posture, PostureFactor } from '../posture-type.ts';
import { spfProblemOf } from './factors-mail.ts';
import { ISSUES, type IssueId } from './issues.ts';

export interface FactorExplanation {
  /** Stable name of the finding: the most severe issue, or `{factor}.pass` or `{factor}.unmeasured`. */
  readonly id: string;
  /** The observed record or value, at most 160 characters; null if there was none. */
  readonly evidence: string | null;
  /** A sentence for each issue, most severe first; null if there are no issues. */
  readonly advice: string | null;
}

const MAX_EVIDENCE = 160;

/** The evidence of a factor of the posture, and advice for the owner. */
export function explainFactor(posture: Posture, { factor, finding, issues }: PostureFactor): FactorExplanation {
  const [first] = issues;
  const evidence = finding === 'unmeasured' ? null : EVIDENCE[factor](posture, first);
  return {
    id: first ?? `${factor}.${finding}`,
    evidence: evidence === null ? null : cutText(evidence, MAX_EVIDENCE),
    advice: first === undefined ? null : issues.map((issue) => ISSUES[issue].advice).join(' '),
  };
}

const EVIDENCE: Readonly<Record<FactorName, (posture: Posture, issue: IssueId | undefined) => string | null>> = {
  // A problem of a policy is often in another record, so the name of that record comes first.
  spf: ({ spf }, issue) => {
    const problem = issue && spfProblemOf(spf, issue);
    return problem ? `${problem.code} in ${problem.at}: ${problem.term || spf.record}` : spf.record;
  },
  dmarc: ({ dmarc }) => {
    if (dmarc.record !== null) return `${dmarc.foundAt}: ${dmarc.record}`;
    return dmarc.problems.find(({ code }) => code === 'unreadable-record')?.term ?? null;
  },
  dkim: ({ dkim }) =>
    dkim.keys.map(({ selector, type, bits }) => `${selector}: ${type} ${bits ?? '?'}`).join(', ') || null,
  dnssec: ({ dnssec }) =>
    dnssec.isSigned ? `DS, algorithm ${dnssec.algorithms.join(', ')}; ${dnssec.validation}` : null,
  caa: ({ caa }) => (caa.status === 'observed' ? `issue: ${caa.issuers.join(', ') || 'nobody'}` : null),
  mta_sts: ({ mtaSts }) =>
    mtaSts.hasRecord
      ? [`mode: ${mtaSts.mode ?? 'unknown'}`, ...(mtaSts.problem ? [mtaSts.problem] : [])].join('; ')
      : mtaSts.problem,
  tls_rpt: ({ tlsRpt }) => (tlsRpt.hasRecord ? `rua: ${tlsRpt.hasAddress ? 'present' : 'unusable'}` : tlsRpt.problem),
  bimi: ({ bimi }) => (bimi.hasRecord ? `l=: ${bimi.hasLogo ? 'present' : 'none'}` : null),
  tls: ({ tls }) =>
    [tls.protocol, tls.problem, tls.validTo && `valid to ${tls.validTo}`].filter(Boolean).join('; ') || null,
  hsts: ({ hsts }) =>
    hsts.maxAge === null
      ? null
      : [`max-age=${hsts.maxAge}`, hsts.includesSubdomains && 'includeSubDomains', hsts.isPreload && 'preload']
          .filter(Boolean)
          .join('; '),
  headers: ({ headers }) =>
    headers.csp === null
      ? null
      : [
          `content-security-policy: ${headers.csp}`,
          headers.isSniffingOff && 'nosniff',
          headers.isFramingLimited && 'frames limited',
          headers.isReferrerCareful || 'referrers given away',
        ]
          .filter((part) => typeof part === 'string')
          .join('; '),
  security_txt: ({ securityTxt }) =>
    securityTxt.status === 'observed' ? `expires: ${securityTxt.expires ?? 'missing'}` : null,
};
