// A JSON Schema as a grammar (GBNF), so that an answer can be nothing else. What a grammar cannot hold to is refused by name.
import { CompletionError } from './errors.ts';

type Schema = Readonly<Record<string, unknown>>;

const DIGITS = '[0-9]';
const PRIMITIVES = {
  ws: '" "?',
  hex: '[0-9a-fA-F]',
  // No half of a surrogate pair: the text must be Unicode.
  char: '[^"\\\\\\x7F\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt] | "\\\\u" ([0-9a-cefA-CEF] hex hex hex | [dD] [0-7] hex hex)',
  string: '"\\"" char* "\\""',
  integer: '"-"? ("0" | [1-9] [0-9]{0,14})',
  number: 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  object: '"{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"',
  array: '"[" ws (value ("," ws value)*)? ws "]"',
} as const;
type Primitive = keyof typeof PRIMITIVES;

const FORMATS: Readonly<Record<string, string>> = {
  date: `"\\"" ${DIGITS}{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) "\\""`,
  time: `"\\"" ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z" "\\""`,
  'date-time': `"\\"" ${DIGITS}{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) "T" ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z" "\\""`,
  uuid: '"\\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\\""',
};

/** Words of JSON Schema that narrow a value in a way that the grammar would not. */
const UNSUPPORTED = [
  ...['pattern', 'not', 'if', 'then', 'else', 'patternProperties', 'propertyNames', 'dependentRequired'],
  ...['dependentSchemas', 'multipleOf', 'uniqueItems', 'contains', 'prefixItems', 'minProperties', 'maxProperties'],
];
const MOST_RULES = 2_000;
const MOST_DEPTH = 64;
/** A range of whole numbers is written out up to so many. */
const MOST_RANGE = 1_000;
const MOST_REPEATS = 1_000;

/** GBNF of any JSON object. */
export const JSON_OBJECT_GRAMMAR = grammarText('object', new Map());

/** GBNF of a schema. Throws CompletionError `unsupported_value` or `invalid_value` naming `param` and the place in the schema. */
export function schemaGrammar(schema: Schema, param: string): string {
  const writer = new SchemaWriter(schema, param);
  return grammarText(writer.rule(schema, { path: '#', depth: 0 }), writer.rules);
}

/** GBNF of one call of one of several functions: `{"name": …, "arguments": …}`. */
export function callGrammar(
  tools: readonly { readonly name: string; readonly parameters: Schema }[],
  param: string,
): string {
  const rules = new Map<string, string>();
  const calls = tools.map(({ name, parameters }, i) => {
    const writer = new SchemaWriter(parameters, `${param}[${i}].function.parameters`, `t${i}-`);
    const body = writer.rule({ type: 'object', ...parameters }, { path: '#', depth: 0 });
    for (const [rule, text] of writer.rules) rules.set(rule, text);
    return `"{" ws ${literal('"name"')} ":" ws ${literal(JSON.stringify(name))} "," ws ${literal('"arguments"')} ":" ws (${body}) ws "}"`;
  });
  return grammarText(calls.join(' | '), rules);
}

class SchemaWriter {
  readonly rules = new Map<string, string>();
  readonly #root: Schema;
  readonly #param: string;
  readonly #prefix: string;
  readonly #refs = new Map<string, string>();

  constructor(root: Schema, param: string, prefix = 's-') {
    this.#root = root;
    this.#param = param;
    this.#prefix = prefix;
  }

  /** An expression for the schema at a place. */
  rule(schema: unknown, at: { readonly path: string; readonly depth: number }): string {
    const { path, depth } = at;
    if (schema === true) return 'value';
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw this.#refusal('invalid_value', path, 'is not a schema');
    if (depth > MOST_DEPTH) throw this.#refusal('unsupported_value', path, `nests deeper than ${MOST_DEPTH}`);
    const given = schema as Schema;
    const unsupported = UNSUPPORTED.find((word) => given[word] !== undefined && given[word] !== false);
    if (unsupported) throw this.#refusal('unsupported_value', path, `uses \`${unsupported}\`, which cannot be held to`);
    const inside = (inner: unknown, step: string) => this.rule(inner, { path: `${path}/${step}`, depth: depth + 1 });

    if (typeof given.$ref === 'string') return this.#reference(given.$ref, at);
    if (given.const !== undefined) return literal(JSON.stringify(given.const));
    if (Array.isArray(given.enum)) {
      if (given.enum.length === 0) throw this.#refusal('invalid_value', path, 'has an empty enum');
      return alternatives(given.enum.map((value) => literal(JSON.stringify(value))));
    }
    const choices = given.anyOf ?? given.oneOf;
    if (Array.isArray(choices)) return alternatives(choices.map((each, i) => inside(each, `anyOf/${i}`)));
    if (Array.isArray(given.allOf))
      return this.rule(merged(given, given.allOf as Schema[]), { path, depth: depth + 1 });
    if (Array.isArray(given.type))
      return alternatives(given.type.map((type) => this.rule({ ...given, type }, { path, depth: depth + 1 })));

    switch (given.type ?? (given.properties ? 'object' : given.items ? 'array' : undefined)) {
      case undefined:
        return 'value';
      case 'object':
        return this.#object(given, inside);
      case 'array':
        return this.#array(given, path, inside);
      case 'string':
        return this.#string(given);
      case 'integer':
        return this.#whole(given, path);
      case 'number':
        if (given.minimum !== undefined || given.maximum !== undefined)
          throw this.#refusal('unsupported_value', path, 'bounds a number, which cannot be held to');
        return 'number';
      case 'boolean':
      case 'null':
        return given.type as Primitive;
      default:
        throw this.#refusal('invalid_value', path, `has the unknown type ${JSON.stringify(given.type)}`);
    }
  }

