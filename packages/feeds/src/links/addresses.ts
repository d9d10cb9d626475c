// Addresses as documents give them: bounded before and after they are resolved.

/** Longest address that is looked at: what servers and browsers take. */
export const MAX_URL_LENGTH = 2_048;
/** RFC 1035 §2.3.4. The URL standard lets longer hosts through, and thousands of labels. */
const MAX_HOST_LENGTH = 253;

/** Http or https, of a host that there may be; null where an address is none. */
export function readAddress(address: string, base?: string): URL | null {
  if (address.length > MAX_URL_LENGTH) return null;
  const url = URL.parse(address.trim(), base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.href.length > MAX_URL_LENGTH || hostOf(url).length > MAX_HOST_LENGTH ? null : url;
}

/** Absolute, http or https; null where an address is none. */
export function resolveAddress(address: string, base: string): string | null {
  return readAddress(address, base)?.href ?? null;
}

/** RFC 4287 §2: each `xml:base` resolves against the one around it; one that is no address counts as missing. */
export function resolveBase(bases: readonly (string | undefined)[], base: string): string {
  return bases.reduce<string>((outer, inner) => {
    return inner === undefined ? outer : (resolveAddress(inner, outer) ?? outer);
  }, base);
}

/** The host without the dot that says that a name is complete. */
export function hostOf(url: URL): string {
  return url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname;
}
