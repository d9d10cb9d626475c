// GBNF, the grammar format of llama.cpp: rules for JSON, literals, and the assembly of a grammar from rules.

const PRIMITIVES = {
  ws: '" "?',
  hex: '[0-9a-fA-F]',
  // No unpaired surrogates: the text must be valid Unicode.
  char: '[^"\\\\\\x7F\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt] | "\\\\u" ([0-9a-cefA-CEF] hex hex hex | [dD] [0-7] hex hex)',
  /** Escapes of the characters that need one. */
  esc: '"\\\\" (["\\\\bfnrt] | "u00" ("0" [0-7bBeEfF] | "1" hex))',
  string: '"\\"" char* "\\""',
  integer: '"-"? ("0" | [1-9] [0-9]{0,14})',
  number: 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  object: '"{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"',
  array: '"[" ws (value ("," ws value)*)? ws "]"',
} as const;
export function grammarText(root: string, rules: ReadonlyMap<string, string>): string {
  const lines = [`root ::= ${root}`];
  for (const [name, text] of rules) lines.push(`${name} ::= ${text}`);
  for (const [name, text] of Object.entries(PRIMITIVES)) lines.push(`${name} ::= ${text}`);
  return `${lines.join('\n')}\n`;
}

export function literal(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `"${escaped}"`;
}
