// Objects as rules: the properties in the order of the schema, then other names. After each pair the rules know which
// properties may still follow.
import { literal } from './gbnf.ts';
import { combinedNeed, neededNames } from './schema/needed-pairs.ts';
import type { ValueSets } from './schema/value-sets.ts';
import { type AdditionalNames, type All, type ObjectShape, propertyOf } from './schema/values.ts';
import { isEmptyTerm } from './text/automaton.ts';
import type { Expression } from './text/expression.ts';
import { textExpression } from './text/number-expression.ts';

interface Writer {
  readonly sets: ValueSets;
  readonly rules: { add(text: string): string; reserve(): { readonly name: string; write(text: string): void } };
  rule(all: All): string;
  string(term: Expression): string;
  stringExcept(texts: ReadonlySet<string>): string;
}

/** Names of a block are written as one prefix tree, so that the engine follows one stack for a block. */
const BLOCK = 16;

interface Pair {
  /** The name as JSON. */
  readonly name: string;
  /** The rule of the value. */
  readonly value: string;
  readonly isRequired: boolean;
}

/** Undefined if the grammar can hold no object of the shape. Throws CompletionError. */
export function objectText(writer: Writer, shape: ObjectShape): string | undefined {
  const { sets } = writer;
  const pairs: Pair[] = [];
  const names = new Set([...shape.properties.keys(), ...shape.required]);
  sets.make.work.spend(4 * names.size);
  for (const name of names) {
    const isRequired = shape.required.has(name);
    const value = propertyOf(sets.make, shape, name);
    if (sets.allowsNothing(value)) {
      if (isRequired) return undefined;
      continue;
    }
    pairs.push({ name: JSON.stringify(name), value: writer.rule(value), isRequired });
  }
  const additional = additionalText(writer, shape.additional, names);
  const need = shape.needed.length > 0 ? combinedNeed(sets.make, shape.needed) : undefined;
  const needed = need && additionalText(writer, neededNames(sets.make, shape, need), names);
  if (need && needed === undefined) return undefined;
  return new PairChain(writer, { pairs, additional, needed, min: shape.min, max: shape.max }).object();
}

/** A pair of a name that is not one of the properties; undefined if no name is left. */
function additionalText(
  writer: Writer,
  additional: readonly AdditionalNames[],
  properties: ReadonlySet<string>,
): string | undefined {
  const { make } = writer.sets;
  const texts = additional.flatMap(({ names, value }) => {
    if (writer.sets.allowsNothing(value)) return [];
    // The usual case needs no terms.
    if (names === make.all) return [`${writer.stringExcept(properties)} ":" ws ${writer.rule(value)}`];
    const free = make.and(names, make.not(textExpression(make, [...properties])));
    return isEmptyTerm(make, free) ? [] : [`${writer.string(free)} ":" ws ${writer.rule(value)}`];
  });
  return texts.length === 0 ? undefined : writer.rules.add(texts.join(' | '));
}

interface Chain {
  readonly pairs: readonly Pair[];
  readonly additional: string | undefined;
  /** One of the additional pairs, of which the last must be one. */
  readonly needed: string | undefined;
  readonly min: number;
  readonly max: number;
}

/** Which pairs are written: the index of the next property, all pairs up to the maximum, and distinct ones. */
interface Position {
  readonly next: number;
  readonly count: number;
  readonly distinct: number;
}

class PairChain {
  readonly #rules: Writer['rules'];
  readonly #chain: Chain;
  readonly #known = new Map<string, string | undefined>();
  /** The number of pairs up to the last required one. */
  readonly #required: number;

