// The deterministic automaton of a term: its states are the term's derivatives.
import { ANY_CHAR, type CharSet, charSet, complement, normalized, union } from './char-set.ts';
import { type Expression, type Expressions, firstSets } from './expression.ts';
import { TooLarge } from './work.ts';

/** Maximum number of states of one automaton: a list of a thousand short texts. Costly states reach a bound of terms. */
const MAX_STATES = 10_000;

export interface State {
  readonly isAccepting: boolean;
  /** Characters and the index of the state that they lead to; only states from which a text can be completed. */
  readonly next: readonly (readonly [chars: CharSet, to: number])[];
}

/** The states of a term; the first is the initial one. Undefined if no text matches. Throws TooLarge. */
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

/** Whether no text matches a term. Throws TooLarge. */
export function isEmptyTerm(make: Expressions, term: Expression): boolean {
  const memo = emptiness.get(term);
  if (memo !== undefined) return memo;
  const known = new Set([term]);
  const stack = [term];
  let isEmpty = true;
  for (let state = stack.pop(); state !== undefined && isEmpty; state = stack.pop()) {
    if (state.isNullable) isEmpty = false;
    else
      for (const [, next] of successors(make, state)) {
        if (known.has(next)) continue;
        if (known.size >= MAX_STATES) throw new TooLarge('too many states');
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

/** The states of all texts but the given ones. */
export function statesExcept(texts: Iterable<string>): State[] {
  interface Node {
    isListed: boolean;
    readonly next: Map<string, number>;
  }
  const nodes: Node[] = [{ isListed: false, next: new Map() }];
  for (const text of texts) {
    let at = 0;
    for (const char of text) {
      const next: number = nodes[at]?.next.get(char) ?? nodes.push({ isListed: false, next: new Map() }) - 1;
      nodes[at]?.next.set(char, next);
      at = next;
    }
    const node = nodes[at];
    if (node) node.isListed = true;
  }
  // From the last state every text is accepted.
  const any = nodes.length;
  const states = nodes.map(({ isListed, next }): State => {
    const listed = Array.from(next, ([char, to]) => [charSet(char + char), to] as const);
    const rest = complement(normalized(listed.flatMap(([chars]) => chars)));
    return { isAccepting: !isListed, next: [...listed, [rest, any]] };
  });
  return [...states, { isAccepting: true, next: [[ANY_CHAR, any]] }];
}

/** All texts of a term; undefined if there are more than `max`. Throws TooLarge. */
export function fewTexts(make: Expressions, term: Expression, max: number): string[] | undefined {
  const states = automatonOf(make, term) ?? [];
  const texts: string[] = [];
  const visit = (state: State | undefined, text: string): boolean => {
    // In a loop the text becomes longer than there are states.
    if (state === undefined || texts.length > max || text.length > 2 * states.length) return state === undefined;
    if (state.isAccepting) texts.push(text);
    return state.next.every(([chars, to]) => {
      const listed = fewChars(chars, max);
      return listed?.every((char) => visit(states[to], text + char)) ?? false;
    });
  };
  return visit(states[0], '') && texts.length <= max ? texts : undefined;
}

/** The characters of a set; undefined if there are more than `max`. */
function fewChars(chars: CharSet, max: number): string[] | undefined {
  const listed: string[] = [];
  for (let i = 0; i < chars.length; i += 2)
    for (let char = chars[i] ?? 0; char <= (chars[i + 1] ?? 0); char += 1)
      if (listed.push(String.fromCodePoint(char)) > max) return undefined;
  return listed;
}

type Edges = readonly (readonly [CharSet, number])[];

function explore(make: Expressions, term: Expression) {
  const found = [term];
  const indexes = new Map([[term, 0]]);
  const edges: Edges[] = [];
  for (let i = 0; i < found.length; i += 1) {
    const state = found[i] ?? make.none;
    const next = Array.from(successors(make, state), ([chars, target]) => {
      const index = indexes.get(target) ?? found.push(target) - 1;
      if (index >= MAX_STATES) throw new TooLarge('too many states');
      indexes.set(target, index);
      return [chars, index] as const;
    });
    edges.push(next);
  }
  return { found, edges };
}

const successorsOf = new WeakMap<Expression, readonly (readonly [CharSet, Expression])[]>();

/** The derivatives of a term, and the characters that lead to each. */
function successors(make: Expressions, term: Expression): readonly (readonly [CharSet, Expression])[] {
  const known = successorsOf.get(term);
  if (known) return known;
  const targets = new Map<Expression, CharSet>();
  make.work.spend(2);
  for (const chars of make.partition(firstSets(term))) {
    const next = make.derivative(term, chars[0] ?? 0);
    if (next === make.none) continue;
    const before = targets.get(next);
    targets.set(next, before ? union(before, chars) : chars);
  }
  const found = Array.from(targets, ([next, chars]) => [chars, next] as const);
  successorsOf.set(term, found);
  return found;
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
