// The salted digests of receipts. Node's own HMAC makes two objects for each, which takes longer than the digest; so does
// a buffer for each.
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longer texts, which are rare, get a buffer of their own. */
const REUSED_BYTES = 16_384;

const reused = Buffer.alloc(BLOCK_BYTES + REUSED_BYTES);
const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

/** Hexadecimal HMAC-SHA-256 (RFC 2104) under a hexadecimal salt of at most 64 bytes. */
export function saltedDigest(salt: string, of: Uint8Array | string): string {
  const bytes = BLOCK_BYTES + (typeof of === 'string' ? Buffer.byteLength(of) : of.length);
  const inner = bytes > reused.length ? Buffer.alloc(bytes) : reused;
  if (typeof of === 'string') inner.write(of, BLOCK_BYTES);
  else inner.set(of, BLOCK_BYTES);
  for (const block of [inner, outer]) block.fill(0, 0, BLOCK_BYTES).write(salt, 'hex');
  for (let i = 0; i < BLOCK_BYTES; i += 1) {
    inner[i] = (inner[i] as number) ^ 0x36;
    outer[i] = (outer[i] as number) ^ 0x5c;
  }
  outer.write(hash('sha256', inner.subarray(0, bytes)), BLOCK_BYTES, 'hex');
  return hash('sha256', outer);
}
