// The errors of the API: status, type and code of each, as clients of the OpenAI contract expect them.

interface ErrorKind {
  readonly status: number;
  readonly type: string;
  /** The value of `error.code`; null if clients expect only the type. */
  readonly code: string | null;
}

export const ERROR_KINDS = {
  invalid_request: { status: 400, type: 'invalid_request_error', code: null },
  invalid_value: { status: 400, type: 'invalid_request_error', code: 'invalid_value' },
  missing_parameter: { status: 400, type: 'invalid_request_error', code: 'missing_required_parameter' },
  unsupported_value: { status: 400, type: 'invalid_request_error', code: 'unsupported_value' },
  context_length: { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
  invalid_api_key: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  foreign_page: { status: 403, type: 'invalid_request_error', code: 'foreign_page' },
  forbidden: { status: 403, type: 'invalid_request_error', code: 'insufficient_permissions' },
  not_found: { status: 404, type: 'invalid_request_error', code: 'not_found' },
  model_not_found: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', code: 'method_not_allowed' },
  too_large: { status: 413, type: 'invalid_request_error', code: 'request_too_large' },
  uri_too_long: { status: 414, type: 'invalid_request_error', code: 'uri_too_long' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', code: 'unsupported_media_type' },
  misdirected_request: { status: 421, type: 'invalid_request_error', code: 'misdirected_request' },
  rate_limit: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  insufficient_quota: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  internal: { status: 500, type: 'server_error', code: 'internal_error' },
  overloaded: { status: 503, type: 'server_error', code: 'overloaded' },
  engine_failed: { status: 503, type: 'server_error', code: 'engine_failed' },
  storage_unavailable: { status: 503, type: 'server_error', code: 'storage_unavailable' },
} as const satisfies Record<string, ErrorKind>;
export type ErrorName = keyof typeof ERROR_KINDS;

export interface CompletionErrorOptions {
  /** The invalid parameter, for example `messages[0].content`. */
  readonly param?: string | undefined;
  /** When the client should retry. */
  readonly retryAfterMs?: number;
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error with a message for the client. */
export class CompletionError extends Error {
  override readonly name = 'CompletionError';
  readonly kind: ErrorName;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ErrorName, message: string, options: CompletionErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.param = options.param ?? null;
    this.retryAfterMs = options.retryAfterMs;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERROR_KINDS[this.kind].status;
  }
}

/** The body of an error response, and of the error event of a stream that has already started. */
export function errorBody({ kind, message, param }: CompletionError) {
  const { type, code } = ERROR_KINDS[kind];
  return { error: { message, type, param, code } };
}
