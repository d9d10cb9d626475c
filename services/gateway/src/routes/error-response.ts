// Errors as responses: the body and headers that clients of the OpenAI contract expect.
import { isSuperseded, StoreError } from '@strata/db';
import { EngineError, NotLoadedError } from '@strata/engine';
import {
  answerSecurity,
  type ErrorFormat,
  type Metrics,
  type ReachedLimit,
  Refusal,
  refusalOf,
  ThrottledLog,
} from '@strata/http';
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
  const throttled = new ThrottledLog(logger);
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
        throttled.refused(request, { code: kind, detail: message });
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

/** The refusals of the server: early ones, unknown paths and methods, and invalid input. */
function ofServer({ code, message, errors: [first], headers }: Refusal, cause: unknown): CompletionError {
  switch (code) {
    case 'not_found':
    case 'foreign_page':
    case 'misdirected_request':
    case 'method_not_allowed':
    case 'uri_too_long':
      return new CompletionError(code, message, { headers, cause });
    case 'payload_too_large':
      return new CompletionError('too_large', message, { cause });
    case 'unsupported_media_type':
      return new CompletionError(code, 'Send JSON, as `Content-Type: application/json`.', { cause });
    case 'unavailable':
      return new CompletionError('overloaded', message, { retryAfterMs: 5_000, headers: { connection: 'close' } });
    default:
      return first
        ? new CompletionError('invalid_value', first.message, { param: first.field })
        : new CompletionError('invalid_request', message, { cause });
  }
}

function ofEngine(cause: EngineError): CompletionError {
  if (cause instanceof NotLoadedError)
    return new CompletionError('overloaded', `The model is not loaded: ${cause.message}; try again later.`, {
      retryAfterMs: cause.retryAfterMs,
      cause,
    });
  switch (cause.code) {
    case 'upstream-refused':
      return new CompletionError(
        'engine_failed',
        'The server behind this model rejects this gateway; the operator of the gateway can fix this.',
        { cause },
      );
    case 'vectors-too-large':
      return new CompletionError(
        'unsupported_value',
        'Embeddings of this model need more memory than this gateway may use; its operator can raise the limit.',
        { param: 'model', cause },
      );
    case 'unsupported':
      return new CompletionError('unsupported_value', `This request cannot be served: ${cause.message}.`, { cause });
    case 'no-worker':
      return new CompletionError(
        'overloaded',
        'No worker with this model is available at present; try again in a moment.',
        { retryAfterMs: 2_000, cause },
      );
    default:
      return new CompletionError('engine_failed', 'The engine failed during this request; a retry may succeed.', {
        retryAfterMs: 1_000,
        cause,
      });
  }
}

/** Converts an error to a response: client errors in detail, internal errors in general terms. */
export function asRefusal(error: unknown): CompletionError {
  if (error instanceof CompletionError) return error;
  if (error instanceof EngineError) return ofEngine(error);
  if (isSuperseded(error))
    return new CompletionError(
      'storage_unavailable',
      'This gateway did not run for a moment, and another one has ended its answers; try again.',
      { retryAfterMs: 2_000, cause: error },
    );
  // The database has keys, quotas and receipts: no request is served that could not be counted or signed.
  if (error instanceof StoreError || error instanceof KeyringError)
    return new CompletionError(
      'storage_unavailable',
      'The database of the service is unavailable at present; try again in a moment.',
      { retryAfterMs: 2_000, cause: error },
    );
  if ((error as { readonly code?: unknown } | undefined)?.code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new CompletionError('uri_too_long', 'A segment of the path is too long.', { cause: error });
  const refusal = refusalOf(error);
  if (refusal) return ofServer(refusal, error);
  return new CompletionError('internal', 'Internal error. Please report the x-request-id.', { cause: error });
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
