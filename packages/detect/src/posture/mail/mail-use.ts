// Whether mail can be sent to a domain at all: a domain without mail is judged by other factors.
import { isMeasured } from '../../evidence/evidence.ts';
import type { Reading } from '../../evidence/reading.ts';

export type MailUse = 'taken' | 'none' | 'unknown';

/** `none`: a null MX (RFC 7505), or neither an MX nor an address that substitutes for one (RFC 5321 §5.1). */
export function mailUseOf({ mail, hasNullMx, evidence: { dns } }: Reading): MailUse {
  if (hasNullMx) return 'none';
  if (mail !== 'none' || dns.mx.records.length > 0) return mail === 'unmeasured' ? 'unknown' : 'taken';
  const addresses = [dns.a, dns.aaaa];
  if (addresses.some(({ records }) => records.length > 0)) return 'taken';
  return addresses.every(({ status }) => isMeasured(status)) ? 'none' : 'unknown';
}
