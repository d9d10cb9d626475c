// Sets of Unicode code points as sorted, disjoint ranges: [from, to, from, to, …], both ends included.

export type CharSet = readonly number[];

const LAST = 0x10ffff;
/** Every code point that text can have; surrogates are not characters. */
export const ANY_CHAR: CharSet = [0, 0xd7ff, 0xe000, LAST];
export const DIGIT = charSet('09');
export const WORD = charSet('09', 'AZ', '__', 'az');
/** White space and line terminators of ECMA-262. */
export const SPACE = normalized(
  [9, 13, 32, 32, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029].concat([
    0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
  ]),
);
export const LINE_END: CharSet = [10, 10, 13, 13, 0x2028, 0x2029];

/** The set of ranges, each written as its two ends: `charSet('az', '__')`. */
export function charSet(...ranges: readonly string[]): CharSet {
  const [only = ''] = ranges;
  if (ranges.length === 1 && only.length === 2 && only < '\x7f\x7f') return [only.charCodeAt(0), only.charCodeAt(1)];
  return normalized(ranges.flatMap((range) => Array.from(range, (each) => each.codePointAt(0) ?? 0)));
}

/** Sorts and joins ranges, and removes surrogates. */
export function normalized(ranges: readonly number[]): CharSet {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0]);
  pairs.sort(([a], [b]) => a - b);
  const joined: number[] = [];
  for (const [from, to] of pairs) {
    const last = joined.length - 1;
    if (last > 0 && from <= (joined[last] ?? 0) + 1) joined[last] = Math.max(joined[last] ?? 0, to);
    else joined.push(from, to);
  }
  return intersection(joined, ANY_CHAR);
}

export function union(a: CharSet, b: CharSet): CharSet {
  return normalized([...a, ...b]);
}

export function complement(set: CharSet): CharSet {
  const rest: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] ?? 0) > next) rest.push(next, (set[i] ?? 0) - 1);
    next = (set[i + 1] ?? 0) + 1;
  }
  if (next <= LAST) rest.push(next, LAST);
  return intersection(rest, ANY_CHAR);
}

export function intersection(a: CharSet, b: CharSet): CharSet {
  const both: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const from = Math.max(a[i] ?? 0, b[j] ?? 0);
    const [endA = 0, endB = 0] = [a[i + 1], b[j + 1]];
    if (from <= Math.min(endA, endB)) both.push(from, Math.min(endA, endB));
    if (endA < endB) i += 2;
    else j += 2;
  }
  return both;
}

export function includes(set: CharSet, char: number): boolean {
  let [low, high] = [0, set.length / 2 - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (char < (set[2 * middle] ?? 0)) high = middle - 1;
    else if (char > (set[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** The coarsest partition of all characters of which every given set is a union. */
export function partition(sets: readonly CharSet[]): readonly CharSet[] {
  const distinct = [...new Set(sets)];
  const [only] = distinct;
  if (only === undefined) return [ANY_CHAR];
  if (distinct.length === 1) return [only, complement(only)].filter((set) => set.length > 0);
  const cuts = new Set<number>(ANY_CHAR.map((char, i) => (i % 2 === 0 ? char : char + 1)));
  for (const set of distinct) for (let i = 0; i < set.length; i += 2) cuts.add(set[i] ?? 0).add((set[i + 1] ?? 0) + 1);
  const from = [...cuts].sort((a, b) => a - b);
  const classes = new Map<string, number[]>();
  const positions = distinct.map(() => 0);
  from.forEach((start, i) => {
    if (start > LAST || start === 0xd800) return;
    let signature = '';
    for (let s = 0; s < distinct.length; s += 1) {
      const set = distinct[s] ?? [];
      let at = positions[s] ?? 0;
      while (at < set.length && (set[at + 1] ?? 0) < start) at += 2;
      positions[s] = at;
      signature += at < set.length && (set[at] ?? 0) <= start ? '1' : '0';
    }
    const end = (from[i + 1] ?? LAST + 1) - 1;
    const known = classes.get(signature);
    if (known === undefined) classes.set(signature, [start, end]);
    else if (known.at(-1) === start - 1) known[known.length - 1] = end;
    else known.push(start, end);
  });
  return [...classes.values()];
}

const properties = new Map<string, CharSet>();
/** At most so many Unicode properties are kept; there are a few hundred. */
const MAX_PROPERTIES = 64;

/** The characters of a Unicode property, as in `\p{…}`; undefined if there is no such property. */
export function propertySet(name: string): CharSet | undefined {
  const known = properties.get(name);
  if (known) return known;
  if (!/^[\w=]{1,60}$/.test(name)) return undefined;
  let expression: RegExp;
  try {
    expression = new RegExp(`\\p{${name}}+`, 'gu');
  } catch {
    return undefined;
  }
  const ranges: number[] = [];
  // One text for each block, so that the matches' positions are code points.
  for (let base = 0; base <= LAST; base += 0x10000) {
    if (base > 0x30000 && base < 0xe0000) continue;
    const width = base === 0 ? 1 : 2;
    const text = textOf(base);
    for (const { 0: match, index } of text.matchAll(expression))
      ranges.push(base + index / width, base + (index + match.length) / width - 1);
  }
  const set = normalized(ranges);
  if (properties.size < MAX_PROPERTIES) properties.set(name, set);
  return set;
}

const texts = new Map<number, string>();

/** All characters of a block of 65,536. */
function textOf(base: number): string {
  const known = texts.get(base);
  if (known) return known;
  const parts: string[] = [];
  for (let from = base; from < base + 0x10000; from += 0x1000)
    parts.push(
      String.fromCodePoint(...Array.from({ length: 0x1000 }, (_, i) => (isSurrogate(from + i) ? 0 : from + i))),
    );
  texts.set(base, parts.join(''));
  return parts.join('');
}

const isSurrogate = (char: number) => char >= 0xd800 && char <= 0xdfff;
