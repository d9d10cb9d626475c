// Merges the schemas of an `allOf` into one. What one schema cannot express is reported as a conflict, never dropped.
import type { Narrowing, Schema } from './schema-keywords.ts';

/** Two schemas cannot be expressed as one. */
export class SchemaConflict extends Error {
  override readonly name = 'SchemaConflict';
}

/** Merges schemas without `$ref` and `allOf`. Throws SchemaConflict. */
export function mergeSchemas(parts: readonly Schema[]): Schema {
  return parts.reduce(mergeTwo, {});
}

function mergeTwo(a: Schema, b: Schema): Schema {
  const merged: Record<string, unknown> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    if (value === undefined) continue;
    const other = a[keyword];
    merged[keyword] = other === undefined || same(other, value) ? value : mergeValues(keyword, other, value);
  }
  assertOpen(a, b);
  assertOpen(b, a);
  return merged;
}

function mergeValues(keyword: string, a: unknown, b: unknown): unknown {
  switch (keyword as Narrowing) {
    case 'properties':
      return mergedProperties(a as Schema, b as Schema);
    case 'required':
      return [...new Set([...(a as unknown[]), ...(b as unknown[])])];
    case 'items':
      return both(a, b);
    case 'type': {
      const types = listOf(a).filter((type) => listOf(b).includes(type));
      // An integer is also a number.
      if (listOf(a).includes('number') && listOf(b).includes('integer')) types.push('integer');
      if (listOf(b).includes('number') && listOf(a).includes('integer')) types.push('integer');
      if (types.length === 0) throw new SchemaConflict('allows no type at all');
      return [...new Set(types)];
    }
    case 'enum': {
      const values = (a as unknown[]).filter((each) => (b as unknown[]).some((other) => same(each, other)));
      if (values.length === 0) throw new SchemaConflict('allows no value at all');
      return values;
    }
    case 'minItems':
    case 'minLength':
    case 'minimum':
    case 'exclusiveMinimum':
      return Math.max(Number(a), Number(b));
    case 'maxItems':
    case 'maxLength':
    case 'maximum':
    case 'exclusiveMaximum':
      return Math.min(Number(a), Number(b));
    case 'const':
    case 'format':
    case 'anyOf':
    case 'oneOf':
    case 'additionalProperties':
      throw new SchemaConflict(`has two different values of \`${keyword}\`, which cannot be merged`);
    default:
      // Titles, descriptions and definitions do not affect validity.
      return b;
  }
}

function mergedProperties(a: Schema, b: Schema): Schema {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    Array.from(names, (name) => {
      const [ofA, ofB] = [own(a, name), own(b, name)];
      return [name, ofA === undefined ? ofB : ofB === undefined ? ofA : both(ofA, ofB)];
    }),
  );
}

const both = (a: unknown, b: unknown): unknown => (a === true ? b : b === true ? a : { allOf: [a, b] });
const own = (schema: Schema, name: string): unknown => (Object.hasOwn(schema, name) ? schema[name] : undefined);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? [...value] : [value]);
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** `additionalProperties` of one schema also applies to the properties of the other. */
function assertOpen(closed: Schema, other: Schema): void {
  const extra = closed.additionalProperties;
  if (extra === undefined || extra === true) return;
  const known = (closed.properties ?? {}) as Schema;
  const outside = Object.keys((other.properties ?? {}) as Schema).find((name) => !Object.hasOwn(known, name));
  if (outside !== undefined)
    throw new SchemaConflict(
      `combines \`additionalProperties\` with the property ${JSON.stringify(outside)} of another schema`,
    );
}
