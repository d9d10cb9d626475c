// Writes a parsed pattern in RE2 syntax, for a linear-time engine, with JavaScript's semantics: `.`, `\s` and `$`
// differ
// between the two.
import { type Range, type RegexNode, RegexRefusal, type RepeatNode } from './regex-syntax.ts';

/** Maximum instructions of a pattern, counted repetitions expanded: the cost of one character. */
const MAX_SIZE = 2000;

const ASSERTIONS = { start: '\\A', end: '\\z', 'word-edge': '\\b', 'no-word-edge': '\\B' } as const;
const ANY: readonly Range[] = [[0, 0x10ffff]];
const UPPER: Range = [0x41, 0x5a];
const CASE_GAP = 0x20;

/** The source in RE2 syntax. */
export function regexSource(node: RegexNode): string {
  switch (node.kind) {
    case 'characters':
      return charactersSource(node.ranges, node.isNegated);
    case 'assertion':
      return ASSERTIONS[node.assertion];
    case 'sequence':
      return node.items.map(regexSource).join('');
    case 'choice':
      return `(?:${node.items.map(regexSource).join('|')})`;
    case 'group':
      return `(${node.isCapture ? '' : '?:'}${regexSource(node.item)})`;
    case 'repeat':
      return `(?:${regexSource(node.item)})${countSource(node)}`;
    default:
      return node satisfies never;
  }
}

function countSource({ min, max, isLazy }: RepeatNode): string {
  const count = max === Number.POSITIVE_INFINITY ? `{${min},}` : `{${min},${max}}`;
  return isLazy ? `${count}?` : count;
}

function charactersSource(ranges: readonly Range[], isNegated: boolean): string {
  // RE2 has no empty class: nothing is the negation of all.
  if (ranges.length === 0) return classSource(ANY, !isNegated);
  return classSource(ranges.flatMap(inAnyCase), isNegated);
}

/**
 * A range with its letters in the other case. Expanded here, because the engine's own folding matches `ſ` with `s` and the
 * Kelvin sign with `k`, which JavaScript does not. Outside ASCII, only single characters get both cases.
 */
function inAnyCase(range: Range): readonly Range[] {
  const [low, high] = range;
  if (low === high && low > 0x7f) return [range, ...otherCases(low)];
  const cases: Range[] = [range];
  const add = (from: number, to: number, by: number) => {
    const [start, end] = [Math.max(low, from), Math.min(high, to)];
    if (start <= end) cases.push([start + by, end + by]);
  };
  add(UPPER[0], UPPER[1], CASE_GAP);
  add(UPPER[0] + CASE_GAP, UPPER[1] + CASE_GAP, -CASE_GAP);
  return cases;
}

function otherCases(code: number): readonly Range[] {
  const character = String.fromCharCode(code);
  return [character.toLowerCase(), character.toUpperCase()]
    .filter((other) => other.length === 1 && other !== character && other.charCodeAt(0) > 0x7f)
    .map((other) => [other.charCodeAt(0), other.charCodeAt(0)]);
}

function classSource(ranges: readonly Range[], isNegated: boolean): string {
  const [only] = ranges;
  if (!isNegated && ranges.length === 1 && only && only[0] === only[1]) return hex(only[0]);
  return `[${isNegated ? '^' : ''}${ranges.map(([low, high]) => `${hex(low)}-${hex(high)}`).join('')}]`;
}

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

/** Instructions of the pattern, at most 2,000; throws RegexRefusal above that. */
export function regexSize(node: RegexNode): number {
  const size = sizeOf(node);
  if (size > MAX_SIZE) throw new RegexRefusal(`it comes to more than ${MAX_SIZE} steps a character`);
  return size;
}

function sizeOf(node: RegexNode): number {
  switch (node.kind) {
    case 'characters':
    case 'assertion':
      return 1;
    case 'sequence':
    case 'choice':
      return node.items.reduce((sum, item) => sum + sizeOf(item), node.items.length);
    case 'group':
      return sizeOf(node.item) + 2;
    case 'repeat':
      return (sizeOf(node.item) + 1) * Math.max(1, node.max === Number.POSITIVE_INFINITY ? node.min + 1 : node.max);
    default:
      return node satisfies never;
  }
}
