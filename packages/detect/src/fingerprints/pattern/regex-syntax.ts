// Parses the regular expressions of community sets: JavaScript's syntax without flags, without what no linear-time
// engine
// can run. Unsupported syntax is refused, never guessed.

/** Inclusive ranges of UTF-16 code units as written: not sorted, not merged. */
export type Range = readonly [low: number, high: number];

export type RegexNode =
  | { readonly kind: 'characters'; readonly ranges: readonly Range[]; readonly isNegated: boolean }
  | { readonly kind: 'assertion'; readonly assertion: 'start' | 'end' | 'word-edge' | 'no-word-edge' }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'group'; readonly item: RegexNode; readonly isCapture: boolean }
  | RepeatNode;

export interface RepeatNode {
  readonly kind: 'repeat';
  readonly item: RegexNode;
  readonly min: number;
  /** Infinity if unbounded. */
  readonly max: number;
  readonly isLazy: boolean;
}

/** The reason of a refusal; the message is part of the load report. */
export class RegexRefusal extends Error {
  override readonly name = 'RegexRefusal';
}

/** Deeper than any real pattern, and far from the stack limit. */
const MAX_DEPTH = 32;
/** RE2's own limit of a counted repetition. */
const MAX_COUNT = 1000;

const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** ECMA-262 WhiteSpace and LineTerminator. */
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const CLASSES: Readonly<Record<string, readonly Range[]>> = { d: DIGITS, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };
const COUNT = /\{(\d{1,5})(,(\d{0,5}))?\}/y;

