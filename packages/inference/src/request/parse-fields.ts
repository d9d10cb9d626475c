// Validates a request body against a schema and reports the first invalid field by its path.
import type { z } from 'zod';
import { CompletionError } from '../errors.ts';

/** Throws CompletionError that names the first invalid field. */
export function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new CompletionError('invalid_request', 'The body must be a JSON object.');
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = pathOf(issue?.path ?? []);
  if (valueAt(body, issue?.path ?? []) === undefined)
    throw new CompletionError('missing_parameter', `Missing required parameter: '${param}'.`, { param });
  throw new CompletionError('invalid_value', `'${param}' ${messageOf(issue)}.`, { param });
}

function messageOf(issue: z.core.$ZodIssue | undefined): string {
  const message = issue?.message ?? 'cannot be used';
  // Our own messages continue a sentence; zod's messages start one.
  return /^[A-Z]/.test(message) ? `cannot be used: ${message.slice(0, 200)}` : message;
}

/** A field path in JavaScript notation: `messages[0].content`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step).slice(0, 64)}`))
    .join('');
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  return value;
}
