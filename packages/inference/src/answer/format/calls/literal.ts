// Reads literals of other notations (Python, and one of Gemma) as JSON text.
import type { Cursor, Reading } from '../cursor.ts';
import { Marks } from '../marks.ts';

export interface LiteralOptions {
  /** What opens and closes a string. */
  readonly quotes: readonly string[];
}

const MAX_DEPTH = 64;
const LITERALS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};
const BARE_ENDS = new Marks([',', '}', ']', ')']);

/** The JSON text of the literal at the cursor; undefined if it has no end. Text without quotes is a string. */
export function* readLiteral(cursor: Cursor, options: LiteralOptions, depth = 0): Reading<string | undefined> {
  yield* cursor.passSpace();
  const next = yield* cursor.peek();
  if (next === '' || depth > MAX_DEPTH) return undefined;
  for (const quote of options.quotes) if (yield* cursor.pass(quote)) return yield* readText(cursor, quote);
  if (next === '[') return yield* readItems(cursor, { ...options, end: ']' }, depth);
  if (next === '(') return yield* readItems(cursor, { ...options, end: ')' }, depth);
  if (next === '{') return yield* readMembers(cursor, options, depth);
  const from = cursor.at;
  yield* cursor.until(BARE_ENDS);
  return literalJson(cursor.slice(from).trim());
}

function* readItems(cursor: Cursor, options: LiteralOptions & { readonly end: string }, depth: number) {
  const items: string[] = [];
  cursor.at += 1;
  for (;;) {
    yield* cursor.passSpace();
    if (yield* cursor.pass(options.end)) return `[${items.join(',')}]`;
    if (items.length > 0 && !(yield* cursor.pass(','))) return undefined;
    yield* cursor.passSpace();
    if (yield* cursor.pass(options.end)) return `[${items.join(',')}]`;
    const item: string | undefined = yield* readLiteral(cursor, options, depth + 1);
    if (item === undefined) return undefined;
    items.push(item);
  }
}

function* readMembers(cursor: Cursor, options: LiteralOptions, depth: number): Reading<string | undefined> {
  const members: string[] = [];
  cursor.at += 1;
  for (;;) {
    yield* cursor.passSpace();
    if (yield* cursor.pass('}')) return `{${members.join(',')}}`;
    if (members.length > 0 && !(yield* cursor.pass(','))) return undefined;
    const name: string | undefined = yield* readName(cursor, options);
    if (name === undefined) {
      if (yield* cursor.pass('}')) return `{${members.join(',')}}`;
      return undefined;
    }
    const value: string | undefined = yield* readLiteral(cursor, options, depth + 1);
    if (value === undefined) return undefined;
    members.push(`${JSON.stringify(name)}:${value}`);
  }
}

const NAME_ENDS = new Marks([':', ',', '}', '\n']);

/** The name of a member, with or without quotes, and its colon. */
export function* readName(cursor: Cursor, { quotes }: LiteralOptions): Reading<string | undefined> {
  yield* cursor.passSpace();
  for (const quote of quotes) {
    if (!(yield* cursor.pass(quote))) continue;
    const name = yield* readText(cursor, quote);
    yield* cursor.passSpace();
    return (yield* cursor.pass(':')) && name !== undefined ? (JSON.parse(name) as string) : undefined;
  }
  const from = cursor.at;
  if ((yield* cursor.until(NAME_ENDS)) !== ':') return undefined;
  const name = cursor.slice(from).trim();
  cursor.at += 1;
  return name === '' ? undefined : name;
}

/** Emits the JSON text of the literal at the cursor, of a string as it arrives; false, and no end, if it has none. */
export function* streamLiteral(
  cursor: Cursor,
  options: LiteralOptions,
  emit: (json: string) => void,
): Reading<boolean> {
  yield* cursor.passSpace();
  for (const quote of options.quotes) {
    if (!(yield* cursor.pass(quote))) continue;
    cursor.keptFrom = undefined;
    emit('"');
    const isClosed = yield* readQuoted(cursor, quote, (text) => emit(JSON.stringify(text).slice(1, -1)));
    if (isClosed) emit('"');
    return isClosed;
  }
  const value = yield* readLiteral(cursor, options);
  if (value !== undefined) emit(value);
  return value !== undefined;
}

function* readText(cursor: Cursor, quote: string): Reading<string | undefined> {
  let text = '';
  const isClosed = yield* readQuoted(cursor, quote, (piece) => {
    text += piece;
  });
  return isClosed ? JSON.stringify(text) : undefined;
}

/** False without a closing quote. Only the quotes of Python have escapes, the triple ones too. */
function* readQuoted(cursor: Cursor, quote: string, emit: (text: string) => void): Reading<boolean> {
  const hasEscapes = /^["']+$/.test(quote);
  const ends = new Marks(hasEscapes ? [quote, '\\'] : [quote]);
  const onText = (from: number, to: number) => emit(cursor.slice(from, to));
  for (;;) {
    const mark = yield* cursor.until(ends, { onText });
    if (mark === undefined) return false;
    cursor.at += mark.length;
    if (mark === quote) return true;
    emit(yield* readEscape(cursor));
  }
}

/** After the backslash. One without a meaning is kept. */
function* readEscape(cursor: Cursor): Reading<string> {
  const letter = yield* cursor.peek();
  const digits = letter === 'u' ? 4 : letter === 'x' ? 2 : 0;
  if (digits > 0) {
    const from = cursor.at;
    cursor.at += 1;
    while (cursor.at - from <= digits && /[0-9a-fA-F]/.test(yield* cursor.peek())) cursor.at += 1;
    if (cursor.at - from === digits + 1) return String.fromCharCode(Number.parseInt(cursor.slice(from + 1), 16));
    return `\\${cursor.slice(from)}`;
  }
  cursor.at += letter.length;
  return ESCAPES[letter] ?? `\\${letter}`;
}

/** A word or number; anything else is a string. */
export function literalJson(text: string): string {
  const word = LITERALS[text] ?? text;
  if (word === 'true' || word === 'false' || word === 'null') return word;
  return numberJson(text) ?? JSON.stringify(text);
}

/** As JSON writes the number: without leading zeros and plus. */
export function numberJson(text: string): string | undefined {
  const [, sign, number = ''] = /^([-+]?)(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$/.exec(text) ?? [];
  return number === '' ? undefined : (sign === '-' ? '-' : '') + number.replace(/^0+(?=\d)/, '');
}
