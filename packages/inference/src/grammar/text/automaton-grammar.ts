// An automaton as rules of a grammar: one rule for each state that several states lead to; the engine follows it with
// a single stack.
import { literal } from '../gbnf.ts';
import type { State } from './automaton.ts';
import { type CharSet, charSet, complement, includes, intersection, normalized } from './char-set.ts';

/** Writes the characters of a set as GBNF; undefined if it writes none of them. */
export type WriteChars = (set: CharSet) => string | undefined;
/** Adds a rule and returns its name. */
export type AddRule = (text: string) => string;
/** The text of a rule may refer to rules that are not written yet. */
export interface RuleNames {
  readonly add: AddRule;
  /** A new name, and the function that writes its rule. */
  reserve(): { readonly name: string; write(text: string): void };
}

/** How deep groups nest within one rule. */
const MAX_NESTING = 12;

/** The GBNF of the texts that an automaton accepts. */
export function automatonGrammar(states: readonly State[], rules: RuleNames, chars: WriteChars): string {
  const uses = states.map(() => 0);
  for (const { next } of states) for (const [, to] of next) uses[to] = (uses[to] ?? 0) + 1;
  uses[0] = Math.max(2, uses[0] ?? 0);
  const names = new Map<number, string>();
  const queue: (() => void)[] = [];
  const refer = (state: number): string => {
    const known = names.get(state);
    if (known) return known;
    const { name, write } = rules.reserve();
    names.set(state, name);
    queue.push(() => write(text(state, 0)));
    return name;
  };
  const text = (state: number, nesting: number): string => {
    const { isAccepting, next } = states[state] ?? { isAccepting: true, next: [] };
    const options = next.flatMap(([set, to]) => {
      const written = chars(set);
      if (written === undefined) return [];
      const target = states[to];
      if (target?.isAccepting && target.next.length === 0) return [written];
      if ((uses[to] ?? 0) > 1 || nesting >= MAX_NESTING) return [`${written} ${refer(to)}`];
      const inner = text(to, nesting + 1);
      return [`${written} ${isGroup(to) ? `(${inner})` : inner}`];
    });
    return [...options, ...(isAccepting ? ['""'] : [])].join(' | ');
  };
  const isGroup = (state: number) => {
    const { isAccepting, next } = states[state] ?? { isAccepting: true, next: [] };
    return isAccepting || next.length !== 1;
  };
  const root = refer(0);
  for (let next = queue.shift(); next; next = queue.shift()) next();
  return root;
}

/** Characters with an escape of one letter, RFC 8259 section 7. */
const LETTERS: readonly (readonly [char: number, letter: string])[] = [
  ...([
    [0x22, '"'],
    [0x5c, '\\'],
    [8, 'b'],
    [9, 't'],
    [10, 'n'],
    [12, 'f'],
    [13, 'r'],
  ] as const),
];
const PLAIN = complement(normalized([0, 0x1f, 0x22, 0x22, 0x5c, 0x5c]));
const ESCAPED = complement(PLAIN);
const OTHER_CONTROLS = normalized([0, 7, 11, 11, 14, 0x1f]);

const written = new WeakMap<CharSet, string | undefined>();

/** Characters within a JSON string, each in its shortest form. */
export function jsonChars(set: CharSet): string | undefined {
  if (!written.has(set)) written.set(set, jsonText(set));
  return written.get(set);
}

function jsonText(set: CharSet): string | undefined {
  const [only = 0] = set;
  if (set.length === 2 && only === set[1] && includes(PLAIN, only)) return classText(set);
  const parts: string[] = [];
  const plain = intersection(set, PLAIN);
  if (plain.length > 0) parts.push(classText(plain));
  if (plain.length > 0 && intersection(complement(set), ESCAPED).length === 0) return `(${parts[0]} | esc)`;
  const letters = LETTERS.filter(([char]) => includes(set, char));
  const escapes = letters.length > 0 ? [classText(charSet(...letters.map(([, letter]) => letter + letter)))] : [];
  const controls = intersection(set, OTHER_CONTROLS);
  for (const [digit, first] of [
    [0, 0],
    [1, 16],
  ] as const) {
    const last = intersection(controls, [first, first + 15]).map((char) => (char % 16).toString(16));
    const digits = last.flatMap((from, i) => (i % 2 === 0 ? hexDigits(from, last[i + 1] ?? from) : []));
    if (digits.length > 0) escapes.push(`"u00${digit}" ${classText(charSet(...digits.map((each) => each + each)))}`);
  }
  if (escapes.length > 0) parts.push(`"\\\\" (${escapes.join(' | ')})`);
  if (parts.length === 0) return undefined;
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(' | ')})`;
}

function hexDigits(from: string, to: string): string[] {
  return [...'0123456789abcdef'].filter((digit) => from <= digit && digit <= to);
}

/** A character class of GBNF. */
export function classText(set: CharSet): string {
  if (set.length === 2 && set[0] === set[1]) return literal(String.fromCodePoint(set[0] ?? 0));
  const outside = complement(set);
  const [sign, ranges] = outside.length < set.length ? ['^', outside] : ['', set];
  let text = '';
  for (let i = 0; i < ranges.length; i += 2) {
    const [from = 0, to = 0] = [ranges[i], ranges[i + 1]];
    text += from === to ? classChar(from) : `${classChar(from)}-${classChar(to)}`;
  }
  return `[${sign}${text}]`;
}

function classChar(char: number): string {
  if ((char >= 48 && char <= 57) || (char >= 65 && char <= 90) || (char >= 97 && char <= 122))
    return String.fromCharCode(char);
  if (char <= 0xff) return `\\x${char.toString(16).padStart(2, '0').toUpperCase()}`;
  return char <= 0xffff
    ? `\\u${char.toString(16).padStart(4, '0').toUpperCase()}`
    : `\\U${char.toString(16).padStart(8, '0').toUpperCase()}`;
}
