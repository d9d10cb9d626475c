// Where an answer sends its reader on to (RFC 9110 §15.4).

const REDIRECT_STATUS = new Set([301, 302, 303, 307, 308]);
const MAX_LOCATION_LENGTH = 2_048;

/** The next URL, of whatever scheme, without credentials and fragment; undefined when the answer is no redirect. */
export function redirectTarget(status: number, location: string | undefined, base: URL): URL | undefined {
  if (!REDIRECT_STATUS.has(status) || !location || location.length > MAX_LOCATION_LENGTH) return undefined;
  return URL.canParse(location, base) ? withoutSecrets(new URL(location, base)) : undefined;
}

/** What of a URL is asked for: no credentials, no fragment. */
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
