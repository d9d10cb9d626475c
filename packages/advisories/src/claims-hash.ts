// A short hash of an advisory's claims, to detect changes.
import type { Advisory } from './advisory.ts';

/**
 * FNV-1a over the claims' text with two different seeds: 53 bits. Scores are not included, so their daily changes
 * affect no verdict.
 */
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
