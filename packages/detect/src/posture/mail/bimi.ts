// BIMI: the logo that receivers show next to the domain's mail, and the mark certificate that vouches for it.

import type { Lookup } from '../../evidence/evidence.ts';
import type { Posture } from '../../profile.ts';
import { asClaim, onlyRecordOf, statusOf } from '../published.ts';
import { type Dmarc, isSettled } from './dmarc-policy.ts';

/**
 * An empty `l=` with an empty or missing `a=` declines (hasLogo is null). Receivers show a logo only under an enforced
 * DMARC policy, also for subdomains.
 */
export function bimiPart(lookup: Lookup<string>, dmarcLookup: Lookup<string>, dmarc: Dmarc): Posture['bimi'] {
  const record = onlyRecordOf(lookup, 'v=BIMI1');
  const status = statusOf(lookup, record !== null);
  const base = { status, hasRecord: asClaim(status) };
  if (record === null) return { ...base, hasLogo: null, hasCertificate: null, isEligible: null };
  const isEnforced = (policy: Dmarc['policy']) => policy === 'quarantine' || policy === 'reject';
  return {
    ...base,
    hasLogo: isDeclined(record) ? null : /;\s*l\s*=\s*https:\/\/[^\s?#]+\.svgz?(?:[?#]\S*)?\s*(?:;|$)/i.test(record),
    hasCertificate: /;\s*a\s*=\s*https:\/\/\S+\s*(?:;|$)/i.test(record),
    isEligible: isSettled(dmarcLookup, dmarc)
      ? isEnforced(dmarc.effectivePolicy) && isEnforced(dmarc.effectiveSubdomainPolicy)
      : null,
  };
}

/** The domain declines a logo: both values are present and empty. */
function isDeclined(record: string): boolean {
  const read = (tag: string) => new RegExp(`;\\s*${tag}\\s*=([^;]*)`, 'i').exec(record)?.[1]?.trim();
  return read('l') === '' && (read('a') ?? '') === '';
}
