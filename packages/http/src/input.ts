// Validates path, query and body against a route's schemas: unknown parameters and fields and invalid values are refused.
import { z } from 'zod';
import { suggestionFor } from './nearest-names.ts';
import { type FieldProblem, Refusal } from './problems/errors.ts';
import { plainMessage } from './problems/plain-message.ts';
import type { BodySchemas } from './route.ts';
import { textOf } from './text-encoding.ts';

interface InputContract {
  readonly path?: string;
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly bodies?: BodySchemas | undefined;
  /** For a contract whose clients may send more parameters; by default unknown query parameters are refused. */
  readonly ignoresUnknown?: boolean | undefined;
}

/** The parts of a request that contain input. */
interface InputSource {
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
  readonly headers?: { readonly 'content-type'?: string | undefined };
}

/** Unknown parameters or problems of a body in one refusal, and characters of their names. */
const MAX_UNKNOWN = 10;
const MAX_NAME = 64;
/** Space for all values of a list, such as the roles. */
const MAX_MESSAGE = 1_000;
/** Problems that the summary explains, and characters of each reason. */
const MAX_EXPLAINED = 3;
const MAX_REASON = 160;

/** Throws Refusal `invalid_parameter` that lists every invalid field. */
export function parseInput(contract: InputContract, request: InputSource): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const query = request.query as Record<string, unknown>;
  const problems = contract.ignoresUnknown ? [] : unknownIn(query, Object.keys(contract.query?.shape ?? {}));
  if (contract.params) read(contract.params, paramsOf(request, contract), input, problems);
  if (contract.query) read(contract.query, query, input, problems);
  if (contract.bodies) input.body = readBody(contract.bodies, request, problems);
  else if (!contract.ignoresUnknown && isPlainObject(request.body))
    problems.push(...unknownIn(request.body, [], 'field'));
  if (problems.length > 0) {
    throw new Refusal('invalid_parameter', `Cannot use: ${summaryOf(problems)}.`, { errors: problems });
  }
  return input;
}

/** As JSON is parsed, and not the stream of an upload. */
const isPlainObject = (body: unknown): body is Record<string, unknown> =>
  typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype;

/** The fields, the first ones with the beginning of their messages. */
function summaryOf(problems: readonly FieldProblem[]): string {
  return problems
    .map(({ field, message }, i) => {
      if (i >= MAX_EXPLAINED) return field;
      return `${field} (${message.length > MAX_REASON ? `${message.slice(0, MAX_REASON)}…` : message})`;
    })
    .join(', ');
}

function unknownIn(
  query: Readonly<Record<string, unknown>>,
  known: readonly string[],
  kind: 'parameter' | 'field' = 'parameter',
): FieldProblem[] {
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  return unknown.slice(0, MAX_UNKNOWN).map((name) => {
    return {
      field: name.slice(0, MAX_NAME).toWellFormed(),
      message: `unknown ${kind}; ${suggestionFor(name, known)}`,
    };
  });
}

/** The body as the schema of its media type reads it; the server has parsed JSON already. */
function readBody(schemas: BodySchemas, { body, headers }: InputSource, problems: FieldProblem[]): unknown {
  const type = (headers?.['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) {
    const types = Object.keys(schemas).join(', ');
    throw new Refusal('unsupported_media_type', `Send a body of one of these types: ${types}.`);
  }
  const content = Buffer.isBuffer(body) ? textOf(body) : body;
  const parsed = schema.safeParse(content, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const found = parsed.error.issues.slice(0, MAX_UNKNOWN).flatMap((issue) => {
    const at = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys')
      return [{ field: at || 'body', message: issue.message.slice(0, MAX_MESSAGE) }];
    const unknown = Object.fromEntries(issue.keys.map((key) => [key, null]));
    const problems = unknownIn(unknown, fieldsAt(schema, issue.path), 'field');
    return at === '' ? problems : problems.map(({ field, message }) => ({ field: `${at}.${field}`, message }));
  });
  // Zod also checks the length of a text that should be a list.
  for (const problem of found) if (!problems.some(({ field }) => field === problem.field)) problems.push(problem);
  return undefined;
}

/** The fields of the object at a path of the schema; none for a union, which has several. */
function fieldsAt(schema: z.core.$ZodType | undefined, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return fieldsAt(schema.unwrap(), path);
  const [step, ...rest] = path;
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  return step === undefined ? Object.keys(schema.shape) : fieldsAt(schema.shape[String(step)], rest);
}

/** The rest of the path has the name in the contract: `rest` for `/files/{rest*}`. */
function paramsOf(request: InputSource, { path = '' }: InputContract): Record<string, unknown> {
  const { '*': rest, ...params } = request.params as Record<string, unknown>;
  const name = /\{(\w+)\*\}$/.exec(path)?.[1];
  return name === undefined ? params : { ...params, [name]: rest };
}

function read(
  schema: z.ZodObject,
  values: Record<string, unknown>,
  input: Record<string, unknown>,
  problems: FieldProblem[],
): void {
  // Without a prototype: a field named `constructor` is absent unless the request has it.
  const given: Record<string, unknown> = Object.create(null);
  for (const field of Object.keys(schema.shape)) {
    const value = Object.hasOwn(values, field) ? values[field] : undefined;
    if (Array.isArray(value)) problems.push({ field, message: 'must not be repeated' });
    else if (value !== undefined) given[field] = value;
  }
  const parsed = schema.safeParse(given, { error: plainMessage });
  if (parsed.success) Object.assign(input, parsed.data);
  else {
    const known = new Set(problems.map((problem) => problem.field));
    for (const issue of parsed.error.issues) {
      const field = issue.path.join('.');
      if (!known.has(field)) problems.push({ field, message: issue.message.slice(0, MAX_MESSAGE) });
    }
  }
}
