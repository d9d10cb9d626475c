// Objects as rules: the properties in the order of the schema, then other names. After each pair the rules know which
// properties may still follow.
import { literal } from './gbnf.ts';
import type { ValueSets } from './schema/value-sets.ts';
import type { All, ObjectShape } from './schema/values.ts';
import { isEmptyTerm } from './text/automaton.ts';
import type { Expression } from './text/expression.ts';
import { textExpression } from './text/number-expression.ts';

interface Writer {
  readonly sets: ValueSets;
  readonly rules: { add(text: string): string; reserve(): { readonly name: string; write(text: string): void } };
  rule(all: All): string;
  string(term: Expression): string;
}

interface Pair {
  readonly text: string;
  readonly isRequired: boolean;
}

/** Undefined if no object has the shape. Throws CompletionError. */
export function objectText(writer: Writer, shape: ObjectShape): string | undefined {
  const { sets } = writer;
  const pairs: Pair[] = [];
  for (const [name, value] of shape.properties) {
    const isRequired = shape.required.has(name);
    if (sets.isEmpty(value)) {
      if (isRequired) return undefined;
      continue;
    }
    const text = writer.rules.add(`${literal(JSON.stringify(name))} ":" ws ${writer.rule(value)}`);
    pairs.push({ text, isRequired });
  }
  const additional = additionalText(writer, shape);
  return new PairChain(writer, { pairs, additional, min: shape.min, max: shape.max }).object();
}

/** A pair of a name that is not one of the properties; undefined if no name is left. */
function additionalText(writer: Writer, { additional, properties }: ObjectShape): string | undefined {
  const { make } = writer.sets;
  const known = make.not(textExpression(make, [...properties.keys()]));
  const texts = additional.flatMap(({ names, value }) => {
    const free = make.and(names, known);
    if (writer.sets.isEmpty(value) || isEmptyTerm(make, free)) return [];
    return [`${writer.string(free)} ":" ws ${writer.rule(value)}`];
  });
  return texts.length === 0 ? undefined : writer.rules.add(texts.join(' | '));
}

interface Chain {
  readonly pairs: readonly Pair[];
  readonly additional: string | undefined;
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

  constructor({ rules }: Writer, chain: Chain) {
    const required = chain.pairs.filter(({ isRequired }) => isRequired).length;
    this.#rules = rules;
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
    return distinct >= this.#chain.min && !this.#chain.pairs.slice(next).some(({ isRequired }) => isRequired);
  }

  /** The next pair and everything after it. */
  #pairs(at: Position): string | undefined {
    return this.#named(`p${at.next},${at.count},${at.distinct}`, () => {
      const { pairs, additional, max } = this.#chain;
      if (at.count >= max) return undefined;
      const pair = pairs[at.next];
      if (pair !== undefined) {
        const after = this.#after(this.#advanced(at, at.next + 1));
        const options = after === undefined ? [] : [`${pair.text} ${after}`];
        if (!pair.isRequired) options.push(this.#pairs({ ...at, next: at.next + 1 }) ?? '');
        const text = options.filter((each) => each !== '').join(' | ');
        return text === '' ? undefined : text;
      }
      if (additional === undefined) return undefined;
      // Other names may repeat each other, so only the first is certainly distinct.
      const after = this.#after(this.#advanced(at, pairs.length + 1));
      return after === undefined ? undefined : `${additional} ${after}`;
    });
  }

  /** What may follow a pair. */
  #after(at: Position): string | undefined {
    const { pairs, additional, min, max } = this.#chain;
    if (at.next >= pairs.length && max === Number.POSITIVE_INFINITY && at.distinct >= min)
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
