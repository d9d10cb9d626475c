// Validates path and query against a route's schemas: unknown query parameters and invalid values are refused.
import type { z } from 'zod';
import { suggestionFor } from './nearest-names.ts';
import { type FieldProblem, Refusal } from './problems/errors.ts';

interface InputContract {
  readonly path?: string;
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  /** For a contract whose clients may send more parameters; by default unknown query parameters are refused. */
  readonly ignoresUnknown?: boolean | undefined;
}

/** The parts of a request that contain input. */
interface InputSource {
  readonly params: unknown;
  readonly query: unknown;
}

/** Unknown parameters in one refusal, and characters of their names. */
const MAX_UNKNOWN = 10;
const MAX_NAME = 64;

/** Throws Refusal `invalid_parameter` that lists every invalid field. */
export function parseInput(contract: InputContract, request: InputSource): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const query = request.query as Record<string, unknown>;
  const problems = contract.ignoresUnknown ? [] : unknownIn(query, Object.keys(contract.query?.shape ?? {}));
  if (contract.params) read(contract.params, paramsOf(request, contract), input, problems);
  if (contract.query) read(contract.query, query, input, problems);
  if (problems.length > 0) {
    const fields = problems.map((problem) => problem.field).join(', ');
    throw new Refusal('invalid_parameter', `Cannot use: ${fields}.`, { errors: problems });
  }
  return input;
}

function unknownIn(query: Readonly<Record<string, unknown>>, known: readonly string[]): FieldProblem[] {
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  return unknown.slice(0, MAX_UNKNOWN).map((name) => {
    return {
      field: name.slice(0, MAX_NAME).toWellFormed(),
      message: `unknown parameter; ${suggestionFor(name, known)}`,
    };
  });
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
  const parsed = schema.safeParse(given);
  if (parsed.success) Object.assign(input, parsed.data);
  else {
    const known = new Set(problems.map((problem) => problem.field));
    for (const issue of parsed.error.issues) {
      const field = issue.path.join('.');
      if (!known.has(field)) problems.push({ field, message: issue.message.slice(0, 200) });
    }
  }
}
