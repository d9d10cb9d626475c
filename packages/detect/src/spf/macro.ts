// SPF macros (RFC 7208 §7): checked where a record is parsed, expanded where one is evaluated.

type Letter = 's' | 'l' | 'o' | 'd' | 'i' | 'p' | 'v' | 'h' | 'c' | 'r' | 't';

/** What each letter stands for in one check; `p` costs look-ups, so it is asked for only where it occurs. */
export type MacroValues = Readonly<Record<Exclude<Letter, 'p'>, string>> & { readonly p: () => string };

interface Macro {
  readonly letter: Letter;
  /** Right-most parts to keep; 0 keeps all. */
  readonly keep: number;
  readonly isReversed: boolean;
  readonly delimiters: string;
  /** An upper-case letter: the value is URL-escaped. */
  readonly isEscaped: boolean;
}

export type MacroString = readonly (string | Macro)[];

/** §7.2: these letters are for explanations only. */
const EXPLANATION_LETTERS: ReadonlySet<string> = new Set(['c', 'r', 't']);
const MACRO = /%(?:\{([slodipvhcrt])(\d*)(r?)([.\-+,/_=]*)\}|([%_-]))/iy;
const ESCAPES: Readonly<Record<string, string>> = { '%': '%', _: ' ', '-': '%20' };
/** §7.1 macro-literal: visible ASCII but `%`. */
const LITERAL = /^[\x21-\x24\x26-\x7e]*$/;
/** Explanations are sentences, with blanks between. */
const EXPLANATION_LITERAL = /^[\x20-\x24\x26-\x7e]*$/;
/** §12 toplabel, after its dot and before an optional last one. */
const TOP_LABEL = /\.(?:[a-z0-9]*[a-z][a-z0-9]*|[a-z0-9]+-[a-z0-9-]*[a-z0-9])\.?$/i;
/** RFC 1035 §2.3.4: the longest name. */
const MAX_NAME_LENGTH = 253;

/** Parses a macro-string, null where its syntax is wrong. */
export function parseMacroString(text: string): MacroString | null {
  return parse(text, { isExplanation: false });
}

/** Parses the text that `exp=` leads to, null where its syntax is wrong. */
export function parseExplanation(text: string): MacroString | null {
  return parse(text, { isExplanation: true });
}

/** §7.1: a domain-spec ends in a macro or in a dot and a top label; what a macro gives is not looked into. */
export function parseDomainSpec(text: string): MacroString | null {
  const parts = parseMacroString(text);
  const last = parts?.at(-1);
  if (parts === null || last === undefined) return null;
  const endsInMacro = typeof last !== 'string' || /%[%_-]$/.test(text);
  return endsInMacro || TOP_LABEL.test(lastLabel(text)) ? parts : null;
}

/** From its dot on, with an optional dot after it; of more than a name's length the end alone, so that the look at it is bounded. */
function lastLabel(text: string): string {
  const end = text.slice(-MAX_NAME_LENGTH);
  return end.slice(Math.max(0, end.lastIndexOf('.', end.length - 2)));
}

export const hasMacro = (text: string): boolean => text.includes('%');

export function expand(parts: MacroString, values: MacroValues): string {
  return parts.map((part) => (typeof part === 'string' ? part : expandOne(part, values))).join('');
}

/** The name that a domain-spec asks for: lower case, without the last dot, cut from the left to 253 characters (§7.3). */
export function expandDomain(parts: MacroString, values: MacroValues): string {
  let name = expand(parts, values).toLowerCase().replace(/\.$/, '');
  while (name.length > MAX_NAME_LENGTH) {
    const dot = name.indexOf('.');
    if (dot === -1) return name.slice(-MAX_NAME_LENGTH);
    name = name.slice(dot + 1);
  }
  return name;
}

function parse(text: string, { isExplanation }: { readonly isExplanation: boolean }): MacroString | null {
  const literal = isExplanation ? EXPLANATION_LITERAL : LITERAL;
  if (text !== '' && !hasMacro(text)) return literal.test(text) ? [text] : null;
  const parts: (string | Macro)[] = [];
  for (let at = 0; at < text.length; ) {
    const percent = text.indexOf('%', at);
    const plain = text.slice(at, percent === -1 ? undefined : percent);
    if (!literal.test(plain)) return null;
    if (plain !== '') parts.push(plain);
    if (percent === -1) break;
    MACRO.lastIndex = percent;
    const found = MACRO.exec(text);
    if (!found) return null;
    at = MACRO.lastIndex;
    const [, name, digits = '', reversal, delimiters = '', sign] = found;
    if (sign !== undefined) {
      parts.push(ESCAPES[sign] ?? '');
      continue;
    }
    const letter = (name ?? '').toLowerCase() as Letter;
    // §7.3: the number of parts to keep is at least one.
    if ((digits !== '' && Number(digits) === 0) || (!isExplanation && EXPLANATION_LETTERS.has(letter))) return null;
    parts.push({ letter, keep: Number(digits), isReversed: reversal !== '', delimiters, isEscaped: name !== letter });
  }
  return parts;
}

function expandOne({ letter, keep, isReversed, delimiters, isEscaped }: Macro, values: MacroValues): string {
  const value = letter === 'p' ? values.p() : values[letter];
  const pieces = splitAt(value, delimiters === '' ? '.' : delimiters);
  if (isReversed) pieces.reverse();
  const text = (keep === 0 ? pieces : pieces.slice(-keep)).join('.');
  return isEscaped ? escapeUrl(text) : text;
}

function splitAt(text: string, delimiters: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (!delimiters.includes(text[i] as string)) continue;
    pieces.push(text.slice(start, i));
    start = i + 1;
  }
  return [...pieces, text.slice(start)];
}

/** RFC 3986 §2.3: everything but the unreserved characters, more than `encodeURIComponent` escapes. */
function escapeUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
