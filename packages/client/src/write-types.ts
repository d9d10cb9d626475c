// Writes stack-types.ts and gateway-types.ts from the committed OpenAPI documents; a test compares the two.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The part of JSON Schema that the documents use. */
interface JSONSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JSONSchema[];
  readonly oneOf?: readonly JSONSchema[];
  readonly items?: JSONSchema;
  readonly properties?: Readonly<Record<string, JSONSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JSONSchema | boolean;
  readonly description?: string;
}
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
  readonly paths: Readonly<
    Record<
      string,
      { readonly get?: Operation; readonly post?: Operation; readonly put?: Operation; readonly delete?: Operation }
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, JSONSchema>> };
}

/** The two documents, with the prefix of their types. */
export const GENERATED = [
  { name: 'Stack', source: 'openapi/stack.json', target: 'stack/stack-types.ts' },
  { name: 'Gateway', source: 'openapi/gateway.json', target: 'inference/gateway-types.ts' },
] as const;

const root = path.join(import.meta.dirname, '../../..');
const BIOME = path.join(root, 'node_modules/@biomejs/biome/bin/biome');

/** The TypeScript of one document: its schemas, and the parameters and bodies of its routes. */
export function typesOf({ name, source }: (typeof GENERATED)[number]): string {
  const document = JSON.parse(readFileSync(path.join(root, source), 'utf8')) as Document;
  const asked = Object.entries(document.paths).flatMap(([at, { get }]) => (get ? [[at, get] as const] : []));
  const posted = Object.entries(document.paths).flatMap(([at, { post }]) => (post ? [[at, post] as const] : []));
  const changed = Object.entries(document.paths).flatMap(([at, { put, delete: removed }]) => [
    ...(put ? [[`PUT ${at}`, put] as const] : []),
    ...(removed ? [[`DELETE ${at}`, removed] as const] : []),
  ]);
  const streams = asked.filter(([, operation]) => mediaTypeOf(operation) === 'text/event-stream');
  // Without binary content, such as tiles of the ledger and files of tables.
  const isValue = (operation: Operation) => /json$|^text\/(?!event-stream)/.test(mediaTypeOf(operation));
  const values = asked.filter(([, operation]) => isValue(operation) && bodyOf(operation).format !== 'binary');
  const schemas = {
    [`${name}Paths`]: tableOf(values, 'Each GET path: its path and query parameters, and the body of its answer.'),
    ...document.components.schemas,
    [`${name}Posts`]: tableOf(posted, 'Each POST path, and the body of its complete answer.'),
    ...(changed.length > 0 && {
      [`${name}Changes`]: tableOf(changed, 'Each PUT and DELETE, and the body of its complete answer.'),
    }),
    ...(streams.length > 0 && {
      [`${name}Streams`]: tableOf(streams, 'The paths that answer with a stream without an end.'),
    }),
  };
  const banner = `// Generated from ${source} by write-types.ts: \`npm run openapi\` rewrites it. Do not edit.\n`;
  return formatted(`${banner}\n${Object.entries(withNamedLists(schemas)).map(declaration).join('')}`);
}

const declaration = ([name, schema]: readonly [string, JSONSchema]) =>
  `${commentOf(schema)}export ${schema.properties ? `interface ${name} ` : `type ${name} = `}${typeOf(schema)}\n`;

/** Of the schema itself: what is beside a reference has no effect. */
const commentOf = ({ $ref, description }: JSONSchema) =>
  description && $ref === undefined ? `/**\n * ${description}\n */\n` : '';

/** The TypeScript type of a schema. Members beside a reference have no effect. */
function typeOf(schema: JSONSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '');
  if ('const' in schema) return JSON.stringify(schema.const);
  const options = schema.enum?.map((value) => JSON.stringify(value)) ?? (schema.anyOf ?? schema.oneOf)?.map(typeOf);
  if (options) return options.map((option) => `(${option})`).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'integer':
      return 'number';
    case 'array':
      return `(${typeOf(schema.items ?? {})})[]`;
    case 'object':
      return objectOf(schema);
    default:
      return String(schema.type ?? 'unknown');
  }
}

function objectOf({ properties = {}, required = [], additionalProperties: more }: JSONSchema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${commentOf(schema)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};\n`,
  );
  if (more) members.push(`[k: string]: ${more === true ? 'unknown' : typeOf(more)};\n`);
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}}`;
}

/** A shorter list of values is as short as a name. */
const MIN_LIST = 5;

/** Each list of values that occurs more than once becomes a type, named after its first property. */
function withNamedLists(schemas: Readonly<Record<string, JSONSchema>>): Readonly<Record<string, JSONSchema>> {
  const first = new Map<string, string>();
  const named = new Map<string, readonly [name: string, JSONSchema]>();
  const find = (value: unknown, property: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { enum: list, properties, ...rest } = value as JSONSchema;
    for (const [name, each] of Object.entries(properties ?? {})) find(each, name);
    for (const inner of Object.values(rest)) find(inner, property);
    if (!list || list.length < MIN_LIST) return;
    const text = JSON.stringify(list);
    const name = first.get(text);
    first.set(text, name ?? property);
    // A second list of the same name is written out.
    const isTaken = [...named.values()].some(([taken]) => name !== undefined && taken === typeNameOf(name));
    if (name && !isTaken) named.set(text, [typeNameOf(name), { enum: list, description: `Values of \`${name}\`.` }]);
  };
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== 'object' || value === null) return value;
    const [name] = ('enum' in value && named.get(JSON.stringify(value.enum))) || [];
    if (name) return { $ref: `#/components/schemas/${name}` };
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaced(inner)]));
  };
  for (const [name, schema] of Object.entries(schemas)) find(schema, name);
  return { ...(replaced(schemas) as typeof schemas), ...Object.fromEntries(named.values()) };
}

/** `categories` and `category` become `Category`. */
function typeNameOf(property: string): string {
  const single = property.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
  return single.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** As `npm run format` would write it. */
const formatted = (text: string) =>
  execFileSync(process.execPath, [BIOME, 'format', '--stdin-file-path=types.ts'], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });

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
  return { type: 'object', properties, required, ...(description === undefined ? {} : { description }) };
}

function parametersOf({ parameters = [] }: Operation, where: Parameter['in']): JSONSchema {
  const mine = parameters.filter((parameter) => parameter.in === where);
  const properties = mine.map(({ name, description, schema }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  const required = mine.filter((parameter) => parameter.required).map(({ name }) => name);
  return closed(Object.fromEntries(properties), undefined, required);
}

/** The content of a successful response. */
function contentOf({ responses }: Operation) {
  return (responses['200'] ?? responses['201'] ?? responses['202'])?.content ?? {};
}

function mediaTypeOf(operation: Operation): string {
  return Object.keys(contentOf(operation))[0] ?? '';
}

function bodyOf(operation: Operation): JSONSchema {
  return contentOf(operation)[mediaTypeOf(operation)]?.schema ?? {};
}

if (import.meta.main)
  for (const generated of GENERATED)
    writeFileSync(path.join(import.meta.dirname, generated.target), typesOf(generated));
