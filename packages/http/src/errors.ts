// Every refusal the API knows: code -> status and title. Codes are part of the contract (RFC 9457 problem details).

export const ERRORS = {
  missing_key: { status: 401, title: 'An API key is needed' },
  invalid_key: { status: 401, title: 'The API key is not valid' },
  invalid_domain: { status: 400, title: 'Not a domain name' },
  invalid_parameter: { status: 400, title: 'A parameter cannot be used' },
  foreign_page: { status: 403, title: 'Pages of other sites may not ask here' },
  unknown_domain: { status: 404, title: 'The domain has not been analyzed' },
  unknown_provider: { status: 404, title: 'The provider is not known' },
  not_found: { status: 404, title: 'Nothing is here' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  payload_too_large: { status: 413, title: 'The request body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The request body has a type that is not read here' },
  misdirected_request: { status: 421, title: 'The request is addressed to another host' },
  quota_exceeded: { status: 429, title: 'The quota is used up' },
  header_too_large: { status: 431, title: 'The request is too large' },
  internal_error: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Not available right now' },
} as const satisfies Record<string, { status: number; title: string }>;

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

  constructor(code: ErrorCode, detail: string, options: RefusalOptions = {}) {
    super(detail);
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
  }
}
