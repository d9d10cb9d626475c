// Random ids from a pool: requesting a few bytes at a time from the system is slow.
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(8_192);
let at = pool.length;

/** Random bytes, owned by the caller. */
export function randomPart(bytes: number): Uint8Array {
  if (at + bytes > pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  at += bytes;
  // A copy, because the pool is refilled.
  return Uint8Array.prototype.slice.call(pool, at - bytes, at);
}

export function randomText(bytes: number): string {
  return Buffer.from(randomPart(bytes)).toString('base64url');
}

/**
 * 96 random bits after the time, in ids that many rows are stored by: new rows, and those that are deleted, are then in the
 * same few pages of a table.
 */
export const orderedText = (now: Date): string => now.getTime().toString(36) + randomText(12);
