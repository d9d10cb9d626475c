// Regular expressions over code points with intersection and complement, as terms that are equal if they are the same
// object. The automaton of a term follows from its derivatives.
// Brzozowski, Derivatives of Regular Expressions, doi.org/10.1145/321239.321249; Owens et al., doi.org/10.1017/S0956796808007090
import { ANY_CHAR, type CharSet, includes, intersection, partition, union } from './char-set.ts';
import { TooLarge, Work } from './work.ts';

export type Expression = { readonly id: number; readonly isNullable: boolean } & (
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'cat'; readonly first: Expression; readonly rest: Expression }
  | { readonly kind: 'or' | 'and'; readonly list: readonly Expression[] }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'repeat'; readonly of: Expression; readonly min: number; readonly max: number }
  | { readonly kind: 'steps'; readonly steps: Steps }
);

/** A deterministic automaton given by its states; `key` names the state. */
export interface Steps {
  readonly key: string;
  readonly isAccepting: boolean;
  /** Sets such that all characters of one of them, and all outside of them, lead to the same state. */
  readonly sets: readonly CharSet[];
  step(char: number): Steps | undefined;
}

/** Maximum number of distinct terms. */
const MAX_TERMS = 40_000;
/** Alternatives that are merged in the time of a step. */
const MERGED_PER_STEP = 4;

/** Makes terms; terms of different instances must not be combined. */
export class Expressions {
  readonly #terms = new Map<string, Expression>();
  readonly #derivatives = new Map<number, Map<number, Expression>>();
  readonly #setNumbers = new Map<CharSet, number>();
  readonly #partitions = new Map<string, readonly CharSet[]>();
  readonly work: Work;
  readonly empty: Expression;
  readonly none: Expression;
  readonly anyChar: Expression;
  /** All texts. */
  readonly all: Expression;

  constructor(work = new Work()) {
    this.work = work;
    this.empty = this.#term('e', { kind: 'empty' }, true);
    this.none = this.#term('s', { kind: 'set', set: [] }, false);
    this.anyChar = this.set(ANY_CHAR);
    this.all = this.repeat(this.anyChar, 0, Number.POSITIVE_INFINITY);
  }

  set(set: CharSet): Expression {
    return this.#term(`s${set.join()}`, { kind: 'set', set }, false);
  }

  steps(steps: Steps): Expression {
    return this.#term(`t${steps.key}`, { kind: 'steps', steps }, steps.isAccepting);
  }

  cat(...list: readonly Expression[]): Expression {
    return list.reduceRight((rest, first) => {
      if (first === this.none || rest === this.none) return this.none;
      if (first === this.empty) return rest;
      if (rest === this.empty) return first;
      if (first.kind === 'cat') return this.cat(first.first, this.cat(first.rest, rest));
      return this.#term(`c${first.id},${rest.id}`, { kind: 'cat', first, rest }, first.isNullable && rest.isNullable);
    }, this.empty);
  }

  or(...list: readonly Expression[]): Expression {
    const [only = this.none, ...more] = list.filter((each) => each !== this.none);
    if (more.length === 0) return only;
    const parts = this.#flat('or', [only, ...more]);
    if (parts.has(this.all)) return this.all;
    mergeSets(parts, (a, b) => this.set(union(a, b)));
    if (parts.has(this.empty) && [...parts].some((part) => part !== this.empty && part.isNullable))
      parts.delete(this.empty);
    return this.#list('or', parts, this.none);
  }

  and(...list: readonly Expression[]): Expression {
    if (list.includes(this.none)) return this.none;
    const parts = this.#flat('and', list);
    parts.delete(this.all);
    mergeSets(parts, (a, b) => this.set(intersection(a, b)));
    return parts.has(this.none) ? this.none : this.#list('and', parts, this.all);
  }

  not(of: Expression): Expression {
    if (of.kind === 'not') return of.of;
    if (of === this.none) return this.all;
    if (of === this.all) return this.none;
    return this.#term(`n${of.id}`, { kind: 'not', of }, !of.isNullable);
  }

  repeat(of: Expression, min: number, max: number): Expression {
    if (max === 0 || of === this.empty) return this.empty;
    if (of === this.none) return min === 0 ? this.empty : this.none;
    if (min === 1 && max === 1) return of;
    if (of.kind === 'repeat' && of.min === 0 && of.max === Number.POSITIVE_INFINITY) return of;
    return this.#term(`r${of.id},${min},${max}`, { kind: 'repeat', of, min, max }, min === 0 || of.isNullable);
  }

