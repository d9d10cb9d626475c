// Numbers as terms over their decimal text without an exponent: a term holds every text of each of its values, so that
// intersection and complement of terms are those of the numbers.
import { type CharSet, charSet } from './char-set.ts';
import type { Expression, Expressions, Steps } from './expression.ts';
import { patternExpression } from './pattern-expression.ts';

/** A multiple has so many remainders at most: each is a state. */
const MAX_REMAINDERS = 1_000;

export class NumberTerms {
  readonly #make: Expressions;
  /** Texts without a sign. */
  readonly #positive: Expression;
  /** Every number, and every integer: `1.0` is one. */
  readonly number: Expression;
  readonly integer: Expression;
  /** How numbers with bounds are written in an answer: with as many digits as a double has. */
  readonly written: Expression;
  readonly writtenInteger: Expression;

  constructor(make: Expressions) {
    this.#make = make;
    this.number = patternExpression(make, '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$');
    this.integer = patternExpression(make, '^-?(0|[1-9][0-9]*)(\\.0+)?$');
    this.#positive = patternExpression(make, '^(0|[1-9][0-9]*)(\\.[0-9]+)?$');
    this.written = patternExpression(make, '^-?(0|[1-9][0-9]{0,15})(\\.[0-9]{1,14})?$|e');
    this.writtenInteger = patternExpression(make, '^(0|-?[1-9][0-9]{0,15})$|e');
  }

  /** Numbers from a bound, without the bound if `isExclusive`. */
  from(bound: number, isExclusive: boolean): Expression {
    const make = this.#make;
    if (bound > 0 || (bound === 0 && isExclusive)) return this.#sized(bound, 'above', isExclusive);
    return make.or(this.#positive, this.#minus(this.#sized(bound, 'below', isExclusive)));
  }

  /** Numbers up to a bound, without the bound if `isExclusive`. */
  to(bound: number, isExclusive: boolean): Expression {
    const make = this.#make;
    if (bound < 0 || (bound === 0 && isExclusive)) return this.#minus(this.#sized(bound, 'above', isExclusive));
    return make.or(this.#minus(this.#positive), this.#sized(bound, 'below', isExclusive));
  }

  /** All texts of one value; a value with an exponent also as JSON writes it. */
  value(value: number): Expression {
    const [integral, fraction] = decimalOf(value);
    const digits = fraction === '' ? `${integral}(\\.0+)?` : `${integral}\\.${fraction}0*`;
    const sign = value < 0 ? '-' : value === 0 ? '-?' : '';
    // Reads a pattern.
    this.#make.work.spend(20);
    const all = patternExpression(this.#make, `^${sign}${digits}$`);
    const text = JSON.stringify(value);
    return text.includes('e') ? this.#make.or(all, textExpression(this.#make, [text])) : all;
  }

  /** Multiples, in decimal arithmetic; undefined if there are too many remainders. */
  multiplesOf(divisor: number): Expression | undefined {
    const [integral, fraction] = decimalOf(divisor);
    const all = integral + fraction;
    const digits = withoutFinalZeros(all);
    // Zeros at the end are counted apart where what is left has no common factor with 10.
    const [remainders, end] = /[1379]$/.test(digits) ? [Number(digits), all.length - digits.length] : [Number(all), 0];
    if (!(remainders > 0 && remainders <= MAX_REMAINDERS)) return undefined;
    return this.#make.and(
      this.number,
      this.#make.steps(multiples({ remainders, zeros: end, digits: fraction.length })),
    );
  }

  #minus(of: Expression): Expression {
    return this.#make.cat(this.#make.set(charSet('--')), of);
  }

  /** Texts without a sign whose value is at least, or at most, the absolute value of a bound. */
  #sized(bound: number, side: 'above' | 'below', isExclusive: boolean): Expression {
    const [integral, fraction] = decimalOf(bound);
    const isAbove = side === 'above';
    const length = integral.length;
    const any = '(\\.[0-9]+)?';
    const forms: string[] = [];
    // Another number of digits.
    if (isAbove) forms.push(integral === '0' ? `[1-9][0-9]*${any}` : `[1-9][0-9]{${length},}${any}`);
    else if (length > 1) forms.push(`(0|[1-9][0-9]{0,${length - 2}})${any}`);
    const differs = (digits: string, i: number, lowest: number) => {
      const digit = Number(digits[i]);
      const [from, to] = isAbove ? [digit + 1, 9] : [lowest, digit - 1];
      return from > to ? undefined : `${digits.slice(0, i)}[${from}-${to}]`;
    };
    // The first other digit decides.
    for (let i = 0; i < length; i += 1) {
      const start = integral === '0' ? undefined : differs(integral, i, i === 0 && length > 1 ? 1 : 0);
      if (start !== undefined) forms.push(`${start}[0-9]{${length - i - 1}}${any}`);
    }
    for (let i = 0; i < fraction.length; i += 1) {
      const start = differs(fraction, i, 0);
      if (start !== undefined) forms.push(`${integral}\\.${start}[0-9]*`);
      if (!isAbove) forms.push(i === 0 ? integral : `${integral}\\.${fraction.slice(0, i)}`);
    }
    const equal = fraction === '' ? `${integral}(\\.0+)?` : `${integral}\\.${fraction}0*`;
    if (!isExclusive) forms.push(equal);
    if (isAbove) forms.push(`${integral}\\.${fraction}[0-9]*[1-9][0-9]*`);
    return patternExpression(this.#make, `^(${forms.join('|')})$`);
  }
}

/** The integral part and the fraction of a number's absolute value, without an exponent. */
function decimalOf(value: number): readonly [integral: string, fraction: string] {
  const [, integral = '0', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value)) ?? [];
  const shift = Number(exponent);
  const digits =
    shift < 0
      ? '0'.repeat(-shift) + integral + fraction
      : integral + fraction + '0'.repeat(Math.max(0, shift - fraction.length));
  const point = shift < 0 ? integral.length : integral.length + shift;
  return [digits.slice(0, point).replace(/^0+(?=\d)/, ''), withoutFinalZeros(digits.slice(point))];
}

function withoutFinalZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

const DIGITS: readonly CharSet[] = Array.from({ length: 10 }, (_, digit) => charSet(`${digit}${digit}`));
const SETS: readonly CharSet[] = [...DIGITS, charSet('--'), charSet('..')];

/** The divisor is `remainders` · 10^`zeros` / 10^`digits`. */
interface Multiples {
  readonly remainders: number;
  readonly zeros: number;
  readonly digits: number;
  /** Of the digits read, and how many zeros are at their end: at most `zeros`. */
  readonly remainder?: number;
  readonly trailing?: number;
  /** Digits read after the point; undefined before it. */
  readonly read?: number;
}

/** The automaton of remainders. */
function multiples(state: Multiples): Steps {
  const { remainders, zeros, digits, remainder = 0, trailing = zeros, read } = state;
  let rest = remainder;
  for (let i = read ?? 0; i < digits; i += 1) rest = (rest * 10) % remainders;
  return {
    key: `m${remainders},${zeros},${digits},${remainder},${trailing},${read ?? ''}`,
    isAccepting: rest === 0 && trailing + digits - (read ?? 0) >= zeros,
    sets: SETS,
    step(char) {
      if (char === 45) return multiples(state);
      if (char === 46) return multiples({ ...state, read: 0 });
      const digit = char - 48;
      if (digit < 0 || digit > 9) return undefined;
      if (read !== undefined && read >= digits) return digit === 0 ? multiples(state) : undefined;
      return multiples({
        ...state,
        remainder: (remainder * 10 + digit) % remainders,
        trailing: digit === 0 ? Math.min(zeros, trailing + 1) : 0,
        ...(read === undefined ? {} : { read: read + 1 }),
      });
    },
  };
}

/** Exactly the given texts, as a prefix tree. */
export function textExpression(make: Expressions, texts: readonly string[]): Expression {
  const write = (group: readonly (readonly string[])[], from: number): Expression => {
    const branches = Map.groupBy(group, (text) => text[from] ?? '');
    return make.or(
      ...Array.from(branches, ([char, each]) =>
        char === '' ? make.empty : make.cat(make.set(charSet(char + char)), write(each, from + 1)),
      ),
    );
  };
  return write(
    [...new Set(texts)].map((text) => [...text]),
    0,
  );
}
