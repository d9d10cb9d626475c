// Errors as responses: the body and headers that clients of the OpenAI contract expect.
import { StoreError } from '@strata/db';
import { EngineError } from '@strata/engine';
import { answerSecurity, type ErrorFormat, type Metrics, type ReachedLimit, Refusal, RefusalLog } from '@strata/http';
import { CompletionError, errorBody } from '@strata/inference';
import { KeyringError } from '@strata/log';
import type { Logger } from 'pino';

/** Maximum size of a request body; prompts are long. */
export const BODY_BYTES = 16 * 1024 * 1024;

export function tooManyAnswers({ limit, detail }: ReachedLimit): CompletionError {
  const isFull = limit === 'streams-per-tier';
  return new CompletionError(isFull ? 'overloaded' : 'rate_limit', detail, { retryAfterMs: 1_000 });
}

/** OpenAI's error objects. Counts refusals by a limit in the metrics. */
export function errorFormat({ logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics }): ErrorFormat {
  const refusals = new RefusalLog(logger);
  let limited = 0;
  metrics.total('strata_quota_refusals_total', 'Requests refused because a limit was reached', () => limited);
  return {
    send(error, request, reply) {
      const refusal = asRefusal(error);
      const { status, kind, message } = refusal;
      const where = { requestId: request.id, path: request.url.slice(0, 200) };
      const isExpected = error === refusal || error instanceof Refusal;
      if (kind === 'internal') logger.error({ ...where, err: error }, 'request failed');
      // Internal errors are logged for the operator with or without a key; other refusals without a key are aggregated.
      else if (request.caller === undefined && (status < 500 || isExpected))
        refusals.note(request, { code: kind, detail: message });
      else if (status >= 500) logger.warn({ ...where, kind, detail: message }, 'request refused');
      if (status === 429) limited += 1;
      return reply
        .code(status)
        .headers({ ...answerSecurity, ...retryHeaders(refusal) })
        .type('application/json; charset=utf-8')
        .send(errorBody(refusal));
    },
    unreadBody: (message) => JSON.stringify(errorBody(new CompletionError('invalid_request', message))),
  };
}

/** The server's own refusals: early ones, unknown paths and methods, and invalid parameters. */
function ofServer({ code, message, errors: [first], headers }: Refusal): CompletionError {
  switch (code) {
    case 'foreign_page':
    case 'misdirected_request':
    case 'method_not_allowed':
    case 'uri_too_long':
      return new CompletionError(code, message, { headers });
    case 'not_found':
      return new CompletionError('not_found', 'There is no such path. See GET /openapi.json.');
    case 'unavailable':
      return new CompletionError('overloaded', message, { retryAfterMs: 5_000, headers: { connection: 'close' } });
    default:
      return first
        ? new CompletionError('invalid_value', first.message, { param: first.field })
        : new CompletionError('invalid_request', message);
  }
}

/** Converts an error to a response: client errors in detail, internal errors in general terms. */
export function asRefusal(error: unknown): CompletionError {
  if (error instanceof CompletionError) return error;
  if (error instanceof Refusal) return ofServer(error);
  if (error instanceof EngineError && error.code === 'upstream-refused')
    return new CompletionError(
      'engine_failed',
      'The server behind this model rejects this gateway; the operator of the gateway can fix this.',
      {
        cause: error,
      },
    );
  if (error instanceof EngineError && error.code === 'no-worker')
    return new CompletionError(
      'overloaded',
      'No worker with this model is available at present; try again in a moment.',
      {
        retryAfterMs: 2_000,
        cause: error,
      },
    );
  if (error instanceof EngineError)
    return new CompletionError('engine_failed', 'The engine failed during this request; a retry may succeed.', {
      retryAfterMs: 1_000,
      cause: error,
    });
  // The database has keys, quotas and receipts: no request is served that could not be counted or signed.
  if (error instanceof StoreError || error instanceof KeyringError)
    return new CompletionError(
      'storage_unavailable',
      'The database of the service is unavailable at present; try again in a moment.',
      { retryAfterMs: 2_000, cause: error },
    );
  const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new CompletionError('too_large', `The body is larger than ${BODY_BYTES} bytes.`, { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new CompletionError('unsupported_media_type', 'Send JSON, as `Content-Type: application/json`.', {
        cause: error,
      });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new CompletionError('uri_too_long', 'A segment of the path is too long.', { cause: error });
    case 'FST_ERR_BAD_URL':
      return new CompletionError('invalid_request', 'The path cannot be decoded.', { cause: error });
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new CompletionError('invalid_request', 'The body is empty; send a JSON object.', { cause: error });
    default:
      // A path outside the directory of the pages, or a hidden file in it.
      if (statusCode === 403 || statusCode === 404)
        return new CompletionError('not_found', 'The file does not exist.', { cause: error });
      if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
        return new CompletionError('invalid_request', 'The body is not valid JSON.', {
          cause: error,
        });
      return new CompletionError('internal', 'Internal error. Please report the x-request-id.', {
        cause: error,
      });
  }
}

/** Above this wait, retrying is not recommended to the client. */
const MAX_WAIT_MS = 60_000;

/** `x-should-retry` and `retry-after-ms` are read by the official clients, `retry-after` by all HTTP clients. */
function retryHeaders({ retryAfterMs, status, headers }: CompletionError): Record<string, string> {
  const isWorthRetrying = retryAfterMs !== undefined && retryAfterMs <= MAX_WAIT_MS;
  return {
    ...headers,
    ...(status >= 500 || status === 429 ? { 'x-should-retry': String(isWorthRetrying) } : {}),
    ...(retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)), 'retry-after-ms': String(retryAfterMs) }),
  };
}
