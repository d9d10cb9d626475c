// The texts in which a pattern matches somewhere, as a term. What follows a part is its continuation, so that `$` and
// lookahead are constraints on the continuation.
import type { Expression, Expressions } from './expression.ts';
import { hasAssertion, type Pattern, readPattern } from './pattern.ts';
import { PatternError } from './pattern-escape.ts';

/** The texts that a regular expression accepts as `RegExp.test` does. Throws PatternError. */
export function patternExpression(make: Expressions, source: string): Expression {
  const pattern = readPattern(source);
  const { all } = make;
  const atStart = follow(make, pattern, { next: all, isStart: true });
  if (!mayStartLater(pattern)) return atStart;
  const later = follow(make, pattern, { next: all, isStart: false });
  return make.or(atStart, make.cat(make.repeat(make.anyChar, 1, Number.POSITIVE_INFINITY), later));
}

interface Context {
  readonly next: Expression;
  /** Whether it is at the start of the text; undefined: not known. */
  readonly isStart: boolean | undefined;
}

/** The texts that a pattern followed by `next` accepts. */
function follow(make: Expressions, pattern: Pattern, { next, isStart }: Context): Expression {
  if (!hasAssertion(pattern)) return make.cat(plain(make, pattern), next);
  switch (pattern.kind) {
    case 'choice':
      return make.or(...pattern.list.map((each) => follow(make, each, { next, isStart })));
    case 'sequence': {
      const starts = startsOf(pattern.list, isStart);
      return pattern.list.reduceRight((rest, each, i) => follow(make, each, { next: rest, isStart: starts[i] }), next);
    }
    case 'lookahead': {
      const ahead = follow(make, pattern.of, { next: make.all, isStart });
      return make.and(pattern.isNegative ? make.not(ahead) : ahead, next);
    }
    case 'start':
      if (isStart === undefined) throw new PatternError('has a `^` whose position varies');
      return isStart ? next : make.none;
    case 'end':
      return make.and(next, make.empty);
    case 'repeat':
      if (pattern.min === 0 && pattern.max === 1) return make.or(next, follow(make, pattern.of, { next, isStart }));
      throw new PatternError('repeats an anchor or a lookahead');
    default:
      return next;
  }
}

function plain(make: Expressions, pattern: Pattern): Expression {
  switch (pattern.kind) {
    case 'set':
      return make.set(pattern.set);
    case 'sequence':
      return make.cat(...pattern.list.map((each) => plain(make, each)));
    case 'choice':
      return make.or(...pattern.list.map((each) => plain(make, each)));
    case 'repeat':
      return make.repeat(plain(make, pattern.of), pattern.min, pattern.max);
    default:
      return make.empty;
  }
}

/** For each part of a sequence, whether it is at the start of the text. */
function startsOf(list: readonly Pattern[], isStart: boolean | undefined): (boolean | undefined)[] {
  let now = isStart;
  return list.map((each) => {
    const before = now;
    const [min, max] = widths(each);
    if (min > 0) now = false;
    else if (max > 0 && now) now = undefined;
    return before;
  });
}

/** The minimum and maximum length of what a pattern consumes. */
function widths(pattern: Pattern): readonly [number, number] {
  switch (pattern.kind) {
    case 'set':
      return [1, 1];
    case 'sequence':
      return pattern.list.map(widths).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case 'choice': {
      const all = pattern.list.map(widths);
      return [Math.min(...all.map(([min]) => min)), Math.max(...all.map(([, max]) => max))];
    }
    case 'repeat': {
      const [min, max] = widths(pattern.of);
      return [min * pattern.min, max === 0 ? 0 : max * pattern.max];
    }
    default:
      return [0, 0];
  }
}

function mayStartLater(pattern: Pattern): boolean {
  if (pattern.kind === 'start') return false;
  if (pattern.kind === 'choice') return pattern.list.some(mayStartLater);
  return pattern.kind !== 'sequence' || pattern.list.every((each) => mayStartLater(each));
}
