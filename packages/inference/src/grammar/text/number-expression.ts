// Numbers as terms over their decimal text without an exponent: a term holds every text of each of its values, so that
// intersection and complement of terms are those of the numbers.
import { type CharSet, charSet } from './char-set.ts';
import type { Expression, Expressions, Steps } from './expression.ts';
import { patternExpression } from './pattern-expression.ts';

/** A multiple has so many remainders at most: each is a state. */
const MAX_REMAINDERS = 1_500;

export class NumberTerms {
  readonly #make: Expressions;
  /** Every number, and every integer: `1.0` is one. */
  readonly number: Expression;
  readonly integer: Expression;
  /** How numbers are written in an answer: at most 16 digits, so that each stays what it is as a double. */
  readonly written: Expression;
  readonly writtenInteger: Expression;

  constructor(make: Expressions) {
    this.#make = make;
    this.number = patternExpression(make, '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$');
    this.integer = patternExpression(make, '^-?(0|[1-9][0-9]*)(\\.0+)?$');
    const short = patternExpression(make, '^(-.{1,16}|[^-].{0,15}|.*e.*)$');
    this.written = make.and(short, patternExpression(make, '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$|e'));
    this.writtenInteger = make.and(short, patternExpression(make, '^(0|-?[1-9][0-9]*|.*e.*)$'));
  }

  /** Numbers from a bound, without the bound if `isExclusive`. */
  from(bound: number, isExclusive: boolean): Expression {
    const make = this.#make;
    const [integral, fraction] = decimalOf(bound);
    const isZero = /^0*$/.test(integral + fraction);
    const positive = make.and(this.number, patternExpression(make, '^[0-9]'));
    if (isZero) {
      const zero = patternExpression(make, '^-?0(\\.0+)?$');
      return isExclusive ? make.and(positive, make.not(zero)) : make.or(positive, zero);
    }
    const reaches = (isOpen: boolean) => make.and(positive, this.#reaching(integral, fraction, isOpen));
    if (bound > 0) return reaches(isExclusive);
    // Negative numbers at most as far from zero as the bound.
    const minus = make.set(charSet('--'));
    return make.or(positive, make.cat(minus, make.and(positive, make.not(reaches(!isExclusive)))));
  }

  to(bound: number, isExclusive: boolean): Expression {
    return this.#make.and(this.number, this.#make.not(this.from(bound, !isExclusive)));
  }

  /** All texts of one value; a value with an exponent also as JSON writes it. */
  value(value: number): Expression {
    const all = this.#make.and(this.from(value, false), this.to(value, false));
    const text = JSON.stringify(value);
    return text.includes('e') ? this.#make.or(all, textExpression(this.#make, [text])) : all;
  }

  /** Multiples, in decimal arithmetic; undefined if there are too many remainders. */
  multiplesOf(divisor: number): Expression | undefined {
    const [integral, fraction] = decimalOf(divisor);
    const scaled = Number(integral + fraction);
    if (!(scaled > 0 && scaled <= MAX_REMAINDERS)) return undefined;
    return this.#make.and(this.number, this.#make.steps(multiples({ scaled, digits: fraction.length })));
  }

  /** Texts without a sign whose value is at least integral.fraction. */
  #reaching(integral: string, fraction: string, isExclusive: boolean): Expression {
    const larger = integral === '0' ? ['[1-9][0-9]*(\\..*)?'] : [`[1-9][0-9]{${integral.length},}(\\..*)?`];
    for (let i = 0; i < integral.length; i += 1) {
      const digit = Number(integral[i]);
      if (digit < 9 && integral !== '0')
        larger.push(`${integral.slice(0, i)}[${digit + 1}-9][0-9]{${integral.length - i - 1}}(\\..*)?`);
    }
    const tail = isExclusive ? '[0-9]*[1-9][0-9]*' : '[0-9]*';
    for (let i = 0; i < fraction.length; i += 1) {
      const digit = Number(fraction[i]);
      if (digit < 9) larger.push(`${integral}\\.${fraction.slice(0, i)}[${digit + 1}-9][0-9]*`);
    }
    if (fraction !== '') larger.push(`${integral}\\.${fraction}${tail}`);
    else larger.push(isExclusive ? `${integral}\\.${tail}` : `${integral}(\\..*)?`);
    return patternExpression(this.#make, `^(${larger.join('|')})$`);
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
  return [digits.slice(0, point).replace(/^0+(?=\d)/, ''), digits.slice(point).replace(/0+$/, '')];
}

const DIGITS: readonly CharSet[] = Array.from({ length: 10 }, (_, digit) => charSet(`${digit}${digit}`));
const SETS: readonly CharSet[] = [...DIGITS, charSet('--'), charSet('..')];

interface Multiples {
  readonly scaled: number;
  /** Digits of the divisor's fraction. */
  readonly digits: number;
  readonly remainder?: number;
  /** Digits read after the point; undefined before it. */
  readonly read?: number;
}

/** The automaton of remainders: the divisor is `scaled` / 10^`digits`. */
function multiples(state: Multiples): Steps {
  const { scaled, digits, remainder = 0, read } = state;
  let left = remainder;
  for (let i = read ?? 0; i < digits; i += 1) left = (left * 10) % scaled;
  return {
    key: `m${scaled},${digits},${remainder},${read ?? ''}`,
    isAccepting: left === 0,
    sets: SETS,
    step(char) {
      if (char === 45) return multiples(state);
      if (char === 46) return multiples({ ...state, read: 0 });
      const digit = char - 48;
      if (digit < 0 || digit > 9) return undefined;
      if (read !== undefined && read >= digits) return digit === 0 ? multiples(state) : undefined;
      const next = (remainder * 10 + digit) % scaled;
      return multiples({ ...state, remainder: next, ...(read === undefined ? {} : { read: read + 1 }) });
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
