// The request and response headers that are allowed for pages of other sites (Fetch standard, CORS).

/** Request headers. */
export const ALLOWED_HEADERS = [
  ...['authorization', 'content-type', 'x-request-id', 'openai-organization', 'openai-project'],
  ...[
    'x-stainless-arch',
    'x-stainless-lang',
    'x-stainless-os',
    'x-stainless-package-version',
    'x-stainless-retry-count',
  ],
  ...['x-stainless-runtime', 'x-stainless-runtime-version', 'x-stainless-timeout', 'x-stainless-helper-method'],
].join(', ');

/** Response headers. */
export const EXPOSED_HEADERS = [
  ...['x-request-id', 'x-receipt-id', 'x-receipt-salt', 'retry-after', 'retry-after-ms', 'x-should-retry'],
  ...['requests', 'tokens'].flatMap((what) =>
    ['limit', 'remaining', 'reset'].map((which) => `x-ratelimit-${which}-${what}`),
  ),
].join(', ');
