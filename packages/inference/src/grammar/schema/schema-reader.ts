// Reads a JSON Schema node by node: rejects malformed, endless and unsupported schemas by location. A node has a number;
// the number of its negation is one higher.
import { CompletionError } from '../../errors.ts';
import { TooLarge } from '../text/work.ts';
import { malformedKeyword, resolvePointer, type Schema, unsupportedKeyword } from './schema-keywords.ts';
import { type All, NOTHING } from './values.ts';

const MAX_DEPTH = 64;
const MAX_NODES = 20_000;

export interface SchemaNode {
  readonly schema: Schema;
  /** Where it stands; of the first reference that leads to it, the target. */
  readonly path: string;
  readonly depth: number;
}

export class SchemaReader {
  readonly #root: unknown;
  readonly #param: string;
  readonly #nodes: SchemaNode[] = [];
  readonly #numbers = new Map<unknown, number>();
  readonly #constants = new Map<string, Schema>();

  /** `param`: the request parameter that contains the schema. */
  constructor(root: unknown, param: string) {
    this.#root = root;
    this.#param = param;
  }

  /** A schema as a node. Throws CompletionError. */
  node(schema: unknown, path: string, depth: number): All {
    if (schema === true) return [];
    if (schema === false) return [NOTHING];
    const known = this.#numbers.get(schema);
    if (known !== undefined) return [known];
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw this.refusal('invalid_value', path, 'is not a schema');
    if (depth > MAX_DEPTH) throw this.refusal('unsupported_value', path, `nests deeper than ${MAX_DEPTH}`);
    if (this.#nodes.length >= MAX_NODES) throw this.refusal('unsupported_value', path, 'is too large');
    const given = schema as Schema;
    const broken = malformedKeyword(given);
    if (broken) throw this.refusal('invalid_value', path, `has a \`${broken}\` of the wrong type or an empty one`);
    const unsupported = unsupportedKeyword(given);
    if (unsupported) throw this.refusal('unsupported_value', path, `uses \`${unsupported}\`, which is not supported`);
    const number = 2 * this.#nodes.length;
    this.#nodes.push({ schema: given, path, depth });
    this.#numbers.set(schema, number);
    return [number];
  }

  /** A constant as a node: equal constants are the same. */
  constant(value: unknown, path: string, depth: number): All {
    const text = JSON.stringify(value);
    const schema = this.#constants.get(text) ?? { const: value };
    this.#constants.set(text, schema);
    return this.node(schema, path, depth);
  }

  /** The node of a number or of its negation. */
  at(number: number): SchemaNode {
    const found = this.#nodes[number >> 1];
    if (found === undefined) throw new Error(`no node ${number}`);
    return found;
  }

  /** The target of a reference. Throws CompletionError. */
  target(ref: string, { path }: SchemaNode): All {
    const id = (this.#root as Schema | undefined)?.$id;
    const local = typeof id === 'string' && id !== '' && ref.startsWith(id) ? ref.slice(id.length) || '#' : ref;
    const target =
      local === '#' ? this.#root : local.startsWith('#/') ? resolvePointer(this.#root, local.slice(2)) : undefined;
    if (target === undefined)
      throw this.refusal('invalid_value', path, `refers to ${ref.slice(0, 200)}, which does not exist`);
    return this.node(target, ref, 0);
  }

  /** The refusal of a schema that reached a bound; any other error as it is. */
  tooLarge(error: unknown, path: string): unknown {
    if (error instanceof TooLarge) return this.refusal('unsupported_value', path, `is too large: ${error.message}`);
    // Terms and rules nest as deep as a pattern or a list of properties is long.
    if (error instanceof RangeError) return this.refusal('unsupported_value', path, 'is too large: it nests too deep');
    return error;
  }

  refusal(kind: 'invalid_value' | 'unsupported_value', path: string, why: string): CompletionError {
    return new CompletionError(kind, `The schema at ${path.slice(0, 200)} ${why}.`, { param: this.#param });
  }
}
