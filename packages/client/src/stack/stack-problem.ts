// Errors of the stack service: a problem of the service (RFC 9457), or no usable answer.
import { objectOf } from '../http/answer-text.ts';

/** The remaining requests of the day. */
export interface Quota {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetsAt: Date | null;
}

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  /** Where in the value the problem begins: the number of the character, from 1. */
  readonly position?: number;
}

export interface StackProblemFields {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
  readonly retryAfterSeconds?: number | null;
  readonly quota?: Quota | null;
  readonly requestId?: string | null;
  readonly text?: string | null;
}

/**
 * `code` is from the service's error table, or one of the client: `network` (status 0: no answer in time) and `invalid_answer` (an answer
 * that cannot be parsed).
 */
export class StackProblem extends Error {
  override readonly name = 'StackProblem';
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly FieldProblem[];
  readonly retryAfterSeconds: number | null;
  readonly quota: Quota | null;
  readonly requestId: string | null;
  /** The exact text of the error answer, with the receipt that `StackClient.verify` checks; null without an error answer. */
  readonly text: string | null;

  constructor(fields: StackProblemFields, options?: ErrorOptions) {
    super(fields.detail || fields.title, options);
    this.status = fields.status;
    this.code = fields.code;
    this.title = fields.title;
    this.detail = fields.detail;
    this.errors = fields.errors ?? [];
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
    this.quota = fields.quota ?? null;
    this.requestId = fields.requestId ?? null;
    this.text = fields.text ?? null;
  }
}

/** The service cannot be reached, or did not answer in time. */
export function networkProblem(detail: string, options?: ErrorOptions): StackProblem {
  return new StackProblem({ status: 0, code: 'network', title: 'The service cannot be reached', detail }, options);
}

/** An answer that cannot be parsed. */
export function invalidAnswer(detail: string, status: number, headers?: Headers): StackProblem {
  const title = 'The answer cannot be read';
  return new StackProblem({ status, code: 'invalid_answer', title, detail, ...(headers && contextOf(headers)) });
}

/** The problem of a response with status 400 or above, from any server. */
export function answeredProblem(status: number, headers: Headers, text: string): StackProblem {
  const body = objectOf(text);
  const textOf = (name: string) => (typeof body?.[name] === 'string' ? body[name] : undefined);
  const title = textOf('title') ?? `The service returned status ${status}`;
  const context = contextOf(headers);
  return new StackProblem({
    ...context,
    status,
    code: textOf('code') ?? 'invalid_answer',
    title,
    detail: textOf('detail') ?? '',
    errors: fieldProblemsOf(body?.errors),
    requestId: textOf('request_id') ?? context.requestId,
    text: body ? text : null,
  });
}

function contextOf(headers: Headers) {
  return {
    retryAfterSeconds: retryAfterOf(headers),
    quota: quotaOf(headers),
    requestId: headers.get('x-request-id'),
  };
}

function fieldProblemsOf(value: unknown): FieldProblem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const { field, message, position } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof field !== 'string' || typeof message !== 'string') return [];
    return [{ field, message, ...(typeof position === 'number' && { position }) }];
  });
}

/** From `X-RateLimit-*`, or the fields of the IETF draft; null where the key has no quota. */
export function quotaOf(headers: Headers): Quota | null {
  const draft = headers.get('ratelimit') ?? '';
  const policy = headers.get('ratelimit-policy') ?? '';
  const limit = integerOf(headers.get('x-ratelimit-limit') ?? parameterOf(policy, 'q'));
  const remaining = integerOf(headers.get('x-ratelimit-remaining') ?? parameterOf(draft, 'r'));
  const resetSeconds = integerOf(headers.get('x-ratelimit-reset') ?? parameterOf(draft, 't'));
  if (limit === null && remaining === null && resetSeconds === null) return null;
  return { limit, remaining, resetsAt: resetSeconds === null ? null : new Date(Date.now() + resetSeconds * 1_000) };
}

/** Seconds or a date (RFC 9110, 10.2.3). */
export function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  const seconds = integerOf(text);
  if (seconds !== null) return seconds;
  const at = /^[A-Z][a-z]{2}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

function parameterOf(field: string, name: string): string | undefined {
  return new RegExp(`;\\s*${name}=(\\d+)`).exec(field)?.[1];
}

/** At most ten digits, which are three hundred years in seconds. */
function integerOf(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\d{1,10}$/.test(text.trim()) ? Number(text) : null;
}
