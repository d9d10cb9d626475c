// Converts a JSON Schema to a grammar (GBNF), so that the engine can only generate valid answers. Keywords that a
// grammar cannot enforce are rejected by name.

import { grammarText } from './gbnf.ts';
import { GrammarRules } from './grammar-rules.ts';
import { cachedRules } from './rule-cache.ts';
import { valueSets } from './schema/node-values.ts';
import type { Schema } from './schema/schema-keywords.ts';
import { SchemaReader } from './schema/schema-reader.ts';
import type { Work } from './text/work.ts';
import { ValueWriter } from './value-grammar.ts';

/**
 * The GBNF of a schema. Throws CompletionError `unsupported_value` or `invalid_value` that names `param` and the
 * location in the schema.
 */
export function schemaGrammar(schema: Schema, param: string): string {
  const rules = new Map<string, string>();
  return grammarText(schemaRule(schema, { param, prefix: 's-', rules }), rules);
}

export interface RuleTarget {
  readonly param: string;
  /** Of the rules' names. */
  readonly prefix: string;
  /** Where the rules are added. */
  readonly rules: Map<string, string>;
  /** Counts the work of rules that were not written before; none: the schema has a bound of its own. */
  readonly work?: Work;
}

/** The name of the rule of a schema, after the rules that it needs. Throws as `schemaGrammar` does. */
export function schemaRule(schema: unknown, { param, prefix, rules, work }: RuleTarget): string {
  return cachedRules(`${prefix} ${JSON.stringify(schema)}`, rules, (into) => {
    const reader = new SchemaReader(schema, param);
    const own = new GrammarRules(prefix);
    const sets = valueSets(reader, work);
    const name = new ValueWriter(sets, own).root(reader.node(schema, '#', 0));
    for (const [each, text] of own.texts) into.set(each, text);
    return name;
  });
}
