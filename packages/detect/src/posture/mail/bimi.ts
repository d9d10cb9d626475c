// BIMI: the logo that receivers show next to the domain's mail, and the mark certificate that vouches for it.

import type { Lookup } from '../../evidence/evidence.ts';
import type { Posture } from '../../profile.ts';
import { asClaim, onlyRecordOf, statusOf, tagsOf } from '../published.ts';
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
  const { logo, certificate, isDeclined } = readRecord(record);
  const isEnforced = (policy: Dmarc['policy']) => policy === 'quarantine' || policy === 'reject';
  return {
    ...base,
    hasLogo: isDeclined ? null : /^https:\/\/[^\s?#]+\.svgz?(?:[?#]\S*)?$/i.test(logo),
    hasCertificate: /^https:\/\/\S+$/i.test(certificate),
    isEligible: isSettled(dmarcLookup, dmarc)
      ? isEnforced(dmarc.effectivePolicy) && isEnforced(dmarc.effectiveSubdomainPolicy)
      : null,
  };
}

/** A record with a repeated tag, or another avatar preference (`avp`), is void. */
function readRecord(record: string) {
  const tags = tagsOf(record);
  const isVoid = !tags || !/^(?:brand|personal)?$/i.test(tags.get('avp') ?? '');
  if (isVoid) return { logo: '', certificate: '', isDeclined: false };
  const logo = tags.get('l');
  const certificate = tags.get('a') ?? '';
  return { logo: logo ?? '', certificate, isDeclined: logo === '' && certificate === '' };
}
