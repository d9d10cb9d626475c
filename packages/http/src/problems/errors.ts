// Every error code of the API with status, title and detail. Codes are part of the contract (RFC 9457 problem details).

/**
 * `detail` is for callers without a valid key, who all get the same body: it contains nothing from the request. For a
 * caller with a key, the refusal may supply a more precise one.
 */
export const ERRORS = {
  missing_key: {
    status: 401,
    title: 'API key required',
    detail: 'Send your API key in the header X-Stack-Key. POST /keys creates a free key.',
  },
  invalid_key: {
    status: 401,
    title: 'Invalid API key',
    detail: 'This API key is unknown or was revoked.',
  },
  invalid_domain: { status: 400, title: 'Invalid domain name', detail: 'This is not a valid domain name.' },
  invalid_parameter: {
    status: 400,
    title: 'Invalid parameter',
    detail: 'The path, the query or the body is invalid. GET /openapi.json describes the valid values.',
  },
  foreign_page: {
    status: 403,
    title: 'Cross-site request not allowed',
    detail: 'Open a page of this service. Its operator can allow other sites with STRATA_ALLOWED_HOSTS.',
  },
  unknown_domain: {
    status: 404,
    title: 'Domain not analyzed',
    detail: 'This domain has not been analyzed.',
  },
  unknown_provider: {
    status: 404,
    title: 'Provider not found',
    detail: 'No provider has this id, name or alias.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: 'There is no resource at this path. GET /openapi.json lists all paths.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'The header Allow lists the methods of this path.',
  },
  payload_too_large: {
    status: 413,
    title: 'Request body too large',
    detail: 'Send no body, or a smaller one.',
  },
  uri_too_long: { status: 414, title: 'URL too long', detail: 'Send a shorter URL.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported content type',
    detail: 'Send no body, or a body of type application/json.',
  },
  misdirected_request: {
    status: 421,
    title: 'Unknown host',
    detail:
      'This service does not have the name in the Host header. Its operator can add it with STRATA_ALLOWED_HOSTS.',
  },
  quota_exceeded: {
    status: 429,
    title: 'Quota exceeded',
    detail: 'The header Retry-After contains the seconds to wait.',
  },
  header_too_large: { status: 431, title: 'Request header too large', detail: 'Send fewer or shorter headers.' },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'An internal error occurred. Report the id in the header X-Request-Id to the operator.',
  },
  unavailable: {
    status: 503,
    title: 'Service unavailable',
    detail: 'The service cannot answer this request at the moment. Try again later.',
  },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

export type ErrorCode = keyof typeof ERRORS;

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  /** Where in the value the problem begins: the number of the character, from 1. */
  readonly position?: number;
}

export interface RefusalOptions {
  readonly errors?: readonly FieldProblem[];
  /** Extra response headers, in lower case: `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is answered with a problem: the client's fault or our limit, never a bug. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly errors: readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;

  /** `detail` undefined: the default of the table. */
  constructor(code: ErrorCode, detail?: string, options: RefusalOptions = {}) {
    super(detail ?? ERRORS[code].detail);
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
  }
}
