// The keywords of JSON Schema: which of them constrain a value, the types they imply, and JSON Pointers.

export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that constrain a value; all other keywords describe it. */
const NARROWING = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'const', 'enum', 'type', 'format'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
] as const;
export type Narrowing = (typeof NARROWING)[number];

/** The constraining keywords of a schema, except those named. */
export function narrowingKeywords(schema: Schema, except: readonly Narrowing[] = []): readonly Narrowing[] {
  return NARROWING.filter((keyword) => schema[keyword] !== undefined && !except.includes(keyword));
}

/** A copy of a schema without some of its keywords. */
export function without(schema: Schema, ...keywords: readonly Narrowing[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !keywords.includes(name as Narrowing)));
}

export const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/**
 * The type of a schema without `type`, if it has keywords of one type only. This allows fewer values than the schema,
 * all of them valid.
 */
export function impliedType(schema: Schema): string | undefined {
  const has = (...keywords: string[]) => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has('properties', 'required', 'additionalProperties')) return 'object';
  if (has('items', 'minItems', 'maxItems')) return 'array';
  if (has('minLength', 'maxLength')) return 'string';
  return has(...NUMBER_KEYWORDS) ? 'number' : undefined;
}

/** The JSON Schema types of a value; an integer has two. */
export function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return typeof value === 'number' && Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

/** Resolves a JSON Pointer (RFC 6901); undefined if it is malformed or has no target. */
export function resolvePointer(root: Schema, pointer: string): unknown {
  let value: unknown = root;
  for (const step of pointer.split('/')) {
    let name: string;
    try {
      name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    } catch {
      return undefined;
    }
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Schema)[name];
  }
  return value;
}

const isSchemaMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  properties: isSchemaMap,
  required: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  enum: Array.isArray,
  $ref: (value) => typeof value === 'string',
  type: (value) => typeof value === 'string' || Array.isArray(value),
  ...Object.fromEntries(
    [
      'minItems',
      'maxItems',
      'minLength',
      'maxLength',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
    ].map((keyword) => [keyword, (value: unknown) => typeof value === 'number'] as const),
  ),
};

/** The first keyword whose value has the wrong type. */
export function malformedKeyword(schema: Schema): string | undefined {
  return Object.entries(KINDS).find(([keyword, fits]) => schema[keyword] !== undefined && !fits(schema[keyword]))?.[0];
}
