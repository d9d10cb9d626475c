// DNSSEC as the parent zone vouches for it: DS records, and whether a validating resolver accepted the answers.

import type { Reading } from '../evidence/reading.ts';
import { measurementOf } from '../judge/measure.ts';
import type { Posture } from '../profile.ts';
import { asClaim } from './published.ts';

/**
 * Signing with these is forbidden or advised against (RFC 8624 and its successor RFC 9904, RFC 9905, RFC 9906): RSA with MD5
 * or SHA-1, both DSA, RSA/SHA-512 because of its size, the older GOST. The newer GOST (23, RFC 9558) may be used.
 */
const WEAK_ALGORITHMS: ReadonlySet<number> = new Set([1, 3, 5, 6, 7, 10, 12]);
/**
 * Without SHA-1 and GOST. A weak digest next to a strong one is harmless: validators use the strong one (RFC 4509 §3).
 */
const STRONG_DIGESTS: ReadonlySet<number> = new Set([2, 4]);
const MAX_ALGORITHMS = 8;

export function dnssecPart({ evidence: { dns, policies } }: Reading): Posture['dnssec'] {
  const status = measurementOf(dns.ds.status);
  const { records } = dns.ds;
  const algorithms = [...new Set(records.map(({ algorithm }) => algorithm))].sort((a, b) => a - b);
  const isWeak =
    algorithms.some((algorithm) => WEAK_ALGORITHMS.has(algorithm)) ||
    !records.some(({ digestType }) => STRONG_DIGESTS.has(digestType));
  return {
    status,
    isSigned: asClaim(status),
    algorithms: algorithms.slice(0, MAX_ALGORITHMS),
    isWeak: status === 'observed' ? isWeak : null,
    validation: policies?.validation ?? 'unknown',
  };
}
