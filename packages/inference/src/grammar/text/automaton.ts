// The deterministic automaton of a term: its states are the term's derivatives.
import { type CharSet, partition, union } from './char-set.ts';
import { type Expression, type Expressions, ExpressionTooLarge, firstSets } from './expression.ts';

/** Maximum number of states of one automaton. */
const MAX_STATES = 4_000;

export interface State {
  readonly isAccepting: boolean;
  /** Characters and the index of the state that they lead to; only states from which a text can be completed. */
  readonly next: readonly (readonly [chars: CharSet, to: number])[];
}

/** The states of a term; the first is the initial one. Undefined if no text matches. Throws ExpressionTooLarge. */
export function automatonOf(make: Expressions, term: Expression): State[] | undefined {
  const { found, edges } = explore(make, term);
  const isLive = liveStates(found, edges);
  if (!isLive[0]) return undefined;
  const index: number[] = [];
  let count = 0;
  for (const live of isLive) index.push(live ? count++ : -1);
  return found.flatMap(({ isNullable }, i) => {
    if (!isLive[i]) return [];
    const next = (edges[i] ?? []).filter(([, to]) => isLive[to]);
    return [{ isAccepting: isNullable, next: next.map(([chars, to]) => [chars, index[to] ?? 0] as const) }];
  });
}

const emptiness = new WeakMap<Expression, boolean>();

/** Whether no text matches a term. Throws ExpressionTooLarge. */
export function isEmptyTerm(make: Expressions, term: Expression): boolean {
  const memo = emptiness.get(term);
  if (memo !== undefined) return memo;
  const known = new Set([term]);
  const stack = [term];
  let isEmpty = true;
  for (let state = stack.pop(); state !== undefined && isEmpty; state = stack.pop()) {
    if (state.isNullable) isEmpty = false;
    else
      for (const chars of partition(firstSets(state))) {
        const next = make.derivative(state, chars[0] ?? 0);
        if (next === make.none || known.has(next)) continue;
        if (known.size >= MAX_STATES) throw new ExpressionTooLarge('too many states');
        known.add(next);
        stack.push(next);
      }
  }
  emptiness.set(term, isEmpty);
  return isEmpty;
}

export function matches(make: Expressions, term: Expression, text: string): boolean {
  let state = term;
  for (const char of text) state = make.derivative(state, char.codePointAt(0) ?? 0);
  return state.isNullable;
}

/** All texts of a term; undefined if there are more than `max`. Throws ExpressionTooLarge. */
export function fewTexts(make: Expressions, term: Expression, max: number): string[] | undefined {
  const states = automatonOf(make, term) ?? [];
  const texts: string[] = [];
  const visit = (state: State | undefined, text: string): boolean => {
    // In a loop the text becomes longer than there are states.
    if (state === undefined || texts.length > max || text.length > 2 * states.length) return state === undefined;
    if (state.isAccepting) texts.push(text);
    return state.next.every(([chars, to]) => {
      const [from = 0, last = 0] = chars;
      if (chars.length > 2 || last - from >= max) return false;
      return Array.from({ length: last - from + 1 }, (_, i) => String.fromCodePoint(from + i)).every((char) =>
        visit(states[to], text + char),
      );
    });
  };
  return visit(states[0], '') && texts.length <= max ? texts : undefined;
}

type Edges = readonly (readonly [CharSet, number])[];

function explore(make: Expressions, term: Expression) {
  const found = [term];
  const indexes = new Map([[term, 0]]);
  const edges: Edges[] = [];
  for (let i = 0; i < found.length; i += 1) {
    const state = found[i] ?? make.none;
    const targets = new Map<number, CharSet>();
    for (const chars of partition(firstSets(state))) {
      const next = make.derivative(state, chars[0] ?? 0);
      if (next === make.none) continue;
      let to = indexes.get(next);
      if (to === undefined) {
        to = found.push(next) - 1;
        indexes.set(next, to);
        if (to >= MAX_STATES) throw new ExpressionTooLarge('too many states');
      }
      const known = targets.get(to);
      targets.set(to, known ? union(known, chars) : chars);
    }
    edges.push(Array.from(targets, ([to, chars]) => [chars, to] as const));
  }
  return { found, edges };
}

function liveStates(found: readonly Expression[], edges: readonly Edges[]): boolean[] {
  const sources = found.map((): number[] => []);
  edges.forEach((each, from) => {
    for (const [, to] of each) sources[to]?.push(from);
  });
  const isLive = found.map(({ isNullable }) => isNullable);
  const queue = [...isLive.keys()].filter((i) => isLive[i]);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const from of sources[next] ?? []) {
      if (isLive[from]) continue;
      isLive[from] = true;
      queue.push(from);
    }
  }
  return isLive;
}