  constructor({ rules }: Writer, chain: Chain) {
    const required = chain.pairs.filter(({ isRequired }) => isRequired).length;
    this.#rules = rules;
    this.#required = 1 + chain.pairs.findLastIndex(({ isRequired }) => isRequired);
    const isUnlimited = chain.additional === undefined && chain.max >= chain.pairs.length;
    this.#chain = {
      ...chain,
      min: chain.min <= required ? 0 : chain.min,
      max: isUnlimited ? Number.POSITIVE_INFINITY : chain.max,
    };
  }

  object(): string | undefined {
    const start = { next: 0, count: 0, distinct: 0 };
    const pairs = this.#pairs(start);
    const isOptional = this.#mayEnd(start);
    if (pairs === undefined) return isOptional ? '"{" ws "}"' : undefined;
    return `"{" ws ${isOptional ? `${pairs}?` : pairs} ws "}"`;
  }

  #mayEnd({ next, distinct }: Position): boolean {
    if (this.#chain.needed !== undefined) return false;
    return distinct >= this.#chain.min && next >= this.#required;
  }

  /** The next pair and everything after it. */
  #pairs(at: Position): string | undefined {
    return this.#named(`p${at.next},${at.count},${at.distinct}`, () => {
      const { pairs, additional, max } = this.#chain;
      if (at.count >= max) return undefined;
      if (at.next < pairs.length) {
        const { options, end } = this.#block(at);
        const more = end === undefined ? undefined : this.#pairs({ ...at, next: end });
        const texts = [...(options.length > 0 ? [prefixTree(options, 0)] : []), ...(more === undefined ? [] : [more])];
        return texts.length === 0 ? undefined : texts.join(' | ');
      }
      if (additional === undefined) return undefined;
      if (at.next > pairs.length && max === Number.POSITIVE_INFINITY && at.distinct < this.#chain.min) return undefined;
      if (this.#chain.needed !== undefined) return this.#neededLast(at, this.#chain.needed);
      // Other names may repeat each other, so only the first is certainly distinct.
      const after = this.#after(this.#advanced(at, pairs.length + 1));
      return after === undefined ? undefined : `${additional} ${after}`;
    });
  }

  /** Additional pairs up to the needed one, which is the last: no later pair can have its name. */
  #neededLast(at: Position, needed: string): string | undefined {
    const { additional, min, max } = this.#chain;
    // Pairs before it may have its name.
    const after = this.#advanced(at, this.#chain.pairs.length + 1);
    const isEnough = after.distinct >= min;
    if (isEnough && max === Number.POSITIVE_INFINITY) return `(${additional} "," ws)* ${needed}`;
    const more = this.#pairs(after);
    const texts = [...(isEnough ? [needed] : []), ...(more === undefined ? [] : [`${additional} "," ws ${more}`])];
    return texts.length === 0 ? undefined : texts.join(' | ');
  }

  /** The properties that may be next, up to the end of a block, and where the next block begins if it may be skipped. */
  #block(at: Position): { readonly options: readonly Option[]; readonly end: number | undefined } {
    const { pairs } = this.#chain;
    const options: Option[] = [];
    const end = Math.min(pairs.length, at.next - (at.next % BLOCK) + BLOCK);
    for (let i = at.next; i < end; i += 1) {
      const pair = pairs[i];
      const after = this.#after(this.#advanced({ ...at, next: i }, i + 1));
      if (pair === undefined) break;
      if (after !== undefined)
        options.push({ name: [...pair.name], rest: this.#rules.add(`":" ws ${pair.value} ${after}`) });
      if (pair.isRequired) return { options, end: undefined };
    }
    return { options, end };
  }

  /** What may follow a pair. */
  #after(at: Position): string | undefined {
    const { pairs, additional, min, max } = this.#chain;
    const isEnough = at.distinct >= min && this.#chain.needed === undefined;
    if (at.next >= pairs.length && max === Number.POSITIVE_INFINITY && isEnough)
      return additional === undefined ? '""' : this.#rules.add(`("," ws ${additional})*`);
    const more = this.#pairs(at);
    const isLast = this.#mayEnd(at);
    if (more === undefined) return isLast ? '""' : undefined;
    return this.#rules.add(isLast ? `("," ws ${more})?` : `"," ws ${more}`);
  }

  #advanced({ next, count, distinct }: Position, to: number): Position {
    const { min, max, pairs } = this.#chain;
    const isNew = to <= pairs.length || next === pairs.length;
    return {
      next: to,
      count: max === Number.POSITIVE_INFINITY ? 0 : count + 1,
      distinct: Math.min(min, distinct + (isNew ? 1 : 0)),
    };
  }

  /** The rule of a position, written once; undefined if nothing fits there. */
  #named(key: string, write: () => string | undefined): string | undefined {
    if (this.#known.has(key)) return this.#known.get(key);
    const text = write();
    const name = text === undefined ? undefined : this.#rules.add(text);
    this.#known.set(key, name);
    return name;
  }
}

interface Option {
  readonly name: readonly string[];
  readonly rest: string;
}

/** Names and what follows each, by their common beginnings. No name is the beginning of another: each ends with a quote. */
function prefixTree(options: readonly Option[], from: number): string {
  const [first] = options;
  if (first === undefined) return '""';
  if (options.length === 1) return `${literal(first.name.slice(from).join(''))} ${first.rest}`;
  let to = from;
  while (options.every(({ name }) => name[to] === first.name[to])) to += 1;
  const branches = Map.groupBy(options, ({ name }) => name[to]);
  const inner = Array.from(branches.values(), (each) => prefixTree(each, to)).join(' | ');
  return to === from ? inner : `${literal(first.name.slice(from, to).join(''))} (${inner})`;
}
