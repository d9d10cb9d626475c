// Writes stack-types.ts and gateway-types.ts from the committed OpenAPI documents; a test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { compile, type JSONSchema } from 'json-schema-to-typescript';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JSONSchema;
}
interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: JSONSchema }>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation; readonly post?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, JSONSchema>> };
}

/** The two documents, with the prefix of their types. */
export const GENERATED = [
  { name: 'Stack', source: 'openapi/stack.json', target: 'stack/stack-types.ts' },
  { name: 'Gateway', source: 'openapi/gateway.json', target: 'inference/gateway-types.ts' },
] as const;

const root = path.join(import.meta.dirname, '../../..');

/** The TypeScript of one document: its schemas, and the parameters and bodies of its routes. */
export async function typesOf({ name, source }: (typeof GENERATED)[number]): Promise<string> {
  const document = JSON.parse(readFileSync(path.join(root, source), 'utf8')) as Document;
  const asked = Object.entries(document.paths).flatMap(([at, { get }]) => (get ? [[at, get] as const] : []));
  const posted = Object.entries(document.paths).flatMap(([at, { post }]) => (post ? [[at, post] as const] : []));
  const streams = asked.filter(([, operation]) => mediaTypeOf(operation) === 'text/event-stream');
  // Without binary content, such as tiles of the ledger.
  const values = asked.filter(([, operation]) => /json$|^text\/(?!event-stream)/.test(mediaTypeOf(operation)));
  const schema = {
    ...tableOf(values, 'Each GET path: its path and query parameters, and the body of its answer.'),
    definitions: {
      ...document.components.schemas,
      [`${name}Posts`]: tableOf(posted, 'Each POST path, and the body of its complete answer.'),
      ...(streams.length > 0 && {
        [`${name}Streams`]: tableOf(streams, 'The paths that answer with a stream without an end.'),
      }),
    },
  };
  const lists = repeatedLists(schema);
  const used = relocated(schema, lists) as typeof schema;
  const definitions = { ...used.definitions, ...Object.fromEntries(lists.values()) };
  const text = await compile({ ...used, definitions }, `${name}Paths`, {
    additionalProperties: false,
    bannerComment: `// Generated from ${source} by write-types.ts: \`npm run openapi\` rewrites it. Do not edit.`,
    ignoreMinAndMaxItems: true,
    style: { printWidth: 120, singleQuote: true, trailingComma: 'all' },
    unreachableDefinitions: true,
  });
  // Removes the comments about the definition of a type, and the empty lines and comments that remain.
  return text
    .replaceAll(/ \* This interface was referenced by[^\n]{0,300}\n \* via the `definition`[^\n]{0,300}\n/g, '')
    .replaceAll(/(?: \*\n)+ \*\//g, ' */')
    .replaceAll(/\/\*\*\n \*\/\n/g, '');
}

function tableOf(operations: readonly (readonly [string, Operation])[], description: string): JSONSchema {
  const rows = operations.map(([at, operation]) => [
    at,
    closed(
      {
        path: parametersOf(operation, 'path'),
        query: parametersOf(operation, 'query'),
        body: bodyOf(operation),
      },
      operation.summary,
    ),
  ]);
  return closed(Object.fromEntries(rows), description);
}

/** An object with these members; by default all are required. */
function closed(properties: Record<string, JSONSchema>, description?: string, required = Object.keys(properties)) {
  return { type: 'object', properties, required, ...(description === undefined ? {} : { description }) } as JSONSchema;
}

function parametersOf({ parameters = [] }: Operation, where: Parameter['in']): JSONSchema {
  const mine = parameters.filter((parameter) => parameter.in === where);
  if (mine.length === 0) return { tsType: 'Record<string, never>' };
  const properties = mine.map(({ name, description, schema }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  const required = mine.filter((parameter) => parameter.required).map(({ name }) => name);
  return closed(Object.fromEntries(properties), undefined, required);
}

/** The content of a successful response. */
function contentOf({ responses }: Operation) {
  return (responses['200'] ?? responses['201'])?.content ?? {};
}

function mediaTypeOf(operation: Operation): string {
  return Object.keys(contentOf(operation))[0] ?? '';
}

function bodyOf(operation: Operation): JSONSchema {
  return contentOf(operation)[mediaTypeOf(operation)]?.schema ?? {};
}

/** A shorter list of values is as short as a name. */
const MIN_LIST = 5;

/** Lists of values that occur more than once, by their JSON: each becomes a type named after its first property. */
function repeatedLists(schema: JSONSchema): ReadonlyMap<string, readonly [name: string, JSONSchema]> {
  const first = new Map<string, string>();
  const repeated = new Map<string, readonly [string, JSONSchema]>();
  const visit = (value: unknown, property: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'properties') for (const [name, each] of Object.entries(inner)) visit(each, name);
      else if (key !== 'enum') visit(inner, property);
      else if (inner.length >= MIN_LIST) {
        const list = JSON.stringify(inner);
        const name = first.get(list);
        first.set(list, name ?? property);
        if (name)
          repeated.set(list, [
            typeNameOf(name),
            { type: 'string', enum: inner, description: `Values of \`${name}\`.` },
          ]);
      }
    }
  };
  visit(schema, '');
  return repeated;
}

/** `categories` and `category` become `Category`. */
function typeNameOf(property: string): string {
  const single = property.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
  return single.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Components become definitions. Members beside a reference are removed, since they would create a second type. */
function relocated(value: unknown, lists: ReturnType<typeof repeatedLists>): unknown {
  if (Array.isArray(value)) return value.map((each) => relocated(each, lists));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return { $ref: String(value.$ref).replace('#/components/schemas/', '#/definitions/') };
  const [name] = ('enum' in value && lists.get(JSON.stringify(value.enum))) || [];
  if (name) return { $ref: `#/definitions/${name}` };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, relocated(inner, lists)]));
}

if (import.meta.main)
  for (const generated of GENERATED)
    writeFileSync(path.join(import.meta.dirname, generated.target), await typesOf(generated));
