// Seeded random texts of a GBNF grammar: what an engine with this grammar could generate.
import assert from 'node:assert/strict';
import { randomFrom } from '../../../../tests/support/random.ts';

type Write = (depth: number) => string;

/** A literal, a class, the name of a rule, a repetition range, or an operator. */
const TOKEN =
  /"(?<text>(?:\\.|[^"\\])*)"|(?<set>\[(?:\\.|[^\]\\])*\])|(?<rule>[a-z][a-z0-9-]*)|\{(?<min>\d+)(?<open>,)?(?<max>\d*)\}|[()|?*+]/g;
/** The characters that a class is sampled from. */
const CHARACTERS = [...String.fromCharCode(...Array(128).keys()), 'é', '\u2028'];
const SIGNS = { '?': [0, 1], '*': [0, Number.POSITIVE_INFINITY], '+': [1, Number.POSITIVE_INFINITY] } as const;
/** At this depth texts become as short as possible. */
const DEEP = 24;

export function sampleGrammar(grammar: string, count: number): string[] {
  const random = randomFrom(1);
  const below = (bound: number) => Math.floor(random() * bound);
  const rules = new Map<string, Write>();
  const named = new Set(['root']);

  const choice = (tokens: RegExpExecArray[]): Write => {
    const options: Write[][] = [[]];
    for (let next = tokens.shift(); next && next[0] !== ')'; next = tokens.shift()) {
      if (next[0] === '|') options.push([]);
      else options.at(-1)?.push(repeated(item(next, tokens), tokens));
    }
    // At the maximum depth, the last alternative: it contains primitives and ends.
    return (depth) =>
      (options[depth > DEEP ? options.length - 1 : below(options.length)] ?? []).map((each) => each(depth)).join('');
  };

  const item = ({ groups: { text, set, rule } = {} }: RegExpExecArray, tokens: RegExpExecArray[]): Write => {
    if (text !== undefined) return () => unescaped(text);
    if (rule) named.add(rule);
    if (rule) return (depth) => rules.get(rule)?.(depth + 1) ?? '';
    if (!set) return choice(tokens);
    const characters = CHARACTERS.filter((each) => new RegExp(set).test(each));
    return () => characters[below(characters.length)] ?? assert.fail(`nothing is in ${set}`);
  };

  const repeated = (write: Write, tokens: RegExpExecArray[]): Write => {
    const [sign = '', { min, open, max } = {}] = [tokens[0]?.[0], tokens[0]?.groups];
    const range = open ? [Number(min), Number(max || Number.POSITIVE_INFINITY)] : [Number(min), Number(min)];
    const [lowest = 0, highest = 0] = min === undefined ? (SIGNS[sign as keyof typeof SIGNS] ?? []) : range;
    if (min === undefined && !(sign in SIGNS)) return write;
    tokens.shift();
    assert.ok(highest >= lowest, `an empty range in ${grammar}`);
    return (depth) => {
      const times = Math.min(highest, lowest + (depth > DEEP ? 0 : below(3)));
      return Array.from({ length: times }, () => write(depth + 1)).join('');
    };
  };

  for (const line of grammar.trim().split('\n')) {
    const [name = '', text = ''] = line.split(' ::= ');
    assert.equal(text.replaceAll(TOKEN, '').trim(), '', `what is not understood in ${line}`);
    rules.set(name, choice([...text.matchAll(TOKEN)]));
  }
  for (const name of named) assert.ok(rules.has(name), `there is no rule ${name}`);
  return Array.from({ length: count }, () => rules.get('root')?.(0) ?? '');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const unescaped = (text: string) =>
  text.replaceAll(/\\(?:x(..)|(.))/g, (_, hex: string, letter: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPES[letter] ?? letter),
  );
