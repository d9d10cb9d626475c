// The salted digests of receipts. Node's own HMAC makes two objects for each, which takes longer than the digest.
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;

/** Hexadecimal HMAC-SHA-256 (RFC 2104) under a hexadecimal salt of at most 64 bytes. */
export function saltedDigest(salt: string, of: Uint8Array | string): string {
  const text = typeof of === 'string' ? Buffer.from(of) : of;
  const inner = Buffer.alloc(BLOCK_BYTES + text.length);
  const outer = Buffer.alloc(BLOCK_BYTES);
  inner.write(salt, 'hex');
  outer.write(salt, 'hex');
  for (let i = 0; i < BLOCK_BYTES; i += 1) {
    inner[i] = (inner[i] as number) ^ 0x36;
    outer[i] = (outer[i] as number) ^ 0x5c;
  }
  inner.set(text, BLOCK_BYTES);
  return hash('sha256', Buffer.concat([outer, hash('sha256', inner, 'buffer')]));
}
