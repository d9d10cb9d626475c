// Writes the values of a schema as rules of a grammar.
import type { CompletionError } from '../errors.ts';
import { arrayText } from './array-grammar.ts';
import { literal } from './gbnf.ts';
import type { GrammarRules } from './grammar-rules.ts';
import { objectText } from './object-grammar.ts';
import { withNeeded } from './schema/needed-pairs.ts';
import type { ValueSets } from './schema/value-sets.ts';
import type { All, Values } from './schema/values.ts';
import { automatonOf, isEmptyTerm, type State, statesExcept } from './text/automaton.ts';
import { automatonGrammar, classText, jsonChars, type WriteChars } from './text/automaton-grammar.ts';
import type { Expression } from './text/expression.ts';

/** There are few formats, and each takes some milliseconds. */
const automataOfFormats = new Map<string, readonly State[]>();

export class ValueWriter {
  readonly sets: ValueSets;
  readonly rules: GrammarRules;
  readonly #rules = new Map<string, string>();
  readonly #exceptions = new Map<string, string>();
  readonly #terms = new Map<Expression, string>();

  constructor(sets: ValueSets, rules: GrammarRules) {
    this.sets = sets;
    this.rules = rules;
  }

  /** The rule of a schema. Throws CompletionError, also if it allows no value. */
  root(all: All): string {
    const isEmpty = this.sets.bounded(all, () => this.sets.allowsNothing(all));
    if (isEmpty) throw this.sets.reader.refusal('invalid_value', '#', 'allows no value at all');
    return this.rule(all);
  }

  /** The name of the rule for the values that all the nodes allow. Throws CompletionError. */
  rule(all: All): string {
    if (all.length === 0) return 'value';
    const key = all.join();
    const known = this.#rules.get(key);
    if (known) return known;
    return this.sets.bounded(all, () => {
      const values = this.sets.of(all);
      if (values === this.sets.any) return 'value';
      if (values.arrays.length + values.objects.length === 0) {
        const name = this.rules.add(this.#scalars(values).join(' | '));
        this.#rules.set(key, name);
        return name;
      }
      const { name, write } = this.rules.reserve();
      this.#rules.set(key, name);
      const members = [
        ...values.arrays.map((shape) => arrayText(this, shape, all)),
        ...values.objects.flatMap((shape) => withNeeded(this.sets.make, shape)).map((shape) => objectText(this, shape)),
      ];
      const texts = new Set([...members.filter((each) => each !== undefined), ...this.#scalars(values)]);
      if (texts.size === 0) throw this.refusal(all, 'allows no value that the grammar can hold');
      write([...texts].join(' | '));
      return name;
    });
  }

  /** A string with one of the given contents. */
  string(term: Expression): string {
    const { make } = this.sets;
    if (term === make.all) return 'string';
    const text = this.#plain(term) ?? this.#term(term, jsonChars);
    return this.rules.add(`"\\"" ${text} "\\""`);
  }

  /** Characters, of which only the last repeats; undefined for any other term. */
  #plain(term: Expression): string | undefined {
    const { make } = this.sets;
    if (term.kind === 'set') return term === make.anyChar ? 'char' : jsonChars(term.set);
    if (term.kind === 'repeat' && term.of.kind === 'set') {
      const char = this.#plain(term.of);
      return char === undefined ? undefined : this.rules.repeat(char, term.min, term.max);
    }
    if (term.kind !== 'cat' || term.first.kind !== 'set') return undefined;
    const [first, rest] = [this.#plain(term.first), this.#plain(term.rest)];
    return first === undefined || rest === undefined ? undefined : `${first} ${rest}`;
  }

  /** Any string but the given ones. */
  stringExcept(texts: ReadonlySet<string>): string {
    if (texts.size === 0) return 'string';
    const key = JSON.stringify([...texts].sort());
    const known = this.#exceptions.get(key);
    if (known) return known;
    const name = this.rules.add(`"\\"" ${automatonGrammar(statesExcept(texts), this.rules, jsonChars)} "\\""`);
    this.#exceptions.set(key, name);
    return name;
  }

  refusal(all: All, why: string): CompletionError {
    return this.sets.reader.refusal('unsupported_value', this.sets.pathOf(all), why);
  }

  #scalars(values: Values): string[] {
    const { make, numbers } = this.sets;
    const texts = (['null', 'true', 'false'] as const).filter((each) => values[each]).map((each) => literal(each));
    if (values.number === numbers.number) texts.push('number');
    else if (values.number === numbers.integer) texts.push('integer');
    else {
      const written = make.and(values.number, numbers.written);
      const isInteger = isEmptyTerm(make, make.and(written, make.not(numbers.integer)));
      const term = isInteger ? make.and(values.number, numbers.writtenInteger) : written;
      if (!isEmptyTerm(make, term)) texts.push(this.#term(term, classText));
    }
    if (!isEmptyTerm(make, values.string)) texts.push(this.string(values.string));
    return texts;
  }

  #term(term: Expression, write: WriteChars): string {
    const known = this.#terms.get(term);
    if (known) return known;
    const states = this.#automaton(term);
    const name = automatonGrammar(states, this.rules, write);
    this.#terms.set(term, name);
    return name;
  }

  #automaton(term: Expression): readonly State[] {
    const format = this.sets.formatOf.get(term);
    const known = format === undefined ? undefined : automataOfFormats.get(format);
    const states = known ?? automatonOf(this.sets.make, term);
    if (!states) throw new Error('a term without texts');
    if (format !== undefined) automataOfFormats.set(format, states);
    return states;
  }
}