/** Parses one pattern; throws RegexRefusal. Time is proportional to its length, stack depth at most 32 levels. */
export function parseRegex(source: string): RegexNode {
  return new Parser(source).parse();
}

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): RegexNode {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw new RegexRefusal('a closing parenthesis has no opening one');
    return node;
  }

  #choice(): RegexNode {
    const items = [this.#sequence()];
    while (this.#take('|')) items.push(this.#sequence());
    return items.length === 1 ? (items[0] as RegexNode) : { kind: 'choice', items };
  }

  #sequence(): RegexNode {
    const items: RegexNode[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#peek())) items.push(this.#repeated(this.#atom()));
    return items.length === 1 ? (items[0] as RegexNode) : { kind: 'sequence', items };
  }

  #repeated(item: RegexNode): RegexNode {
    const bounds = this.#bounds();
    if (bounds === null) return item;
    if (item.kind === 'assertion') throw new RegexRefusal('an assertion is repeated');
    const [min, max] = bounds;
    if (min > max) throw new RegexRefusal('the numbers of a repetition are out of order');
    if (Math.max(min, max === Number.POSITIVE_INFINITY ? 0 : max) > MAX_COUNT) {
      throw new RegexRefusal(`a repetition counts to more than ${MAX_COUNT}`);
    }
    const isLazy = this.#take('?');
    if ('*+?'.includes(this.#peek() || ' ') || this.#bounds() !== null) {
      throw new RegexRefusal('a repetition is repeated');
    }
    return { kind: 'repeat', item, min, max, isLazy };
  }

  #bounds(): readonly [number, number] | null {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    COUNT.lastIndex = this.#at;
    const match = COUNT.exec(this.#source);
    if (!match) return null;
    this.#at = COUNT.lastIndex;
    const min = Number(match[1]);
    if (match[2] === undefined) return [min, min];
    return [min, match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3])];
  }

  #atom(): RegexNode {
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '.':
        return { kind: 'characters', ranges: LINE_ENDS, isNegated: true };
      case '^':
        return { kind: 'assertion', assertion: 'start' };
      case '$':
        return { kind: 'assertion', assertion: 'end' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw new RegexRefusal('a repetition has nothing before it');
      default:
        return single(character.charCodeAt(0));
    }
  }

  #group(): RegexNode {
    if (++this.#depth > MAX_DEPTH) throw new RegexRefusal(`groups are nested more than ${MAX_DEPTH} deep`);
    const isCapture = !this.#take('?');
    if (!isCapture && !this.#take(':')) {
      const mark = this.#source.slice(this.#at, this.#at + 2);
      if (/^[=!]|^<[=!]/.test(mark)) throw new RegexRefusal('a lookaround has no linear-time match');
      throw new RegexRefusal('a group of this kind is not supported');
    }
    const item = this.#choice();
    if (!this.#take(')')) throw new RegexRefusal('a parenthesis is not closed');
    this.#depth -= 1;
    return { kind: 'group', item, isCapture };
  }

  #escape(): RegexNode {
    const letter = this.#peek();
    if (letter === 'b' || letter === 'B') {
      this.#at += 1;
      return { kind: 'assertion', assertion: letter === 'b' ? 'word-edge' : 'no-word-edge' };
    }
    if (/^[1-9]$/.test(letter)) throw new RegexRefusal('a back-reference has no linear-time match');
    return this.#escaped();
  }

  /** The character after a backslash, in a class or outside. */
  #escaped(): Extract<RegexNode, { kind: 'characters' }> {
    const letter = this.#next();
    const ranges = CLASSES[letter.toLowerCase()];
    if (ranges) return { kind: 'characters', ranges, isNegated: letter !== letter.toLowerCase() };
    const control = CONTROLS[letter];
    if (control !== undefined) return single(control);
    if (letter === 'x') return single(this.#hex(2));
    if (letter === 'u') return single(this.#hex(4));
    if (letter === '0' && !/^[0-9]$/.test(this.#peek())) return single(0);
    // Escapes that JavaScript reads as the letter itself are usually mistakes: \h, \e, \p{…}.
    if (/^[A-Za-z0-9]$/.test(letter)) throw new RegexRefusal(`\\${letter} is not supported`);
    return single(letter.charCodeAt(0));
  }

  #hex(digits: number): number {
    const text = this.#source.slice(this.#at, this.#at + digits);
    if (!/^[0-9a-fA-F]+$/.test(text) || text.length < digits) throw new RegexRefusal('an escape is incomplete');
    this.#at += digits;
    return Number.parseInt(text, 16);
  }

  #class(): RegexNode {
    const isNegated = this.#take('^');
    const ranges: Range[] = [];
    while (!this.#take(']')) {
      const low = this.#member();
      if (this.#peek() !== '-' || this.#source.charAt(this.#at + 1) === ']') {
        ranges.push(...low);
        continue;
      }
      this.#at += 1;
      const high = this.#member();
      const [from, to] = [onlyCode(low), onlyCode(high)];
      // `[\w-.]`: next to a class the hyphen is literal.
      if (from === null || to === null) ranges.push(...low, [0x2d, 0x2d], ...high);
      else if (from > to) throw new RegexRefusal('a range of characters is out of order');
      else ranges.push([from, to]);
    }
    return { kind: 'characters', ranges, isNegated };
  }

  #member(): readonly Range[] {
    const character = this.#next();
    if (character !== '\\') return [[character.charCodeAt(0), character.charCodeAt(0)]];
    if (this.#take('b')) return [[0x08, 0x08]];
    const { ranges, isNegated } = this.#escaped();
    return isNegated ? complement(ranges) : ranges;
  }

  #peek(): string {
    return this.#source.charAt(this.#at);
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }

  #next(): string {
    if (this.#at >= this.#source.length) throw new RegexRefusal('the pattern ends too early');
    return this.#source.charAt(this.#at++);
  }
}

function single(code: number): Extract<RegexNode, { kind: 'characters' }> {
  return { kind: 'characters', ranges: [[code, code]], isNegated: false };
}

function onlyCode(ranges: readonly Range[]): number | null {
  const [first] = ranges;
  return ranges.length === 1 && first && first[0] === first[1] ? first[0] : null;
}

/** The complement of the sorted ranges of a class escape. */
function complement(ranges: readonly Range[]): readonly Range[] {
  const complement: Range[] = [];
  let from = 0;
  for (const [low, high] of ranges) {
    if (low > from) complement.push([from, low - 1]);
    from = high + 1;
  }
  return [...complement, [from, 0xffff]];
}
