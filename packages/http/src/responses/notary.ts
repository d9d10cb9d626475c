// The envelope of every JSON body, and the interface that adds its receipt.
import type { DetachedContent } from '@strata/receipts';

/**
 * Signs bodies: returns the JSON text of the body with its receipt. When `sign` resolves, the receipt's leaf is durable in the ledger;
 * only then may the body leave.
 */
export interface Notary {
  sign(body: Readonly<Record<string, unknown>>): Promise<string>;
  /** The same for a body that many callers share: signed once per signing key. */
  signOnce(body: Readonly<Record<string, unknown>>): Promise<string>;
  /** Signs content of another type, or its SHA-256; resolves with its provenance. */
  signBytes(content: DetachedContent, contentType: string): Promise<object>;
}

/** Notice in every body while the service is in alpha. */
export const NOTICE =
  'Alpha data, without any guarantee: it may be incomplete, out of date or wrong. Each finding says what it rests on.';

/** Adds the notice before the data. */
export function envelope(data: object): Record<string, unknown> {
  return { _alpha: true, _notice: NOTICE, ...data };
}
