// Converts a JSON Schema to a grammar (GBNF), so that the engine can only generate valid answers. Keywords that a
// grammar cannot enforce are rejected by name.
import { alternatives, FORMATS, grammarText, literal, oneOfTexts, type Primitive } from './gbnf.ts';
import { impliedType, NUMBER_KEYWORDS, narrowingKeywords, type Schema, typesOf, without } from './schema-keywords.ts';
import { ROOT, type SchemaLocation, SchemaReader } from './schema-reader.ts';

const MAX_RULES = 2_000;
/** Maximum size of an integer range; each number becomes an alternative. */
const MAX_RANGE = 1_000;
const MAX_VALUES = 1_000;
const MAX_REPEATS = 1_000;
/** Maximum sum of all repetitions in a schema: the engine expands each. */
const MAX_TOTAL_REPEATS = 20_000;

/**
 * The GBNF of a schema. Throws CompletionError `unsupported_value` or `invalid_value` that names `param` and the
 * location in the schema.
 */
export function schemaGrammar(schema: Schema, param: string): string {
  const writer = new SchemaWriter(schema, param);
  return grammarText(writer.rule(schema, ROOT), writer.rules);
}

/** The GBNF of one call of one of several functions: `{"name": …, "arguments": …}`. */
export function callGrammar(tools: readonly Callable[], param: string): string {
  const rules = new Map<string, string>();
  return grammarText(callsOf(tools, param, rules), rules);
}

/** The GBNF of either an answer that the schema allows or a call. */
export function schemaOrCallGrammar(schema: Schema, param: string, tools: readonly Callable[]): string {
  const writer = new SchemaWriter(schema, param);
  const answer = writer.rule(schema, ROOT);
  return grammarText(`${answer} | ${callsOf(tools, 'tools', writer.rules)}`, writer.rules);
}

interface Callable {
  readonly name: string;
  readonly parameters: Schema;
}

function callsOf(tools: readonly Callable[], param: string, rules: Map<string, string>): string {
  return tools
    .map(({ name, parameters }, i) => {
      const writer = new SchemaWriter(parameters, `${param}[${i}].function.parameters`, `t${i}-`);
      const body = writer.rule({ type: 'object', ...parameters }, ROOT);
      for (const [rule, text] of writer.rules) rules.set(rule, text);
      return `"{" ws ${literal('"name"')} ":" ws ${literal(JSON.stringify(name))} "," ws ${literal('"arguments"')} ":" ws (${body}) ws "}"`;
    })
    .join(' | ');
}

class SchemaWriter {
  readonly rules = new Map<string, string>();
  readonly #reader: SchemaReader;
  readonly #prefix: string;
  readonly #refs = new Map<string, string>();
  #repeats = 0;

  constructor(root: Schema, param: string, prefix = 's-') {
    this.#reader = new SchemaReader(root, param);
    this.#prefix = prefix;
  }

  /** A GBNF expression for the schema at a location. */
  rule(schema: unknown, at: SchemaLocation): string {
    if (schema === true) return 'value';
    const given = this.#reader.checked(schema, at);
    if (typeof given.$ref === 'string' && narrowingKeywords(given, ['$ref']).length === 0)
      return this.#reference(given.$ref, at);
    if (given.$ref !== undefined || given.allOf !== undefined) return this.#simple(this.#reader.merged(given, at), at);
    return this.#simple(given, at);
  }

