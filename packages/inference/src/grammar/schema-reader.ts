// Reads a JSON Schema node by node: rejects malformed, endless and unsupported schemas by location, and merges `$ref`
// and `allOf`.
import { CompletionError } from '../errors.ts';
import { malformedKeyword, resolvePointer, type Schema, without } from './schema-keywords.ts';
import { mergeSchemas, SchemaConflict } from './schema-merge.ts';

/** Keywords that constrain a value in a way that the grammar does not enforce. */
const UNSUPPORTED = [
  ...['pattern', 'not', 'if', 'then', 'else', 'patternProperties', 'propertyNames', 'dependentRequired'],
  ...['dependencies', 'unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'],
  ...['dependentSchemas', 'multipleOf', 'uniqueItems', 'contains', 'prefixItems', 'minProperties', 'maxProperties'],
];
const MAX_DEPTH = 64;
/** Maximum number of schema nodes read; a node counts once for each schema that it is merged into. */
const MAX_NODES = 20_000;

/** A location in a schema. */
export interface SchemaLocation {
  readonly path: string;
  readonly depth: number;
  /** References followed since the last output; following one of them again would never end. */
  readonly open: ReadonlySet<string>;
}
export const ROOT: SchemaLocation = { path: '#', depth: 0, open: new Set() };

export class SchemaReader {
  readonly #root: Schema;
  readonly #param: string;
  #nodes = 0;

  /** `param`: the request parameter that contains the schema. */
  constructor(root: Schema, param: string) {
    this.#root = root;
    this.#param = param;
  }

  /** Checks that a schema is well-formed, not too deep and supported. Throws CompletionError. */
  checked(schema: unknown, { path, depth }: SchemaLocation): Schema {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw this.refusal('invalid_value', path, 'is not a schema');
    if (depth > MAX_DEPTH) throw this.refusal('unsupported_value', path, `nests deeper than ${MAX_DEPTH}`);
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw this.refusal('unsupported_value', path, 'is too large');
    const given = schema as Schema;
    const broken = malformedKeyword(given);
    if (broken) throw this.refusal('invalid_value', path, `has a \`${broken}\` of the wrong type`);
    const unsupported = UNSUPPORTED.find((keyword) => given[keyword] !== undefined && given[keyword] !== false);
    if (unsupported) throw this.refusal('unsupported_value', path, `uses \`${unsupported}\`, which is not supported`);
    return given;
  }

  /** Merges `$ref` and `allOf` into the schema. Throws CompletionError. */
  merged(schema: Schema, at: SchemaLocation): Schema {
    try {
      return mergeSchemas(this.#flat(schema, at));
    } catch (error) {
      if (error instanceof SchemaConflict) throw this.refusal('unsupported_value', at.path, error.message);
      throw error;
    }
  }

  /** A schema and everything that it refers to or combines, as schemas without `$ref` and `allOf`. */
  #flat(schema: unknown, at: SchemaLocation): Schema[] {
    if (schema === true) return [{}];
    const given = this.checked(schema, at);
    const deeper = { ...at, depth: at.depth + 1 };
    const all = given.allOf ?? [];
    if (!Array.isArray(all)) throw this.refusal('invalid_value', at.path, 'has an allOf that is not a list');
    return [
      without(given, '$ref', 'allOf'),
      ...(typeof given.$ref === 'string' ? this.#flat(this.target(given.$ref, at), deeper) : []),
      ...all.flatMap((each) => this.#flat(each, deeper)),
    ];
  }

  /** The target of a reference. Throws CompletionError. */
  target(ref: string, { path }: SchemaLocation): unknown {
    const target =
      ref === '#' ? this.#root : ref.startsWith('#/') ? resolvePointer(this.#root, ref.slice(2)) : undefined;
    if (target === undefined)
      throw this.refusal('invalid_value', path, `refers to ${ref.slice(0, 200)}, which does not exist`);
    return target;
  }

  refusal(kind: 'invalid_value' | 'unsupported_value', path: string, why: string): CompletionError {
    return new CompletionError(kind, `The schema at ${path.slice(0, 200)} ${why}.`, { param: this.#param });
  }
}
