// A short mark of what an advisory claims, to see whether it has changed.
import type { Advisory } from './advisory.ts';

/** FNV-1a, twice with other beginnings, of the claims' text: 53 bits, so that a score that moves every day changes no verdict. */
export function hashOf(claims: Advisory['claims']): number {
  const text = JSON.stringify(claims);
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ (code + i), 0x01000193);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
