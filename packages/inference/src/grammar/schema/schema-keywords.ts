// The keywords of JSON Schema (2020-12, and what earlier drafts wrote differently): their types, and JSON Pointers.

export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that constrain a value in a way that the grammar does not hold; all unknown keywords are annotations. */
const UNSUPPORTED = ['$dynamicRef', '$recursiveRef'];

const isSchemaMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isSchema = (value: unknown) => typeof value === 'boolean' || isSchemaMap(value);
const isSchemaList = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNames = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');
const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...all(isSchemaMap, 'properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'dependencies'),
  ...all(isSchema, 'additionalProperties', 'additionalItems', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'),
  ...all(isSchema, 'unevaluatedProperties', 'unevaluatedItems'),
  ...all(isSchemaList, 'allOf', 'anyOf', 'oneOf'),
  ...all(isCount, 'minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'),
  ...all(isCount, 'minContains', 'maxContains'),
  ...all(isNumber, 'minimum', 'maximum'),
  ...all((value) => isNumber(value) || isFlag(value), 'exclusiveMinimum', 'exclusiveMaximum'),
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  ...all(isText, '$ref', 'pattern', 'format'),
  type: (value) => isText(value) || (isNames(value) && (value as unknown[]).length > 0),
  required: isNames,
  enum: (value) => Array.isArray(value) && value.length > 0,
  prefixItems: (value) => Array.isArray(value) && value.every(isSchema),
  items: (value) => isSchema(value) || (Array.isArray(value) && value.every(isSchema)),
  uniqueItems: isFlag,
};

function all<T>(value: T, ...names: readonly string[]): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** The first keyword whose value has the wrong type. */
export function malformedKeyword(schema: Schema): string | undefined {
  return Object.keys(schema).find((keyword) => Object.hasOwn(KINDS, keyword) && !KINDS[keyword]?.(schema[keyword]));
}

export function unsupportedKeyword(schema: Schema): string | undefined {
  return UNSUPPORTED.find((keyword) => schema[keyword] !== undefined);
}

/** Resolves a JSON Pointer (RFC 6901); undefined if it is malformed or has no target. */
export function resolvePointer(root: unknown, pointer: string): unknown {
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