  /** A schema without `$ref` and `allOf`. */
  #simple(given: Schema, at: SchemaLocation): string {
    const same = { ...at, depth: at.depth + 1 };
    if (given.anyOf !== undefined && given.oneOf !== undefined)
      throw this.#reader.refusal('unsupported_value', at.path, 'has both `anyOf` and `oneOf`');
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (given[keyword] === undefined) continue;
      const rest = without(given, keyword);
      const isNarrowed = narrowingKeywords(rest).length > 0;
      return this.#alternatives(given[keyword], at, (each, i) =>
        this.rule(isNarrowed ? { allOf: [rest, each] } : each, { ...same, path: `${at.path}/${keyword}/${i}` }),
      );
    }
    if (given.const !== undefined) return this.#values([given.const], given, at);
    if (given.enum !== undefined) {
      return this.#values(given.enum as unknown[], given, at);
    }
    if (Array.isArray(given.type))
      return this.#alternatives(given.type, at, (type) => this.#simple({ ...given, type }, same));
    return this.#typed(given, at);
  }

  #typed(given: Schema, at: SchemaLocation): string {
    const { path } = at;
    const inside = (inner: unknown, step: string) =>
      this.rule(inner, { path: `${path}/${step}`, depth: at.depth + 1, open: new Set() });
    switch (given.type ?? impliedType(given)) {
      case undefined:
        return 'value';
      case 'object':
        return this.#object(given, path, inside);
      case 'array':
        return this.#array(given, path, inside);
      case 'string':
        return this.#string(given, path);
      case 'integer':
        return this.#integer(given, path);
      case 'number':
        if (NUMBER_KEYWORDS.some((keyword) => given[keyword] !== undefined))
          throw this.#reader.refusal('unsupported_value', path, 'bounds a number, which a grammar cannot enforce');
        return 'number';
      case 'boolean':
      case 'null':
        return given.type as Primitive;
      default:
        throw this.#reader.refusal(
          'invalid_value',
          path,
          `has the unknown type ${JSON.stringify(given.type)?.slice(0, 100)}`,
        );
    }
  }

  #reference(ref: string, at: SchemaLocation): string {
    if (at.open.has(ref)) throw this.#reader.refusal('invalid_value', at.path, 'refers only to itself');
    const known = this.#refs.get(ref);
    if (known) return known;
    const target = this.#reader.target(ref, at);
    const name = `${this.#prefix}ref${this.#refs.size}`;
    // Registered before it is written, because it may refer to itself.
    this.#refs.set(ref, name);
    this.#name(name, this.rule(target, { path: ref, depth: at.depth + 1, open: new Set([...at.open, ref]) }));
    return name;
  }

  #alternatives(list: unknown, { path }: SchemaLocation, write: (each: unknown, i: number) => string): string {
    if (!Array.isArray(list) || list.length === 0)
      throw this.#reader.refusal('invalid_value', path, 'has an empty or invalid list of alternatives');
    // Duplicates would each be explored by the parser, and recursion would double them at each level.
    const distinct = [
      ...new Map(list.map((each, i) => [JSON.stringify(each), i] as const).reverse()).values(),
    ].reverse();
    return alternatives(distinct.map((i) => write(list[i], i)));
  }

  /** The listed values that the schema's type allows. */
  #values(values: readonly unknown[], schema: Schema, { path }: SchemaLocation): string {
    const [other] = narrowingKeywords(schema, ['const', 'enum', 'type', 'format']);
    if (other) throw this.#reader.refusal('unsupported_value', path, `has both \`${other}\` and a list of values`);
    if (schema.const !== undefined && schema.enum !== undefined)
      throw this.#reader.refusal('unsupported_value', path, 'has both `const` and `enum`');
    if (values.length === 0) throw this.#reader.refusal('invalid_value', path, 'has an empty enum');
    if (values.length > MAX_VALUES)
      throw this.#reader.refusal('unsupported_value', path, `has more than ${MAX_VALUES} values`);
    const types = schema.type === undefined ? undefined : Array.isArray(schema.type) ? schema.type : [schema.type];
    const allowed = values.filter(
      (value) => types === undefined || typesOf(value).some((type) => types.includes(type)),
    );
    if (allowed.length === 0) throw this.#reader.refusal('invalid_value', path, 'allows none of its own values');
    return oneOfTexts(allowed.map((value) => JSON.stringify(value)));
  }

  /** Properties in the order of the schema; properties that are not required are optional. */
  #object(schema: Schema, path: string, inside: (inner: unknown, step: string) => string): string {
    const extra = schema.additionalProperties;
    const required = new Set(Array.isArray(schema.required) ? (schema.required as unknown[]).map(String) : []);
    const known = Object.entries((schema.properties ?? {}) as Schema);
    const unknown = [...required].filter((name) => !known.some(([each]) => each === name));
    if (unknown.length > 0 && extra === false)
      throw this.#reader.refusal(
        'invalid_value',
        path,
        `requires ${JSON.stringify(unknown[0])}, which it does not allow`,
      );
    const properties = [...known, ...unknown.map((name) => [name, extra ?? true] as const)];
    if (properties.length === 0) {
      if (extra === false) return '"{" ws "}"';
      if (extra === undefined || extra === true) return 'object';
      const value = this.#named(inside(extra, 'additionalProperties'));
      return `"{" ws (string ":" ws ${value} ("," ws string ":" ws ${value})*)? ws "}"`;
    }
    const pairs = properties.map(([name, each]) => ({
      text: this.#named(`${literal(JSON.stringify(name))} ":" ws (${inside(each, `properties/${name}`)})`),
      isRequired: required.has(name),
    }));
    // The possible successors of each pair, as a chain of rules; written out, they would grow quadratically with the
    // properties.
    const tails: string[] = [];
    for (let i = pairs.length - 1; i >= 0; i -= 1) {
      const next = pairs[i + 1];
      const pair = `"," ws ${next?.text} ${tails[i + 1] ?? ''}`;
      tails[i] = next === undefined ? '' : this.#named(next.isRequired ? pair : `${pair} | ${tails[i + 1] || '""'}`);
    }
    const firstRequired = pairs.findIndex(({ isRequired }) => isRequired);
    const heads = firstRequired < 0 ? pairs : pairs.slice(0, firstRequired + 1);
    const bodies = heads.map(({ text }, i) => `${text} ${tails[i]}`);
    return `"{" ws (${bodies.join(' | ')})${firstRequired < 0 ? '?' : ''} ws "}"`;
  }

  #array(schema: Schema, path: string, inside: (inner: unknown, step: string) => string): string {
    const item = this.#named(schema.items === undefined ? 'value' : inside(schema.items, 'items'));
    const min = this.#count(schema.minItems, path) ?? 0;
    const max = this.#count(schema.maxItems, path);
    this.#repeat(min, max, path);
    if (max === 0) return '"[" ws "]"';
    const more = max === undefined ? `{${Math.max(0, min - 1)},}` : `{${Math.max(0, min - 1)},${max - 1}}`;
    return `"[" ws (${item} ("," ws ${item})${more})${min === 0 ? '?' : ''} ws "]"`;
  }

  #string(schema: Schema, path: string): string {
    const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined;
    if (format && (schema.minLength !== undefined || schema.maxLength !== undefined))
      throw this.#reader.refusal('unsupported_value', path, 'has both a format and a length');
    if (format) return this.#named(format);
    const min = this.#count(schema.minLength, path) ?? 0;
    const max = this.#count(schema.maxLength, path);
    this.#repeat(min, max, path);
    if (min === 0 && max === undefined) return 'string';
    return `"\\"" char{${min},${max ?? ''}} "\\""`;
  }

  #integer({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema, path: string): string {
    const from = tightest(Math.max, [
      typeof minimum === 'number' ? Math.ceil(minimum) : undefined,
      typeof exclusiveMinimum === 'number' ? Math.floor(exclusiveMinimum) + 1 : undefined,
    ]);
    const to = tightest(Math.min, [
      typeof maximum === 'number' ? Math.floor(maximum) : undefined,
      typeof exclusiveMaximum === 'number' ? Math.ceil(exclusiveMaximum) - 1 : undefined,
    ]);
    if (from === undefined && to === undefined) return 'integer';
    if (from === 0 && to === undefined) return this.#named(`"0" | [1-9] [0-9]{0,14}`);
    if (from === 1 && to === undefined) return this.#named('[1-9] [0-9]{0,14}');
    if (from === undefined || to === undefined || to - from >= MAX_RANGE)
      throw this.#reader.refusal(
        'unsupported_value',
        path,
        `has a range that is open or holds more than ${MAX_RANGE} numbers`,
      );
    if (to < from) throw this.#reader.refusal('invalid_value', path, 'has an empty range');
    return this.#named(Array.from({ length: to - from + 1 }, (_, i) => literal(String(from + i))).join(' | '));
  }

  #count(value: unknown, path: string): number | undefined {
    if (value === undefined) return undefined;
    if (!Number.isInteger(value) || (value as number) < 0)
      throw this.#reader.refusal('invalid_value', path, 'has a length that is not a non-negative integer');
    if ((value as number) > MAX_REPEATS)
      throw this.#reader.refusal('unsupported_value', path, `has a length above ${MAX_REPEATS}`);
    return value as number;
  }

  #repeat(min: number, max: number | undefined, path: string): void {
    if (max !== undefined && max < min) throw this.#reader.refusal('invalid_value', path, 'has an empty range');
    this.#repeats += max ?? min;
    if (this.#repeats > MAX_TOTAL_REPEATS)
      throw this.#reader.refusal('unsupported_value', path, `brings the sum of all lengths above ${MAX_TOTAL_REPEATS}`);
  }

  #named(text: string): string {
    const name = `${this.#prefix}${this.rules.size}`;
    this.#name(name, text);
    return name;
  }

  #name(name: string, text: string): void {
    if (this.rules.size >= MAX_RULES) throw this.#reader.refusal('unsupported_value', '#', 'is too large');
    this.rules.set(name, text);
  }
}

function tightest(of: (...values: number[]) => number, bounds: readonly (number | undefined)[]): number | undefined {
  const known = bounds.filter((bound) => bound !== undefined);
  return known.length === 0 ? undefined : of(...known);
}
