// GBNF, the grammar format of llama.cpp: rules for JSON, literals, and the assembly of a grammar from rules.

const DIGITS = '[0-9]';
const DAY_30 = '("0" [1-9] | [12] [0-9] | "30")';
/** Days that exist in every year: without 29 February. */
const MONTH_AND_DAY = `(("0" [13578] | "1" [02]) "-" (${DAY_30} | "31") | ("0" [469] | "11") "-" ${DAY_30} | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))`;
const TIME = '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z"';
const PRIMITIVES = {
  ws: '" "?',
  hex: '[0-9a-fA-F]',
  // No unpaired surrogates: the text must be valid Unicode.
  char: '[^"\\\\\\x7F\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt] | "\\\\u" ([0-9a-cefA-CEF] hex hex hex | [dD] [0-7] hex hex)',
  string: '"\\"" char* "\\""',
  integer: '"-"? ("0" | [1-9] [0-9]{0,14})',
  number: 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  object: '"{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"',
  array: '"[" ws (value ("," ws value)*)? ws "]"',
} as const;
export type Primitive = keyof typeof PRIMITIVES;

export const FORMATS: Readonly<Record<string, string>> = {
  date: `"\\"" ${DIGITS}{4} "-" ${MONTH_AND_DAY} "\\""`,
  time: `"\\"" ${TIME} "\\""`,
  'date-time': `"\\"" ${DIGITS}{4} "-" ${MONTH_AND_DAY} "T" ${TIME} "\\""`,
  uuid: '"\\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\\""',
};

export function grammarText(root: string, rules: ReadonlyMap<string, string>): string {
  const lines = [`root ::= ${root}`];
  for (const [name, text] of rules) lines.push(`${name} ::= ${text}`);
  for (const [name, text] of Object.entries(PRIMITIVES)) lines.push(`${name} ::= ${text}`);
  return `${lines.join('\n')}\n`;
}

/** Alternatives without duplicates: the parser would explore each duplicate separately. */
export function alternatives(list: readonly string[]): string {
  return `(${[...new Set(list)].join(' | ')})`;
}

/** Alternatives of fixed texts, as a prefix tree: the parser keeps at most one branch per possible next character. */
export function oneOfTexts(texts: readonly string[]): string {
  const write = (group: readonly (readonly string[])[], from: number): string => {
    const [first = []] = group;
    if (group.length === 1) return literal(first.slice(from).join(''));
    let to = from;
    while (group.every((text) => to < text.length && text[to] === first[to])) to += 1;
    const branches = Map.groupBy(group, (text) => text[to] ?? '');
    const inner = `(${Array.from(branches.values(), (each) => write(each, to)).join(' | ')})`;
    return to === from ? inner : `${literal(first.slice(from, to).join(''))} ${inner}`;
  };
  // By code points, so that surrogate pairs are not split.
  return `(${write(
    [...new Set(texts)].map((text) => [...text]),
    0,
  )})`;
}

/** A literal. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `"${escaped}"`;
}
