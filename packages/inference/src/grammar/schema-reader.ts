// A JSON Schema read piece by piece: what is malformed, endless or cannot be held to is refused by its place; what joins others is merged.
import { CompletionError } from '../errors.ts';
import { malformedWord, pointed, type Schema, without } from './schema-keywords.ts';
import { mergeSchemas, SchemaConflict } from './schema-merge.ts';

/** Words of JSON Schema that narrow a value in a way that the grammar would not. */
const UNSUPPORTED = [
  ...['pattern', 'not', 'if', 'then', 'else', 'patternProperties', 'propertyNames', 'dependentRequired'],
  ...['dependencies', 'unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'],
  ...['dependentSchemas', 'multipleOf', 'uniqueItems', 'contains', 'prefixItems', 'minProperties', 'maxProperties'],
];
const MAX_DEPTH = 64;
/** Schemas looked at, each as often as it is joined with others. */
const MAX_SEEN = 20_000;

/** A place in a schema. */
export interface Place {
  readonly path: string;
  readonly depth: number;
  /** References on the way here since something of the answer was written: one of them again would go on for ever. */
  readonly open: ReadonlySet<string>;
}
export const ROOT: Place = { path: '#', depth: 0, open: new Set() };

export class SchemaReader {
  readonly #root: Schema;
  readonly #param: string;
  #seen = 0;

  /** `param`: what of the request holds the schema. */
  constructor(root: Schema, param: string) {
    this.#root = root;
    this.#param = param;
  }

  /** One that is well-formed, not too deep, and can be held to. Throws CompletionError. */
  checked(schema: unknown, { path, depth }: Place): Schema {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw this.refusal('invalid_value', path, 'is not a schema');
    if (depth > MAX_DEPTH) throw this.refusal('unsupported_value', path, `nests deeper than ${MAX_DEPTH}`);
    this.#seen += 1;
    if (this.#seen > MAX_SEEN) throw this.refusal('unsupported_value', path, 'is too large');
    const given = schema as Schema;
    const broken = malformedWord(given);
    if (broken) throw this.refusal('invalid_value', path, `has a \`${broken}\` of the wrong kind`);
    const unsupported = UNSUPPORTED.find((word) => given[word] !== undefined && given[word] !== false);
    if (unsupported) throw this.refusal('unsupported_value', path, `uses \`${unsupported}\`, which cannot be held to`);
    return given;
  }

  /** A schema with `$ref` or `allOf` as one without. Throws CompletionError. */
  merged(schema: Schema, at: Place): Schema {
    try {
      return mergeSchemas(this.#flat(schema, at));
    } catch (error) {
      if (error instanceof SchemaConflict) throw this.refusal('unsupported_value', at.path, error.message);
      throw error;
    }
  }

  /** A schema and all that it refers to or joins, as schemas without `$ref` and `allOf`. */
  #flat(schema: unknown, at: Place): Schema[] {
    if (schema === true) return [{}];
    const given = this.checked(schema, at);
    const deeper = { ...at, depth: at.depth + 1 };
    const all = given.allOf ?? [];
    if (!Array.isArray(all)) throw this.refusal('invalid_value', at.path, 'has an allOf that is no list');
    return [
      without(given, '$ref', 'allOf'),
      ...(typeof given.$ref === 'string' ? this.#flat(this.target(given.$ref, at), deeper) : []),
      ...all.flatMap((each) => this.#flat(each, deeper)),
    ];
  }

  /** What a reference points to. Throws CompletionError. */
  target(ref: string, { path }: Place): unknown {
    const target = ref === '#' ? this.#root : ref.startsWith('#/') ? pointed(this.#root, ref.slice(2)) : undefined;
    if (target === undefined)
      throw this.refusal('invalid_value', path, `refers to ${ref.slice(0, 200)}, which is not there`);
    return target;
  }

  refusal(kind: 'invalid_value' | 'unsupported_value', path: string, why: string): CompletionError {
    return new CompletionError(kind, `The schema at ${path.slice(0, 200)} ${why}.`, { param: this.#param });
  }
}
