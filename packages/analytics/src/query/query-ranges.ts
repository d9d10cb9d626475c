// Ranges in queries: of scores, and of times.
import { MAX_SCORE } from '../columns/terms.ts';
import { QueryError, type QueryNames, type QueryValue } from './query.ts';

/** Both ends included. */
type Range = readonly [from: number, to: number];
type ReadEnd = (text: string, at: number) => Range;

/** `80`, a comparison, `[60 TO 80]` or `60..80`, or `*` for any score. */
export function scoresOf(value: QueryValue): Range {
  const all: Range = [0, MAX_SCORE];
  return rangeOf(value, all, (text, at) => {
    const score = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
    if (score <= MAX_SCORE) return [score, score];
    throw new QueryError(`expected an integer from 0 to ${MAX_SCORE}, not '${text.slice(0, 64)}'`, at);
  });
}

const EVER: Range = [0, Number.MAX_SAFE_INTEGER];

/** A date is all of its day, a month all of its days; an age without a sign is the time since then. */
export function timesOf(value: QueryValue, names: QueryNames): { readonly from: number; readonly to: number } {
  const [from, to] = rangeOf(value, EVER, (text, at) => momentsIn(text, at, names));
  return { from, to };
}

/** A time and all after it: from the first moment of a date. */
export function timesSince(value: QueryValue, names: QueryNames): { readonly from: number; readonly to: number } {
  const { text, start, ends } = value;
  const isRange = ends !== undefined || (!value.isQuoted && (/^[<>]/.test(text) || text.includes('..')));
  if (isRange) throw new QueryError('expected one moment: only the last change of a domain is indexed', start);
  const [from] = text === '*' ? EVER : momentsIn(text, start, names);
  return { from, to: EVER[1] };
}

function momentsIn(text: string, at: number, names: QueryNames): Range {
  const [first, last] = [names.momentOf(text, false), names.momentOf(text, true)];
  if (first !== undefined && last !== undefined) return [first, last];
  throw new QueryError(`expected a date, a month, a time with a zone or an age, not '${text.slice(0, 64)}'`, at);
}

const AGE = /^\d+[a-z]$/i;

/** Refuses a range that no value can be in. */
function rangeOf(value: QueryValue, all: Range, read: ReadEnd): Range {
  const [from, to] = endsOf(value, all, read);
  if (from <= to) return [from, to];
  const ends = value.ends ?? dottedEnds(value);
  const message = ends
    ? `the range ends before it begins; write [${ends[1]} TO ${ends[0]}]`
    : 'no value is in this range';
  throw new QueryError(message.slice(0, 200), value.start);
}

function endsOf(value: QueryValue, all: Range, read: ReadEnd): Range {
  const { text, start } = value;
  const ends = value.ends ?? dottedEnds(value);
  if (ends) {
    const [first, last] = ends;
    const [from] = first === '*' ? all : read(first, start + text.indexOf(first, value.ends ? 1 : 0));
    const [, to] = last === '*' ? all : read(last, start + text.lastIndexOf(last));
    // As with dates, the earlier time is first: `[30d TO 7d]`.
    return [from, to];
  }
  if (text === '*') return all;
  const [, sign = '', operand = ''] = /^([<>]=?)?(.*)$/s.exec(text) ?? [];
  const [from, to] = read(operand, start + sign.length);
  // What is older than an age has an earlier time.
  switch (AGE.test(operand) ? AGE_SIGNS[sign] : sign) {
    case '>=':
      return [from, all[1]];
    case '>':
      return [to + 1, all[1]];
    case '<=':
      return [all[0], to];
    case '<':
      return [all[0], from - 1];
    default:
      return [from, to];
  }
}

/** The ends of `60..80`. */
function dottedEnds({ text, isQuoted }: QueryValue): QueryValue['ends'] {
  const at = isQuoted ? -1 : text.indexOf('..');
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + 2)];
}

const AGE_SIGNS: Readonly<Record<string, string>> = { '': '>=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
