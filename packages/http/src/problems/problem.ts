// The one error mapper: any thrown value becomes an RFC 9457 problem. For a bug the client receives only a request id.
import { ERRORS, type ErrorCode, type FieldProblem, Refusal } from './errors.ts';

export interface Problem {
  /**
   * `/problems/{code}`, a reference with an absolute path as RFC 9457, 3.1.1 advises: it resolves on the server that
   * answered, whatever its name, and the service documents the code there. Clients compare `code`, which is independent
   * of the base URL.
   */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  /** For callers with a valid key; other callers find it in the header only. */
  readonly request_id?: string;
  readonly errors?: readonly FieldProblem[];
}

/** Fastify's own client errors, by code. */
const frameworkCodes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_BAD_URL: ['invalid_parameter', 'The URL contains an invalid percent-encoding.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The request body is too large.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send no body, or a body of type application/json.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_parameter', 'The request body is empty although its type is JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_parameter', 'The request body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_parameter', 'The request body does not have the announced length.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_parameter', 'A segment of the path is too long.'],
};

/**
 * The detail of the problem for a temporary failure of this machine (a full disk, a database that does not answer); undefined
 * for a bug.
 */
export type UnavailableDetail = (error: unknown) => string | undefined;

/** Short enough for failures that resolve by themselves, long enough not to burden those that an operator must fix. */
const RETRY_AFTER_SECONDS = 30;

export function problemOf(
  error: unknown,
  requestId: string,
  unavailableDetail: UnavailableDetail = () => undefined,
): { problem: Problem; headers: Readonly<Record<string, string>> } {
  const temporary = unavailableDetail(error);
  const refusal =
    temporary === undefined ? (refusalOf(error) ?? new Refusal('internal_error', BUG)) : unavailable(temporary);
  const { status, title } = ERRORS[refusal.code];
  const problem = {
    type: `/problems/${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    code: refusal.code,
    request_id: requestId,
    ...(refusal.errors.length > 0 ? { errors: refusal.errors } : {}),
  };
  return { problem, headers: refusal.headers };
}

/**
 * The problem for callers without a valid key: it depends on the code only, so that all of them share one body and one
 * receipt.
 */
export function sharedProblem({ type, title, status, code }: Problem): Problem {
  return { type, title, status, detail: ERRORS[code].detail, code };
}

/** The cause is logged only: it is for the operator, and may name files. */
function unavailable(detail: string): Refusal {
  return new Refusal('unavailable', detail, { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } });
}

const BUG = 'An internal error occurred. Report the request id to the operator.';

/** An error of this server or of Fastify as a refusal; undefined for any other error. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  // Any value can be thrown, including undefined.
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' && Object.hasOwn(frameworkCodes, code) ? frameworkCodes[code] : undefined;
  if (known) return new Refusal(...known);
  // A path outside the site's directory, or hidden in it.
  if (statusCode === 403 || statusCode === 404) return new Refusal('not_found', 'This file does not exist.');
  return statusCode === 400 ? new Refusal('invalid_parameter', 'The request is malformed.') : undefined;
}
