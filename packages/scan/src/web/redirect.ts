// Redirect targets (RFC 9110 §15.4).
import { isUtf8 } from 'node:buffer';

const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);
const MAX_LOCATION_LENGTH = 2_048;

/** The next URL with any scheme, without credentials and fragment; undefined if the answer is not a redirect. */
export function redirectTarget(status: number, location: string | undefined, base: URL): URL | undefined {
  if (!REDIRECT_STATUS.has(status) || !location || location.length > MAX_LOCATION_LENGTH) return undefined;
  const next = URL.parse(asWritten(location), base);
  return next === null ? undefined : withoutSecrets(next);
}

/** Node reads headers as Latin-1; servers that do not escape a path mostly send UTF-8. */
function asWritten(location: string): string {
  const bytes = Buffer.from(location, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : location;
}

/** The URL without credentials and fragment. */
export function withoutSecrets(url: URL): URL {
  const next = new URL(url);
  next.hash = '';
  next.username = '';
  next.password = '';
  return next;
}

export function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}
