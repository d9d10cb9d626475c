// The texts of a term with a length.
import type { Expression, Expressions } from './expression.ts';

/** A repeated character, also after single ones, keeps its form: it is written without an automaton. */
export function ofLength(make: Expressions, term: Expression, [min, max]: readonly [number, number]): Expression {
  if (max < min) return make.none;
  if (term.kind === 'repeat' && term.of.kind === 'set') {
    const [low, high] = [Math.max(term.min, min), Math.min(term.max, max)];
    return low > high ? make.none : make.repeat(term.of, low, high);
  }
  if (term.kind === 'cat' && term.first.kind === 'set')
    return make.cat(term.first, ofLength(make, term.rest, [Math.max(0, min - 1), max - 1]));
  return make.and(term, make.repeat(make.anyChar, min, max));
}