  /** `partition` of the characters; the states of an automaton mostly have the same sets. */
  partition(sets: readonly CharSet[]): readonly CharSet[] {
    const numbers = sets.map((set) => {
      const number = this.#setNumbers.get(set) ?? this.#setNumbers.size;
      this.#setNumbers.set(set, number);
      return number;
    });
    const key = numbers.sort((a, b) => a - b).join();
    const known = this.#partitions.get(key);
    if (known) return known;
    this.work.spend((sets.length * sets.reduce((sum, set) => sum + set.length, 0)) / MERGED_PER_STEP);
    const classes = partition(sets);
    this.#partitions.set(key, classes);
    return classes;
  }

  /** The term of what may follow a character. */
  derivative(of: Expression, char: number): Expression {
    const known = this.#derivatives.get(of.id);
    const found = known?.get(char);
    if (found) return found;
    this.work.spend(1);
    const derived = this.#derive(of, char);
    if (known) known.set(char, derived);
    else this.#derivatives.set(of.id, new Map([[char, derived]]));
    return derived;
  }

  #derive(of: Expression, char: number): Expression {
    switch (of.kind) {
      case 'empty':
        return this.none;
      case 'set':
        return includes(of.set, char) ? this.empty : this.none;
      case 'steps': {
        const next = of.steps.step(char);
        return next === undefined ? this.none : this.steps(next);
      }
      case 'cat': {
        const first = this.cat(this.derivative(of.first, char), of.rest);
        return of.first.isNullable ? this.or(first, this.derivative(of.rest, char)) : first;
      }
      case 'or':
      case 'and':
        this.work.spend(of.list.length);
        return this[of.kind](...of.list.map((each) => this.derivative(each, char)));
      case 'not':
        return this.not(this.derivative(of.of, char));
      case 'repeat':
        return this.cat(this.derivative(of.of, char), this.repeat(of.of, Math.max(0, of.min - 1), of.max - 1));
      default:
        throw new Error('unknown term', { cause: of satisfies never });
    }
  }

  #flat(kind: 'or' | 'and', list: readonly Expression[]): Set<Expression> {
    const parts = list.flatMap((each) => (each.kind === kind ? each.list : [each]));
    this.work.spend(parts.length / MERGED_PER_STEP);
    return new Set(parts);
  }

  #list(kind: 'or' | 'and', parts: ReadonlySet<Expression>, unit: Expression): Expression {
    const [only = unit] = parts;
    if (parts.size <= 1) return only;
    const list = [...parts].sort((a, b) => a.id - b.id);
    this.work.spend(list.length / MERGED_PER_STEP);
    const isNullable = kind === 'or' ? list.some((each) => each.isNullable) : list.every((each) => each.isNullable);
    return this.#term(`${kind}${list.map(({ id }) => id).join()}`, { kind, list }, isNullable);
  }

  #term(key: string, term: TermOf<Expression>, isNullable: boolean): Expression {
    const known = this.#terms.get(key);
    if (known) return known;
    if (this.#terms.size >= MAX_TERMS) throw new TooLarge('too many terms');
    this.work.spend(1);
    const made = { ...term, id: this.#terms.size, isNullable };
    this.#terms.set(key, made);
    return made;
  }
}

type TermOf<T> = T extends unknown ? Omit<T, 'id' | 'isNullable'> : never;

/** One set of characters in place of several. */
function mergeSets(parts: Set<Expression>, merge: (a: CharSet, b: CharSet) => Expression): void {
  let merged: Expression | undefined;
  for (const part of [...parts]) {
    if (part.kind !== 'set') continue;
    parts.delete(part);
    merged = merged?.kind === 'set' ? merge(merged.set, part.set) : part;
  }
  if (merged) parts.add(merged);
}

/** The sets that decide which derivative a character leads to. */
export function firstSets(of: Expression): CharSet[] {
  const found = new Set<CharSet>();
  // Each term is in the set once, and terms that are added while it is read are read too.
  const terms = new Set([of]);
  for (const term of terms) {
    if (term.kind === 'set') found.add(term.set);
    else if (term.kind === 'steps') for (const set of term.steps.sets) found.add(set);
    else if ('list' in term) for (const each of term.list) terms.add(each);
    else if (term.kind === 'cat') {
      terms.add(term.first);
      if (term.first.isNullable) terms.add(term.rest);
    } else if ('of' in term) terms.add(term.of);
  }
  return [...found];
}
