// BIMI: the logo that a domain wants shown beside its mail, and the mark certificate that vouches for it.
import type { Dmarc } from '../dmarc-policy.ts';
import type { Lookup } from '../evidence.ts';
import type { Posture } from '../profile.ts';
import { asClaim, onlyRecordOf, statusOf } from './published.ts';

/** An empty `l=` declines; receivers show a logo only under an enforced DMARC policy, for names below too. */
export function bimiPart(lookup: Lookup<string>, dmarc: Dmarc): Posture['bimi'] {
  const record = onlyRecordOf(lookup, 'v=BIMI1');
  const status = statusOf(lookup, record !== null);
  const base = { status, hasRecord: asClaim(status) };
  if (record === null) return { ...base, hasLogo: null, hasCertificate: null, isEligible: null };
  const isEnforced = (policy: Dmarc['policy']) => policy === 'quarantine' || policy === 'reject';
  return {
    ...base,
    hasLogo: /;\s*l\s*=\s*https:\/\/\S+\.svgz?\s*(?:;|$)/i.test(record),
    hasCertificate: /;\s*a\s*=\s*https:\/\/\S+\s*(?:;|$)/i.test(record),
    isEligible: isEnforced(dmarc.effectivePolicy) && isEnforced(dmarc.effectiveSubdomainPolicy),
  };
}
