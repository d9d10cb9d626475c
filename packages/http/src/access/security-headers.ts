// Security headers, so that a response that is opened, framed or misinterpreted by a browser has no effect.
// Strict-Transport-Security is not included: only the proxy in front knows whether there is TLS.
import type { FastifyReply } from 'fastify';

/** For all responses that are not pages: data, problems, files of the ledger. */
export const answerSecurity = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** Scripts and styles only from the site's files; requests only to this server. */
const SITE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** For every page: no shared window, no embedding by other sites, no referrer. */
export const pageSecurity = {
  ...answerSecurity,
  'content-security-policy': SITE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()',
} as const;

const [PAGE_HEADERS, ANSWER_HEADERS] = [Object.entries(pageSecurity), Object.entries(answerSecurity)];

/** Adds the headers that the reply does not have yet. */
export function addSecurityHeaders(reply: FastifyReply): void {
  const isPage = String(reply.getHeader('content-type') ?? '').startsWith('text/html');
  for (const [name, value] of isPage ? PAGE_HEADERS : ANSWER_HEADERS)
    if (!reply.hasHeader(name)) reply.header(name, value);
}
