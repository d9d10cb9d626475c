// The grammar of text that is free but for the marks that it must not contain.

import { GrammarRules } from './grammar-rules.ts';
import { cachedRules } from './rule-cache.ts';
import { automatonOf } from './text/automaton.ts';
import { automatonGrammar, classText } from './text/automaton-grammar.ts';
import { charSet, SPACE } from './text/char-set.ts';
import { type Expression, Expressions } from './text/expression.ts';

export interface FreeTextOptions {
  /** Of the rules' names. */
  readonly prefix: string;
  /** Where the rules are added. */
  readonly rules: Map<string, string>;
  /** Texts that it does not contain. */
  readonly without: readonly string[];
  /** Characters that are not its first, after white space, nor the first after one of `after`. */
  readonly notFirst?: readonly string[];
  readonly after?: readonly string[];
}

/** The name of the rule of such a text, which may be empty. */
export function freeText({ rules, ...options }: FreeTextOptions): string {
  return cachedRules(`text ${JSON.stringify(options)}`, rules, (into) => written(options, into));
}

function written(
  { prefix, without, notFirst = [], after = [] }: Omit<FreeTextOptions, 'rules'>,
  rules: Map<string, string>,
): string {
  const make = new Expressions();
  const { all } = make;
  const text = (given: string) => make.cat(...Array.from(given, (char) => make.set(charSet(char + char))));
  const oneOf = (texts: readonly string[]): Expression => make.or(...texts.map(text));
  const begins = make.cat(make.repeat(make.set(SPACE), 0, Number.POSITIVE_INFINITY), oneOf(notFirst), all);
  const term = make.and(
    make.not(make.cat(all, oneOf(without), all)),
    make.not(begins),
    make.not(make.cat(all, oneOf(after), begins)),
  );
  const own = new GrammarRules(prefix);
  const name = automatonGrammar(automatonOf(make, term) ?? [], own, classText);
  for (const [each, rule] of own.texts) rules.set(each, rule);
  return name;
}
