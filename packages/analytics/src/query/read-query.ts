// Reads the text of a query: a recursive descent over the grammar of docs/query-language.md.
import { type Query, QueryError, type QueryNames, type QueryValue } from './query.ts';
import { BARE, type Field, fieldOf } from './query-fields.ts';

/** UTF-16 units. */
export const MAX_QUERY = 2_000;
export const MAX_TERMS = 64;
export const MAX_NESTING = 16;
/** Terms that visit every domain: parts of names and times. Each takes up to 40 ms at a million domains. */
export const MAX_SEARCHES = 8;

/** Throws QueryError. */
export function readQuery(text: string, names: QueryNames): Query {
  if (text.length > MAX_QUERY) throw new QueryError(`the query has more than ${MAX_QUERY} characters`, MAX_QUERY);
  return new QueryReader(text, names).read();
}

class QueryReader {
  readonly #text: string;
  readonly #names: QueryNames;
  #at = 0;
  #terms = 0;
  #searches = 0;
  #depth = 0;

  constructor(text: string, names: QueryNames) {
    this.#text = text;
    this.#names = names;
  }

  read(): Query {
    const query = this.#or();
    if (this.#skipBlanks() < this.#text.length) this.#refuseCharacter();
    return query;
  }

  /** In the parentheses of `field:(…)` every value is one of the field. */
  #or(field?: Field): Query {
    const of = [this.#and(field)];
    while (this.#takes(/OR(?=[\s()"]|$)/y)) of.push(this.#and(field));
    return combined('or', of);
  }

  #and(field?: Field): Query {
    const of = [this.#not(field)];
    while (this.#takes(/AND(?=[\s()"]|$)/y) || this.#hasNext()) of.push(this.#not(field));
    return combined('and', of);
  }

  #not(field?: Field): Query {
    let isNegated = false;
    while (this.#takes(/NOT(?=[\s()"]|$)|-(?=[^\s)])/y)) isNegated = !isNegated;
    const of = this.#operand(field);
    return isNegated ? { kind: 'not', of } : of;
  }

  #operand(field?: Field): Query {
    const start = this.#skipBlanks();
    if (this.#takes(/\(/y)) return this.#group(start, field);
    const name = field ? undefined : this.#match(/([A-Za-z][\w-]*):/y)?.[1];
    if (name === undefined) return this.#value(field ?? BARE);
    const named = fieldOf(name, start, this.#names);
    const valueStart = this.#skipBlanks();
    return this.#takes(/\(/y) ? this.#group(valueStart, named) : this.#value(named);
  }

  #group(start: number, field?: Field): Query {
    this.#depth += 1;
    if (this.#depth > MAX_NESTING) throw new QueryError(`more than ${MAX_NESTING} nested parentheses`, start);
    const query = this.#or(field);
    this.#depth -= 1;
    if (this.#takes(/\)/y)) return query;
    if (this.#at < this.#text.length) this.#refuseCharacter();
    throw new QueryError('this parenthesis is not closed', start);
  }

  #value(field: Field): Query {
    const start = this.#skipBlanks();
    this.#terms += 1;
    if (this.#terms > MAX_TERMS) throw new QueryError(`more than ${MAX_TERMS} terms`, start);
    const query = field.read({ ...this.#valueAt(start, field), start }, this.#names);
    if (query.kind === 'time' || (query.kind === 'name' && query.at !== 'exact')) this.#searches += 1;
    if (this.#searches > MAX_SEARCHES)
      throw new QueryError(`more than ${MAX_SEARCHES} terms with a part of a name or a time`, start);
    return query;
  }

  #valueAt(start: number, field: Field): Omit<QueryValue, 'start'> {
    const quoted = this.#match(/"((?:[^"\\]|\\.)*)"/sy);
    if (quoted) return { text: (quoted[1] as string).replaceAll(/\\(.)/gs, '$1'), isQuoted: true };
    if (this.#text[start] === '"') throw new QueryError('this quotation mark is not closed', start);
    const range = this.#match(/\[\s*([^\s\]]+)\s+TO\s+([^\s\]]+)\s*\]/y);
    if (range) return { text: range[0], isQuoted: false, ends: [range[1] as string, range[2] as string] };
    if (this.#text[start] === '[') throw new QueryError('a range has the form [60 TO 80]', start);
    const word = this.#match(/[^\s()"[\]]+/y)?.[0];
    if (word !== undefined && !OPERATORS.has(word)) {
      if (field === BARE && OPERATORS.has(word.toUpperCase()))
        throw new QueryError(`write ${word.toUpperCase()} for the operator, "${word}" for a part of the name`, start);
      return { text: word, isQuoted: false };
    }
    const expected = field === BARE ? 'a condition' : `a value of ${field.name}`;
    if (word === undefined && start < this.#text.length && this.#text[start] !== ')') this.#refuseCharacter();
    throw new QueryError(`expected ${expected}${word === undefined ? '' : `, not ${word}`}`, start);
  }

  /** Whether another operand follows without an operator: adjacent terms are combined by AND. */
  #hasNext(): boolean {
    const rest = this.#skipBlanks();
    return rest < this.#text.length && this.#text[rest] !== ')' && !this.#sees(/OR(?=[\s()"]|$)/y);
  }

  #refuseCharacter(): never {
    throw new QueryError(`unexpected ${String.fromCodePoint(this.#text.codePointAt(this.#at) as number)}`, this.#at);
  }

  #skipBlanks(): number {
    this.#match(/\s+/y);
    return this.#at;
  }

  /** After blanks. */
  #takes(token: RegExp): boolean {
    this.#skipBlanks();
    return this.#match(token) !== null;
  }

  #sees(token: RegExp): boolean {
    const at = this.#at;
    const isThere = this.#match(token) !== null;
    this.#at = at;
    return isThere;
  }

  /** A sticky pattern at the current position, which moves behind it. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match;
  }
}

const OPERATORS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT']);

function combined(kind: 'and' | 'or', of: readonly Query[]): Query {
  return of.length === 1 ? (of[0] as Query) : { kind, of };
}
