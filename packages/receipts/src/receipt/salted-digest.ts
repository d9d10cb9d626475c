// Digests of a request and an answer, with a salt for each receipt that only the client gets. Without a salt, anyone with the
// receipt could test a guess of a short request.
import { hmac } from '@noble/hashes/hmac.js';
import { decodeHex, encodeHex } from '../encoding/base-encoding.ts';
import { sha256 } from '../tree/merkle.ts';

export const SALT_BYTES = 32;

/** The 32 bytes of an `x-receipt-salt` value, or undefined. */
export function parseSalt(text: string): Uint8Array | undefined {
  const salt = decodeHex(text);
  return salt?.length === SALT_BYTES ? salt : undefined;
}

/** HMAC-SHA-256 (RFC 2104) of the bytes with the salt as key, hex. */
export const saltedDigest = (salt: Uint8Array, bytes: Uint8Array): string => encodeHex(hmac(sha256, salt, bytes));
