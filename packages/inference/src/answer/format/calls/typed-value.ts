// The JSON text of a value that a model wrote as plain text, by the schema of its parameter.

import { Cursor } from '../cursor.ts';
import { HeldText } from '../held-text.ts';
import type { Schema } from './call-writer.ts';
import { parsed } from './json-call.ts';
import { numberJson, readLiteral } from './literal.ts';

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'object' | 'array';

const MAX_DEPTH = 16;
const BRANCHES = ['anyOf', 'oneOf', 'allOf'] as const;

/** The types that a schema allows; undefined: any. */
export function typesOf(schema: unknown, root: Schema | undefined, depth = 0): ReadonlySet<TypeName> | undefined {
  if (!isSchema(schema) || depth > MAX_DEPTH) return undefined;
  if (typeof schema.$ref === 'string') return typesOf(resolve(schema.$ref, root), root, depth + 1);
  const { type } = schema;
  if (typeof type === 'string') return new Set([normal(type)]);
  if (Array.isArray(type)) return new Set(type.map((each) => normal(String(each))));
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
  if (values) return new Set(values.map(typeOf));
  const all = new Set<TypeName>();
  for (const branch of BRANCHES) {
    const schemas = schema[branch];
    for (const each of Array.isArray(schemas) ? schemas : []) {
      const types = typesOf(each, root, depth + 1);
      if (!types) return undefined;
      for (const name of types) all.add(name);
    }
  }
  if (all.size > 0) return all;
  if ('properties' in schema) return new Set(['object']);
  return 'items' in schema ? new Set(['array']) : undefined;
}

/** The schema of a parameter; undefined if it is not declared. */
export function parameterSchema(root: Schema | undefined, name: string): Schema | undefined {
  const { properties } = root ?? {};
  const found = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isSchema(found) ? found : undefined;
}

/** The first reading of the text that a type allows; text that no type allows stays a string. */
export function typedJson(text: string, types: ReadonlySet<TypeName> | undefined): string {
  const value = text.trim();
  const allows = (name: TypeName) => types === undefined || types.has(name);
  if (allows('null') && value === 'null') return 'null';
  if (allows('boolean') && /^(?:true|false)$/i.test(value)) return value.toLowerCase();
  if (allows('number') || allows('integer')) {
    const number = numberJson(value);
    if (number !== undefined && (allows('number') || !/\.\d*[1-9]/.test(number))) return number;
  }
  if ((allows('object') && value.startsWith('{')) || (allows('array') && value.startsWith('['))) {
    const json = parsed(value);
    if (json !== undefined) return value;
    const literal = pythonJson(value);
    if (literal !== undefined) return literal;
  }
  if (types === undefined && value.startsWith('"') && typeof parsed(value) === 'string') return value;
  return JSON.stringify(text);
}

function pythonJson(text: string): string | undefined {
  const held = new HeldText();
  held.push(text, { isControl: false, keptFrom: 0 });
  held.end();
  const cursor = new Cursor(held);
  const step = readLiteral(cursor, { quotes: ['"', "'"] }).next();
  return step.done && cursor.rest === '' ? step.value : undefined;
}

/** The names that libraries of Python give the types, too. */
const OTHER_NAMES: Readonly<Record<string, TypeName>> = {
  ...{ str: 'string', text: 'string', int: 'integer', float: 'number', double: 'number', bool: 'boolean' },
  ...{ dict: 'object', list: 'array', tuple: 'array' },
};
const normal = (name: string): TypeName => OTHER_NAMES[name] ?? (name as TypeName);

function typeOf(value: unknown): TypeName {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return normal(typeof value);
}

/** `#/$defs/Name`. */
function resolve(reference: string, root: Schema | undefined): unknown {
  let found: unknown = root;
  for (const part of reference.split('/').slice(1)) found = isSchema(found) ? found[part] : undefined;
  return found;
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
