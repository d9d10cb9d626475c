// A body by a schema: what cannot be used is told by the name of the field, as clients know it.
import type { z } from 'zod';
import { CompletionError } from '../errors.ts';

/** Throws CompletionError naming the first field that cannot be used. */
export function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new CompletionError('invalid_request', 'The body must be a JSON object.');
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = pathOf(issue?.path ?? []);
  if (valueAt(body, issue?.path ?? []) === undefined)
    throw new CompletionError('missing_parameter', `Missing required parameter: '${param}'.`, { param });
  throw new CompletionError('invalid_value', `'${param}' ${wordsOf(issue)}.`, { param });
}

function wordsOf(issue: z.core.$ZodIssue | undefined): string {
  const said = issue?.message ?? 'cannot be used';
  // Ours continue the sentence; the validator's own begin one.
  return /^[A-Z]/.test(said) ? `cannot be used: ${said.slice(0, 200)}` : said;
}

/** `messages[0].content`, as clients know it. */
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
