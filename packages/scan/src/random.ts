// Random numbers that nobody can foresee, drawn in batches: one system call a thousand of them.
import { getRandomValues } from 'node:crypto';

const drawn = new Uint16Array(1_024);
let next = drawn.length;

/** Sixteen random bits. */
export function random16(): number {
  if (next === drawn.length) {
    getRandomValues(drawn);
    next = 0;
  }
  return drawn[next++] ?? 0;
}
