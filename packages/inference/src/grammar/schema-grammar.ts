// Converts a JSON Schema to a grammar (GBNF), so that the engine can only generate valid answers. Keywords that a
// grammar cannot enforce are rejected by name.

import { grammarText, literal } from './gbnf.ts';
import { GrammarRules } from './grammar-rules.ts';
import { valueSets } from './schema/node-values.ts';
import type { Schema } from './schema/schema-keywords.ts';
import { SchemaReader } from './schema/schema-reader.ts';
import { ValueWriter } from './value-grammar.ts';

/**
 * The GBNF of a schema. Throws CompletionError `unsupported_value` or `invalid_value` that names `param` and the
 * location in the schema.
 */
export function schemaGrammar(schema: Schema, param: string): string {
  const rules = new Map<string, string>();
  return grammarText(schemaRule(schema, { param, prefix: 's-', rules }), rules);
}

interface RuleTarget {
  readonly param: string;
  /** Of the rules' names. */
  readonly prefix: string;
  /** Where the rules are added. */
  readonly rules: Map<string, string>;
}

/** The rule of a schema, after the rules that it needs. */
function schemaRule(schema: unknown, { param, prefix, rules }: RuleTarget): string {
  const reader = new SchemaReader(schema, param);
  const own = new GrammarRules(prefix);
  const name = new ValueWriter(valueSets(reader), own).root(reader.node(schema, '#', 0));
  for (const [each, text] of own.texts) rules.set(each, text);
  return name;
}

/** The GBNF of one call of one of several functions: `{"name": …, "arguments": …}`. */
export function callGrammar(tools: readonly Callable[], param: string): string {
  const rules = new Map<string, string>();
  return grammarText(callsOf(tools, param, rules), rules);
}

/** The GBNF of either an answer that the schema allows or a call. */
export function schemaOrCallGrammar(schema: Schema, param: string, tools: readonly Callable[]): string {
  const rules = new Map<string, string>();
  const answer = schemaRule(schema, { param, prefix: 's-', rules });
  return grammarText(`${answer} | ${callsOf(tools, 'tools', rules)}`, rules);
}

interface Callable {
  readonly name: string;
  readonly parameters: Schema;
}

function callsOf(tools: readonly Callable[], param: string, rules: Map<string, string>): string {
  return tools
    .map(({ name, parameters }, i) => {
      const target = { param: `${param}[${i}].function.parameters`, prefix: `t${i}-`, rules };
      const body = schemaRule({ type: 'object', ...parameters }, target);
      return `"{" ws ${literal('"name"')} ":" ws ${literal(JSON.stringify(name))} "," ws ${literal('"arguments"')} ":" ws (${body}) ws "}"`;
    })
    .join(' | ');
}
