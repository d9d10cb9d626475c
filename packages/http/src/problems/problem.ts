// The one error mapper: whatever was thrown becomes an RFC 9457 problem. A bug tells the client nothing but an id.
import { ERRORS, type ErrorCode, type FieldProblem, Refusal } from './errors.ts';

export interface Problem {
  /**
   * `/problems/{code}`, a reference with a full path as RFC 9457, 3.1.1 advises: it resolves on the server that answered,
   * whatever its name is, and the service explains the code there. Clients compare `code`, which no base URL changes.
   */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  /** Of a caller with a valid key; others find it in the header alone. */
  readonly request_id?: string;
  readonly errors?: readonly FieldProblem[];
}

/** Fastify's own errors that are the client's fault, by their code. */
const frameworkCodes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_BAD_URL: ['invalid_parameter', 'The URL has a broken percent-encoding.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The request body is too large.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send no body, or application/json.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_parameter', 'The request body is empty although its type is JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_parameter', 'The request body is not JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_parameter', 'The request body is shorter or longer than announced.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_parameter', 'A part of the path is too long.'],
};

/** Whether an error is trouble of this machine that may pass (a full disk, a database that does not answer) and no bug. */
export type IsTrouble = (error: unknown) => boolean;

/** After this long it is worth another try: what an operator mends takes minutes, what mends itself seconds. */
const RETRY_AFTER_SECONDS = 30;

export function problemOf(
  error: unknown,
  requestId: string,
  isTrouble: IsTrouble = () => false,
): { problem: Problem; headers: Readonly<Record<string, string>> } {
  const refusal = isTrouble(error) ? unavailable() : refusalOf(error);
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

/** The same problem for callers without a valid key: by its code alone, so that all of them get one body and one receipt. */
export function sharedProblem({ type, title, status, code }: Problem): Problem {
  return { type, title, status, detail: ERRORS[code].detail, code };
}

/** The log says what it is: it is for the operator, and may name files. */
function unavailable(): Refusal {
  return new Refusal('unavailable', 'The service cannot read or write its data right now. Try again later.', {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // Anything can be thrown, undefined too.
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' && Object.hasOwn(frameworkCodes, code) ? frameworkCodes[code] : undefined;
  if (known) return new Refusal(...known);
  // A path out of the folder of the pages, or hidden in it.
  if (statusCode === 403 || statusCode === 404) return new Refusal('not_found', 'There is no such file here.');
  if (statusCode === 400) return new Refusal('invalid_parameter', 'The request cannot be read.');
  return new Refusal('internal_error', 'Something went wrong here. The request id helps to find out what.');
}
