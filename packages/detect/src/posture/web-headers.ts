// Security headers of a site: HSTS (RFC 6797) and protections of the page. Read from the site's own answers over HTTPS
// only: a wall's or another domain's headers do not count, and browsers ignore HSTS over HTTP.

import { isPassingError, type Reading } from '../evidence/reading.ts';
import { hostOfUrl } from '../names/names.ts';
import type { Posture } from '../profile.ts';
import { UNMEASURED } from './unmeasured.ts';

const MAX_HEADER_LENGTH = 16_384;
const MAX_DIRECTIVES = 64;
/** Sources that match any host; the author of a link controls the content of a `data:` page. */
const ANY_SOURCE = /^(?:(?:https?:\/\/)?\*|https?:|data:)(?::\*)?$/;
/** Referrer policies that do not disclose paths to other sites. Browsers apply such a policy by default. */
const CAREFUL_REFERRER: ReadonlySet<string> = new Set([
  'no-referrer',
  'same-origin',
  'strict-origin',
  'strict-origin-when-cross-origin',
  'origin',
  'origin-when-cross-origin',
]);

/** HSTS of the site, or of its own redirect to another domain. */
export function hstsPart(reading: Reading): Posture['hsts'] {
  const scheme = ownScheme(reading);
  if (scheme === null) return { ...UNMEASURED.hsts, status: reading.hasNoWeb ? 'absent' : 'unmeasured' };
  const header = scheme === 'https:' ? headerOf(reading, 'strict-transport-security') : undefined;
  if (header === undefined) return { ...UNMEASURED.hsts, status: isError(reading) ? 'unmeasured' : 'absent' };
  // §8.1: of several headers the first counts; they are joined by a comma.
  const directives = (header.split(',', 1)[0] ?? '')
    .split(';', MAX_DIRECTIVES)
    .map((part) => part.trim().toLowerCase());
  const [, seconds] = directives.map((part) => /^max-age\s*=\s*"?(\d{1,64})"?$/.exec(part)).find(Boolean) ?? [];
  if (seconds === undefined) return { ...UNMEASURED.hsts, status: 'absent' };
  return {
    status: 'observed',
    // The header has no limit; a thousand years is the maximum here.
    maxAge: Math.min(Number(seconds), 31_536_000_000),
    includesSubdomains: directives.includes('includesubdomains'),
    isPreload: directives.includes('preload'),
  };
}

/** Protections of the home page. A redirect to another domain has no page to protect. */
export function headersPart(reading: Reading): Posture['headers'] {
  const isMeasured = reading.webAnswer === 'own' && !isError(reading);
  if (!isMeasured) {
    const status = reading.hasNoWeb || reading.webAnswer === 'redirect' ? 'absent' : 'unmeasured';
    return { ...UNMEASURED.headers, status };
  }
  const policy = headerOf(reading, 'content-security-policy');
  const directives = policy === undefined ? null : cspDirectives(policy);
  const frames = (headerOf(reading, 'x-frame-options') ?? '').trim().toLowerCase();
  const referrer = headerOf(reading, 'referrer-policy')?.toLowerCase().split(',', MAX_DIRECTIVES);
  return {
    status: 'observed',
    csp: cspStrength(directives, headerOf(reading, 'content-security-policy-report-only') !== undefined),
    isSniffingOff: (headerOf(reading, 'x-content-type-options') ?? '')
      .split(',')
      .some((part) => part.trim().toLowerCase() === 'nosniff'),
    // Browsers ignore X-Frame-Options if frame-ancestors is present.
    isFramingLimited: directives?.has('frame-ancestors')
      ? isLimited(directives.get('frame-ancestors'))
      : /^(?:deny|sameorigin)\b/.test(frames),
    // The last policy that the browser knows counts.
    isReferrerCareful: referrer === undefined || CAREFUL_REFERRER.has(referrer.at(-1)?.trim() ?? ''),
    hasPermissionsPolicy: headerOf(reading, 'permissions-policy') !== undefined,
  };
}

/** Directives of all policies of the header, the first of each name. */
function cspDirectives(header: string): Map<string, string> {
  const directives = new Map<string, string>();
  for (const part of header.split(/[;,]/, MAX_DIRECTIVES)) {
    const [, name, value = ''] = /^\s*([a-z-]+)(?:\s+(.*))?$/is.exec(part) ?? [];
    if (name !== undefined && !directives.has(name.toLowerCase()))
      directives.set(name.toLowerCase(), value.toLowerCase());
  }
  return directives;
}

/** A policy is strong if it limits scripts, and inline scripts only by nonce or hash. */
function cspStrength(directives: ReadonlyMap<string, string> | null, isReported: boolean): Posture['headers']['csp'] {
  if (directives === null) return isReported ? 'report-only' : 'none';
  const scripts = directives.get('script-src') ?? directives.get('default-src');
  if (scripts === undefined) return 'weak';
  const words = scripts.split(/\s+/, 256);
  const isNamed = words.some((word) => /^'(?:nonce-|sha(?:256|384|512)-)/.test(word));
  // CSP 3 §8.2: with strict-dynamic browsers ignore hosts, schemes and unsafe-inline, which serve older browsers.
  if (isNamed && words.includes("'strict-dynamic'")) return 'strong';
  const isInlineOpen = words.includes("'unsafe-inline'") && !isNamed;
  return isInlineOpen || words.some((word) => ANY_SOURCE.test(word)) ? 'weak' : 'strong';
}

function isLimited(ancestors: string | undefined): boolean {
  return ancestors !== undefined && !ancestors.split(/\s+/, 256).some((word) => ANY_SOURCE.test(word));
}

/** The scheme of the answer with the headers, null if it is not the site's own. */
function ownScheme(reading: Reading): string | null {
  const { http } = reading.evidence;
  if (isPassingError(http.statusCode) || http.url === null) return null;
  if (reading.webAnswer === 'own') return schemeOf(http.url);
  // `url` is the target of the redirect, which was not followed; the answer came from the URL before it.
  const last = http.redirects.at(-1);
  return reading.webAnswer === 'redirect' && last !== undefined ? schemeOf(last) : null;
}

function schemeOf(url: string): string | null {
  if (hostOfUrl(url) === null) return null;
  return url.startsWith('https:') ? 'https:' : (URL.parse(url)?.protocol ?? null);
}

/** An error may come from the server or from a proxy: headers that it lacks may be present on the site's page. */
function isError({ evidence }: Reading): boolean {
  return (evidence.http.statusCode ?? 0) >= 400;
}

function headerOf({ evidence: { http } }: Reading, name: string): string | undefined {
  return Object.hasOwn(http.headers, name) ? http.headers[name]?.slice(0, MAX_HEADER_LENGTH) : undefined;
}
