// The texts of a term with a length.
import type { Expression, Expressions } from './expression.ts';

/** Minimum and maximum number of characters. */
type Range = readonly [min: number, max: number];

/** A repeated character, also after single ones, keeps its form: it is written without an automaton. */
export function ofLength(make: Expressions, term: Expression, [min, max]: Range): Expression {
  if (max < min) return make.none;
  if (term.kind === 'repeat' && term.of.kind === 'set') {
    const [low, high] = [Math.max(term.min, min), Math.min(term.max, max)];
    return low > high ? make.none : make.repeat(term.of, low, high);
  }
  if (term.kind === 'cat' && term.first.kind === 'set')
    return make.cat(term.first, ofLength(make, term.rest, [Math.max(0, min - 1), max - 1]));
  const [shortest, longest] = lengths(term);
  // Only a bound that excludes texts needs states.
  const [low, high] = [shortest >= min ? 0 : min, longest <= max ? Number.POSITIVE_INFINITY : max];
  return make.and(term, make.repeat(make.anyChar, low, high));
}

const known = new WeakMap<Expression, Range>();

/** A range that contains the lengths of all texts of a term. */
function lengths(term: Expression): Range {
  const found = known.get(term) ?? lengthsOf(term);
  known.set(term, found);
  return found;
}

function lengthsOf(term: Expression): Range {
  switch (term.kind) {
    case 'empty':
      return [0, 0];
    case 'set':
      return [1, 1];
    case 'cat': {
      const [first, rest] = [lengths(term.first), lengths(term.rest)];
      return [first[0] + rest[0], first[1] + rest[1]];
    }
    case 'or':
    case 'and': {
      const [mins, maxes] = [term.list.map((each) => lengths(each)[0]), term.list.map((each) => lengths(each)[1])];
      return term.kind === 'or' ? [Math.min(...mins), Math.max(...maxes)] : [Math.max(...mins), Math.min(...maxes)];
    }
    case 'repeat': {
      const [min, max] = lengths(term.of);
      return [min * term.min, max === 0 ? 0 : max * term.max];
    }
    default:
      return [0, Number.POSITIVE_INFINITY];
  }
}
