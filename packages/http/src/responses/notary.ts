// The envelope of every JSON body, and the seam through which it gets its receipt.

/** Signs bodies. When `sign` resolves, the receipt's leaf is durable in the ledger; only then may the body leave. */
export interface Notary {
  sign(body: Readonly<Record<string, unknown>>): Promise<object>;
  /** The same for a body that many callers get: it is signed once for as long as the signing key is in use. */
  signOnce(body: Readonly<Record<string, unknown>>): Promise<object>;
  /** Signs content of another type; resolves with its provenance. */
  signBytes(content: Uint8Array, contentType: string): Promise<object>;
}

/** Data first seen in alpha: every body says so. */
export const NOTICE =
  'Alpha data, without any guarantee: it may be incomplete, out of date or wrong. Each finding says what it rests on.';

/** Puts the notice before the data. */
export function envelope(data: object): Record<string, unknown> {
  return { _alpha: true, _notice: NOTICE, ...data };
}
