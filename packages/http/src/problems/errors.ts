// Every refusal the API knows: code -> status, title and detail. Codes are part of the contract (RFC 9457 problem details).

/**
 * `detail` is for callers without a valid key, who all get the same body: it holds nothing of a request. Where a caller with a key
 * gets a more precise one, the refusal brings it.
 */
export const ERRORS = {
  missing_key: {
    status: 401,
    title: 'An API key is needed',
    detail: 'Send your API key in the header X-Stack-Key. POST /keys gives a free one.',
  },
  invalid_key: {
    status: 401,
    title: 'The API key is not valid',
    detail: 'This API key is unknown or was revoked.',
  },
  invalid_domain: { status: 400, title: 'Not a domain name', detail: 'This is not the name of a domain.' },
  invalid_parameter: {
    status: 400,
    title: 'A parameter cannot be used',
    detail: 'The path, the query or the body cannot be used. GET /openapi.json describes what can.',
  },
  foreign_page: {
    status: 403,
    title: 'Pages of other sites may not ask here',
    detail: 'Open a page of this service. Its operator can allow other sites with STRATA_ALLOWED_HOSTS.',
  },
  unknown_domain: {
    status: 404,
    title: 'The domain has not been analyzed',
    detail: 'Nothing is known of this domain.',
  },
  unknown_provider: {
    status: 404,
    title: 'The provider is not known',
    detail: 'No provider has this id, name or alias.',
  },
  not_found: {
    status: 404,
    title: 'Nothing is here',
    detail: 'Nothing is at this path. GET /openapi.json lists all paths.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    detail: 'The header Allow lists the methods of this path.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    detail: 'Send no body, or a smaller one.',
  },
  uri_too_long: { status: 414, title: 'The URL is too long', detail: 'Send a shorter URL.' },
  unsupported_media_type: {
    status: 415,
    title: 'The request body has a type that is not read here',
    detail: 'Send no body, or application/json.',
  },
  misdirected_request: {
    status: 421,
    title: 'The request is addressed to another host',
    detail:
      'This service does not have the name in the Host header. Its operator can add it with STRATA_ALLOWED_HOSTS.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The quota is used up',
    detail: 'The header Retry-After says in how many seconds to ask again.',
  },
  header_too_large: { status: 431, title: 'The request is too large', detail: 'Send fewer or shorter headers.' },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong here. The id in the header X-Request-Id helps to find out what.',
  },
  unavailable: {
    status: 503,
    title: 'Not available right now',
    detail: 'The service cannot answer this right now. Try again later.',
  },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

export type ErrorCode = keyof typeof ERRORS;

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

export interface RefusalOptions {
  readonly errors?: readonly FieldProblem[];
  /** Extra response headers, lower-case: `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is answered with a problem: the client's fault or our limit, never a bug. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly errors: readonly FieldProblem[];
  readonly headers: Readonly<Record<string, string>>;

  /** `detail` undefined: that of the table. */
  constructor(code: ErrorCode, detail?: string, options: RefusalOptions = {}) {
    super(detail ?? ERRORS[code].detail);
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
  }
}
