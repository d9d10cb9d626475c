// What answers tell a browser, so that one which is opened there, framed or taken for something else does nothing.
// Strict-Transport-Security is not among them: whether there is TLS, only the proxy in front knows.
import type { FastifyReply } from 'fastify';

/** Of every answer that is no page: data, problems, files of the ledger. */
export const answerSecurity = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** Scripts and styles come as files of the site alone; what the page asks for, it asks this server for. */
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

/** Of every page. No other site shares its window, embeds its files, or learns where its reader came from. */
export const pageSecurity = {
  ...answerSecurity,
  'content-security-policy': SITE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), midi=(), payment=(), serial=(), usb=()',
} as const;

/** Adds what the reply does not say already. */
export function addSecurityHeaders(reply: FastifyReply): void {
  const isPage = String(reply.getHeader('content-type') ?? '').startsWith('text/html');
  for (const [name, value] of Object.entries(isPage ? pageSecurity : answerSecurity))
    if (!reply.hasHeader(name)) reply.header(name, value);
}
