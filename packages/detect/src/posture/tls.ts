// TLS of the web site: whether the certificate is valid, and its problem if not.

import type { Reading } from '../evidence/reading.ts';
import type { Posture, TlsIssue } from '../profile.ts';
import { UNMEASURED } from './unmeasured.ts';

/** OpenSSL's codes mapped to issues; other codes make the certificate untrusted. */
const ISSUES: Readonly<Record<string, TlsIssue>> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not-yet-valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name-mismatch',
  HOSTNAME_MISMATCH: 'name-mismatch',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted-root',
  UNABLE_TO_GET_ISSUER_CERT: 'incomplete-chain',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'incomplete-chain',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'incomplete-chain',
  CERT_REVOKED: 'revoked',
};

const DAY_MS = 86_400_000;
/** Timely renewal happens with a third of the lifetime left; a tenth, or two weeks of a long lifetime, is late. */
const LATE_SHARE = 0.1;
const LATE_MS = 14 * DAY_MS;

export function tlsPart({ evidence, hasOwnCertificate, hasNoWeb }: Reading): Posture['tls'] {
  const { status, protocol, isTrusted, problem, validFrom, validTo } = evidence.tls;
  if (hasOwnCertificate) {
    const issue = isTrusted === false ? ((problem === null ? undefined : own(ISSUES, problem)) ?? 'untrusted') : null;
    const expiresSoon = isTrusted === true && isLate(evidence.observedAt, validFrom, validTo);
    return { status: 'observed', protocol, isTrusted, problem, validTo, issue, expiresSoon };
  }
  // A site that answers over HTTP and refuses port 443 was measured: it has no TLS.
  const isRefused = status === 'refused' && evidence.http.status === 'found';
  return { ...UNMEASURED.tls, status: (hasNoWeb && status !== 'found') || isRefused ? 'absent' : 'unmeasured' };
}

function isLate(observedAt: string, validFrom: string | null, validTo: string | null): boolean {
  if (validTo === null) return false;
  const end = Date.parse(validTo);
  const left = end - Date.parse(observedAt);
  // Never late with this much time left, whatever the lifetime; most certificates have months left.
  if (left >= LATE_MS) return false;
  const life = validFrom === null ? Number.POSITIVE_INFINITY : end - Date.parse(validFrom);
  return left < Math.min(LATE_MS, life * LATE_SHARE);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
