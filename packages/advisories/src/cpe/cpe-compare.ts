// How two values of a CPE attribute stand to each other (NISTIR 7696 §6.2, table 6-2).
import type { CpeValue } from './cpe-value.ts';

/** `undefined`: the specification leaves it open, as where both have wildcards. */
export type CpeRelation = 'equal' | 'superset' | 'subset' | 'disjoint' | 'undefined';

/** What the source is to the target. */
export function compareCpeValues(source: CpeValue, target: CpeValue): CpeRelation {
  if (hasWildcard(target)) return 'undefined';
  if (source.kind === 'any') return target.kind === 'any' ? 'equal' : 'superset';
  if (target.kind === 'any') return 'subset';
  if (source.kind === 'na' || target.kind === 'na') return source.kind === target.kind ? 'equal' : 'disjoint';
  if (!hasWildcard(source)) return source.text === target.text ? 'equal' : 'disjoint';
  return fits(source, target.text) ? 'superset' : 'disjoint';
}

function hasWildcard(value: CpeValue): boolean {
  return value.kind === 'text' && value.before + value.after !== '';
}

/** Whether the pattern's text stands in the other with no more around it than the wildcards allow. */
function fits(pattern: CpeValue & { kind: 'text' }, text: string): boolean {
  const max = (wildcards: string) => (wildcards === '*' ? text.length : wildcards.length);
  const rest = text.length - pattern.text.length;
  for (let at = text.indexOf(pattern.text); at >= 0; at = text.indexOf(pattern.text, at + 1)) {
    if (at <= max(pattern.before) && rest - at <= max(pattern.after)) return true;
  }
  return false;
}