  #reference(ref: string, { path, depth }: { readonly path: string; readonly depth: number }): string {
    const known = this.#refs.get(ref);
    if (known) return known;
    const target = ref === '#' ? this.#root : ref.startsWith('#/') ? pointed(this.#root, ref.slice(2)) : undefined;
    if (target === undefined) throw this.#refusal('invalid_value', path, `refers to ${ref}, which is not there`);
    const name = `${this.#prefix}ref${this.#refs.size}`;
    // Before it is written: it may refer to itself.
    this.#refs.set(ref, name);
    this.#name(name, this.rule(target, { path: ref, depth: depth + 1 }));
    return name;
  }

  /** Properties in the order of the schema; those that are not required may be left out. */
  #object(schema: Schema, inside: (inner: unknown, step: string) => string): string {
    const properties = Object.entries((schema.properties ?? {}) as Schema);
    const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
    const extra = schema.additionalProperties;
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
    const tails = pairs.map((_, i) =>
      pairs
        .slice(i + 1)
        .map(({ text, isRequired }) => (isRequired ? `"," ws ${text}` : `("," ws ${text})?`))
        .join(' '),
    );
    const firstRequired = pairs.findIndex(({ isRequired }) => isRequired);
    const heads = firstRequired < 0 ? pairs : pairs.slice(0, firstRequired + 1);
    const bodies = heads.map(({ text }, i) => `${text} ${tails[i]}`);
    return `"{" ws (${bodies.join(' | ')})${firstRequired < 0 ? '?' : ''} ws "}"`;
  }

  #array(schema: Schema, path: string, inside: (inner: unknown, step: string) => string): string {
    const item = this.#named(schema.items === undefined ? 'value' : inside(schema.items, 'items'));
    const least = this.#count(schema.minItems, path) ?? 0;
    const most = this.#count(schema.maxItems, path);
    if (most === 0) return '"[" ws "]"';
    const more = most === undefined ? `{${Math.max(0, least - 1)},}` : `{${Math.max(0, least - 1)},${most - 1}}`;
    return `"[" ws (${item} ("," ws ${item})${more})${least === 0 ? '?' : ''} ws "]"`;
  }

  #string(schema: Schema): string {
    const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined;
    if (format) return this.#named(format);
    const least = this.#count(schema.minLength, '#') ?? 0;
    const most = this.#count(schema.maxLength, '#');
    if (least === 0 && most === undefined) return 'string';
    return `"\\"" char{${least},${most ?? ''}} "\\""`;
  }

  #whole({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema, path: string): string {
    const from =
      typeof minimum === 'number'
        ? Math.ceil(minimum)
        : typeof exclusiveMinimum === 'number'
          ? Math.floor(exclusiveMinimum) + 1
          : undefined;
    const to =
      typeof maximum === 'number'
        ? Math.floor(maximum)
        : typeof exclusiveMaximum === 'number'
          ? Math.ceil(exclusiveMaximum) - 1
          : undefined;
    if (from === undefined && to === undefined) return 'integer';
    if (from === 0 && to === undefined) return this.#named(`"0" | [1-9] [0-9]{0,14}`);
    if (from === 1 && to === undefined) return this.#named('[1-9] [0-9]{0,14}');
    if (from === undefined || to === undefined || to - from >= MOST_RANGE)
      throw this.#refusal(
        'unsupported_value',
        path,
        `has a range that is open or holds more than ${MOST_RANGE} numbers`,
      );
    if (to < from) throw this.#refusal('invalid_value', path, 'has an empty range');
    return this.#named(Array.from({ length: to - from + 1 }, (_, i) => literal(String(from + i))).join(' | '));
  }

  #count(value: unknown, path: string): number | undefined {
    if (value === undefined) return undefined;
    if (!Number.isInteger(value) || (value as number) < 0)
      throw this.#refusal('invalid_value', path, 'has a length that is no whole number');
    if ((value as number) > MOST_REPEATS)
      throw this.#refusal('unsupported_value', path, `has a length beyond ${MOST_REPEATS}`);
    return value as number;
  }

  #named(text: string): string {
    const name = `${this.#prefix}${this.rules.size}`;
    this.#name(name, text);
    return name;
  }

  #name(name: string, text: string): void {
    if (this.rules.size >= MOST_RULES) throw this.#refusal('unsupported_value', '#', 'is too large');
    this.rules.set(name, text);
  }

  #refusal(kind: 'invalid_value' | 'unsupported_value', path: string, why: string): CompletionError {
    return new CompletionError(kind, `The schema at ${path.slice(0, 200)} ${why}.`, { param: this.#param });
  }
}

function grammarText(root: string, rules: ReadonlyMap<string, string>): string {
  const lines = [`root ::= ${root}`];
  for (const [name, text] of rules) lines.push(`${name} ::= ${text}`);
  for (const [name, text] of Object.entries(PRIMITIVES)) lines.push(`${name} ::= ${text}`);
  return `${lines.join('\n')}\n`;
}

function alternatives(list: readonly string[]): string {
  return `(${list.join(' | ')})`;
}

/** Text that stands in the answer as it is. */
function literal(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `"${escaped}"`;
}

function merged(schema: Schema, all: readonly Schema[]): Schema {
  const { allOf: _all, ...rest } = schema;
  const parts = [rest, ...all];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})),
    required: parts.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  };
}

function pointed(root: Schema, pointer: string): unknown {
  let value: unknown = root;
  for (const step of pointer.split('/')) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Schema)[name];
  }
  return value;
}
