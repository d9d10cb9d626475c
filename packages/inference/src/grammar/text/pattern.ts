// Reads the regular expressions of JSON Schema: ECMA-262 with the flag `u` and the literal braces and hyphens of Annex B,
// without back-references, lookbehind and word boundaries. tc39.es/ecma262/#sec-patterns
import {
  type CharSet,
  charSet,
  complement,
  DIGIT,
  LINE_END,
  normalized,
  propertySet,
  SPACE,
  WORD,
} from './char-set.ts';
import { escapedChar, PatternError } from './pattern-escape.ts';

export type Pattern =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence' | 'choice'; readonly list: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly of: Pattern; readonly min: number; readonly max: number }
  | { readonly kind: 'lookahead'; readonly of: Pattern; readonly isNegative: boolean }
  | { readonly kind: 'start' | 'end' };

const MAX_LENGTH = 10_000;
const MAX_DEPTH = 50;
/** Maximum count of a quantifier; the limit on states is usually reached before. */
const MAX_TIMES = 10_000;
const CLASSES: Readonly<Record<string, CharSet>> = {
  ...{ d: DIGIT, D: complement(DIGIT), w: WORD, W: complement(WORD), s: SPACE, S: complement(SPACE) },
};

/** Throws PatternError. */
export function readPattern(source: string): Pattern {
  if (source.length > MAX_LENGTH) throw new PatternError(`is longer than ${MAX_LENGTH} characters`);
  const reader = new PatternReader([...source]);
  return reader.read();
}

class PatternReader {
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(chars: readonly string[]) {
    this.#chars = chars;
  }

  read(): Pattern {
    const pattern = this.#choice();
    if (this.#at < this.#chars.length) throw new PatternError('has a `)` without `(`');
    return pattern;
  }

  #choice(): Pattern {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new PatternError(`nests deeper than ${MAX_DEPTH}`);
    const list: Pattern[] = [];
    do list.push(this.#sequence());
    while (this.#skip('|'));
    this.#depth -= 1;
    const [only] = list;
    return only && list.length === 1 ? only : { kind: 'choice', list };
  }

  #sequence(): Pattern {
    const list: Pattern[] = [];
    while (this.#at < this.#chars.length && !this.#isNext('|') && !this.#isNext(')'))
      list.push(this.#quantified(this.#atom()));
    return { kind: 'sequence', list };
  }

  #atom(): Pattern {
    const char = this.#take();
    switch (char) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      case '.':
        return { kind: 'set', set: complement(LINE_END) };
      case '(':
        return this.#group();
      case '[':
        return { kind: 'set', set: this.#class() };
      case '\\':
        return { kind: 'set', set: this.#escape() };
      case '*':
      case '+':
      case '?':
        throw new PatternError('has a quantifier without an operand');
      default:
        return { kind: 'set', set: charSet(char + char) };
    }
  }

  #group(): Pattern {
    let isNegative: boolean | undefined;
    if (this.#skip('?')) {
      const kind = this.#take();
      if (kind === '=' || kind === '!') isNegative = kind === '!';
      else if (kind === '<') {
        if (this.#isNext('=') || this.#isNext('!')) throw new PatternError('uses lookbehind');
        while (this.#take() !== '>');
      } else if (kind !== ':') throw new PatternError(`uses the group \`(?${kind}\``);
    }
    const of = this.#choice();
    if (!this.#skip(')')) throw new PatternError('has a `(` without `)`');
    return isNegative === undefined ? of : { kind: 'lookahead', of, isNegative };
  }

  #quantified(of: Pattern): Pattern {
    const times = this.#times();
    if (!times) return of;
    const [min, max] = times;
    // A lazy quantifier matches the same texts.
    this.#skip('?');
    if (min === 1 && max === 1) return of;
    return { kind: 'repeat', of, min, max };
  }

  #times(): readonly [number, number] | undefined {
    if (this.#skip('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#skip('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#skip('?')) return [0, 1];
    if (!this.#isNext('{')) return undefined;
    const [all, low, comma, high] =
      /^\{(\d{1,6})(,?)(\d{0,6})\}/.exec(this.#chars.slice(this.#at, this.#at + 16).join('')) ?? [];
    // As in ECMA-262 B.1.2: a brace that starts no quantifier is a character.
    if (all === undefined) return undefined;
    this.#at += all.length;
    const min = Number(low);
    const max = comma ? (high ? Number(high) : Number.POSITIVE_INFINITY) : min;
    if (max < min) throw new PatternError('has an empty quantifier');
    if (min > MAX_TIMES || (max > MAX_TIMES && comma && high))
      throw new PatternError(`repeats more than ${MAX_TIMES} times`);
    return [min, max];
  }

  #class(): CharSet {
    const isNegated = this.#skip('^');
    const ranges: number[] = [];
    while (!this.#skip(']')) {
      const from = this.#classAtom();
      const isRange =
        this.#isNext('-') && this.#chars[this.#at + 1] !== ']' && from.length === 2 && from[0] === from[1];
      if (!isRange) {
        ranges.push(...from);
        continue;
      }
      this.#at += 1;
      const to = this.#classAtom();
      // A class cannot end a range: the hyphen is a character (ECMA-262 B.1.2).
      if (to.length !== 2 || to[0] !== to[1]) ranges.push(...from, 45, 45, ...to);
      else if ((to[0] ?? 0) < (from[0] ?? 0)) throw new PatternError('has an empty range of characters');
      else ranges.push(from[0] ?? 0, to[0] ?? 0);
    }
    return isNegated ? complement(normalized(ranges)) : normalized(ranges);
  }

  #classAtom(): CharSet {
    const char = this.#take();
    if (char === '\\') return this.#skip('b') ? [8, 8] : this.#escape();
    const code = char.codePointAt(0) ?? 0;
    return [code, code];
  }

  #escape(): CharSet {
    const letter = this.#take();
    if (Object.hasOwn(CLASSES, letter)) return CLASSES[letter] ?? [];
    if (letter === 'b' || letter === 'B') throw new PatternError('uses a word boundary');
    if (/[1-9k]/.test(letter)) throw new PatternError('uses a back-reference');
    if (letter === 'p' || letter === 'P') {
      const [all = '', name = ''] = /^\{([^}]*)\}/.exec(this.#chars.slice(this.#at, this.#at + 80).join('')) ?? [];
      const set = propertySet(name);
      if (set === undefined) throw new PatternError('uses an unknown Unicode property');
      this.#at += all.length;
      return letter === 'p' ? set : complement(set);
    }
    const { char, length } = escapedChar(letter, this.#chars.slice(this.#at, this.#at + 12).join(''));
    this.#at += length;
    return [char, char];
  }

  #isNext(char: string): boolean {
    return this.#chars[this.#at] === char;
  }

  #skip(char: string): boolean {
    if (!this.#isNext(char)) return false;
    this.#at += 1;
    return true;
  }

  #take(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw new PatternError('ends too early');
    this.#at += 1;
    return char;
  }
}

/** Whether a pattern has anchors or lookahead, so that what it matches depends on the text around. */
export function hasAssertion(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'set':
      return false;
    case 'sequence':
    case 'choice':
      return pattern.list.some(hasAssertion);
    case 'repeat':
      return hasAssertion(pattern.of);
    default:
      return true;
  }
}
