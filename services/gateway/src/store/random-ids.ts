// Random ids, cut from a pool: asking the system for a few bytes at a time costs more than the rest of an id.
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(8_192);
let at = pool.length;

/** Random bytes; the caller's own. */
export function randomPart(bytes: number): Uint8Array {
  if (at + bytes > pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  at += bytes;
  // A copy: the pool is filled again.
  return Uint8Array.prototype.slice.call(pool, at - bytes, at);
}

/** So many random bytes in base64url. */
export function randomText(bytes: number): string {
  return Buffer.from(randomPart(bytes)).toString('base64url');
}
