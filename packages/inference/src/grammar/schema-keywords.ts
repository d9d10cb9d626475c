// The words of a JSON Schema: which narrow a value, what they say of its type, and where a reference points.

export type Schema = Readonly<Record<string, unknown>>;

/** Words that narrow what a value may be; the others describe it. */
const NARROWING = [
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'const', 'enum', 'type', 'format'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
] as const;
export type Narrowing = (typeof NARROWING)[number];

/** The words of a schema that narrow it, besides those named. */
export function narrowingWords(schema: Schema, except: readonly Narrowing[] = []): readonly Narrowing[] {
  return NARROWING.filter((word) => schema[word] !== undefined && !except.includes(word));
}

/** A schema without some of its words. */
export function without(schema: Schema, ...words: readonly Narrowing[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !words.includes(name as Narrowing)));
}

export const NUMBER_WORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/** What narrows values of one type alone makes a schema that type: fewer values, all of them right. */
export function impliedType(schema: Schema): string | undefined {
  const has = (...words: string[]) => words.some((word) => schema[word] !== undefined);
  if (has('properties', 'required', 'additionalProperties')) return 'object';
  if (has('items', 'minItems', 'maxItems')) return 'array';
  if (has('minLength', 'maxLength')) return 'string';
  return has(...NUMBER_WORDS) ? 'number' : undefined;
}

/** Names of the types that a value has; a whole number has two. */
export function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return typeof value === 'number' && Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

/** Undefined for what is not there, or cannot be read as a pointer. */
export function pointed(root: Schema, pointer: string): unknown {
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
    ].map((word) => [word, (value: unknown) => typeof value === 'number'] as const),
  ),
};

/** The first word whose value is not of its kind. */
export function malformedWord(schema: Schema): string | undefined {
  return Object.entries(KINDS).find(([word, fits]) => schema[word] !== undefined && !fits(schema[word]))?.[0];
}
