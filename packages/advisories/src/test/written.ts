// Ranges of versions as text, so that tests compare lines.
import type { VersionRange } from '../advisory.ts';

/** `[1.0, 2.0)` as mathematics writes it. */
export function written({ from, to }: VersionRange): string {
  const start = from ? `${from.isInclusive ? '[' : '('}${from.version}` : '(';
  return `${start}, ${to ? `${to.version}${to.isInclusive ? ']' : ')'}` : ')'}`;
}
