// URLs from documents: length-limited before and after they are resolved.

/** The longest URL that is processed, as in common servers and browsers. */
export const MAX_URL_LENGTH = 2_048;
/** RFC 1035 §2.3.4. The URL standard permits longer hosts, with thousands of labels. */
const MAX_HOST_LENGTH = 253;

/** An http or https URL with a valid host length; null if invalid. */
export function readAddress(address: string, base?: string): URL | null {
  if (address.length > MAX_URL_LENGTH) return null;
  const url = URL.parse(address.trim(), base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.href.length > MAX_URL_LENGTH || hostOf(url).length > MAX_HOST_LENGTH ? null : url;
}

/** An absolute http or https URL; null if invalid. */
export function resolveAddress(address: string, base: string): string | null {
  return readAddress(address, base)?.href ?? null;
}

/** RFC 4287 §2: each `xml:base` resolves against the enclosing one; an invalid one is ignored. */
export function resolveBase(bases: readonly (string | undefined)[], base: string): string {
  return bases.reduce<string>((outer, inner) => {
    return inner === undefined ? outer : (resolveAddress(inner, outer) ?? outer);
  }, base);
}

/** The host without trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname;
}
