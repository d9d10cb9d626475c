// Restricts requests by Host and Origin: only this service's own names, and on a loopback listener no pages of other
// sites. A browser sends requests for any page, also to its own machine, and lets the page read the response if the
// page's name resolves to this address (DNS rebinding) or the response allows it; only `Host` and `Origin` reveal such
// requests.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { Refusal } from '../problems/errors.ts';

interface HostGuardOptions {
  /** The configured listen address. */
  readonly host: string;
  /** Names, in addition to those of this machine, that are accepted in Host and Origin, `api.example.com`; `*`: any. */
  readonly allowedHosts: readonly string[];
  /** Below this path every request needs a key; pages of any site may call it, like any other client with a key. */
  readonly keyedPath?: string;
}

const MAX_KNOWN = 100;

/** `host` is the requested host from a trusted proxy, otherwise the `Host` header. */
interface Arriving {
  readonly headers: IncomingHttpHeaders;
  readonly host: string;
  /** Alternating names and values, as received. */
  readonly raw: { readonly rawHeaders: readonly string[]; readonly url?: string | undefined };
}

export interface HostGuard {
  /**
   * Undefined for an accepted request; the text contains nothing from the request. `invalid_parameter` (400): more than
   * one host, which servers on the path may interpret differently (RFC 9112, 3.2); `misdirected_request` (421): an
   * unknown host name (RFC 9110, 15.5.20); `foreign_page` (403): requested by a page of another site.
   */
  refusalOf(request: Arriving): Refusal | undefined;
  /**
   * Whether the request comes from a page that belongs neither to this service, nor to a loopback service, nor to an
   * allowed name. Browsers send `Sec-Fetch-Site` (Fetch Metadata), but not to a plain HTTP address of another machine:
   * `Origin` decides there, which a POST always has. Programs send neither.
   */
  isCrossSite(request: Pick<Arriving, 'headers' | 'host'>): boolean;
}

/** Browsers resolve every name below `localhost` to this machine (RFC 6761, 6.3). */
const LOCAL_NAME = /^(?:.+\.)?localhost$/;
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Names are checked if the service listens on loopback, or if `allowedHosts` lists any: a public listener does not know
 * its own names. An IP address in `Host` is always accepted: DNS rebinding needs a name.
 */
export function createHostGuard({ host, allowedHosts, keyedPath }: HostGuardOptions): HostGuard {
  const named = new Set([host, ...allowedHosts].map(bareName));
  const isAnyNamed = named.has('*');
  const areNamesChecked = !isAnyNamed && (allowedHosts.length > 0 || isLocal(bareName(host)));
  const isOurs = (name: string) => isIP(name) !== 0 || isLocal(name) || named.has(name);
  // Cache of `Host` values; nearly all requests have one of a few.
  const known = new Set<string>();
  function refusalOf(request: Arriving): Refusal | undefined {
    const { host: addressed, origin, 'sec-fetch-site': fetchSite } = request.headers;
    // HTTP/1.0 requires no Host, and browsers do not use it.
    if (addressed === undefined) return undefined;
    if (hostsOf(request) > 1) return new Refusal('invalid_parameter', 'The request has more than one Host header.');
    if (origin === undefined && known.has(addressed)) return undefined;
    const name = nameOf(addressed);
    if (name === undefined) return new Refusal('misdirected_request', 'The Host header is not a valid host.');
    if (areNamesChecked && !isOurs(name)) return new Refusal('misdirected_request');
    if (known.size < MAX_KNOWN) known.add(addressed);
    if (origin === undefined || isAnyNamed || !isAddressOrLocal(name)) return undefined;
    if (keyedPath !== undefined && request.raw.url?.startsWith(keyedPath)) return undefined;
    // A form of a page without a referrer has the origin `null`, and so has a sandboxed frame, which is cross-site.
    if (fetchSite === 'same-origin') return undefined;
    const from = siteOf(origin);
    if (from === undefined || isLocal(from) || (from !== '' && named.has(from))) return undefined;
    // A page cannot forge this header: setting it requires a preflight request.
    if (from === name || from === nameOf(request.host)) return undefined;
    return new Refusal('foreign_page', FOREIGN);
  }

  function isCrossSite({ headers, host: addressed }: Pick<Arriving, 'headers' | 'host'>): boolean {
    const { 'sec-fetch-site': fetchSite, origin } = headers;
    if (fetchSite === 'same-origin' || fetchSite === 'none') return false;
    if (isAnyNamed) return false;
    if (origin === undefined) return fetchSite !== undefined;
    if (fetchSite === undefined && URL.parse(origin)?.host === addressed.toLowerCase()) return false;
    const from = siteOf(origin);
    if (from === undefined || from === '') return true;
    return !(named.has(from) || (isLocal(from) && isLocal(nameOf(addressed) ?? '')));
  }

  return { refusalOf, isCrossSite };
}

const isAddressOrLocal = (name: string) => isIP(name) !== 0 || isLocal(name);

/** Counted in the raw headers, because Node keeps only the first. */
function hostsOf({ raw: { rawHeaders } }: Arriving): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

function isLocal(name: string): boolean {
  const family = isIP(name);
  if (family === 0) return LOCAL_NAME.test(name);
  return loopback.check(name, family === 6 ? 'ipv6' : 'ipv4');
}

/** The normalized host of a `Host` header, without the brackets of IPv6; undefined if it is invalid. */
function nameOf(addressed: string): string | undefined {
  // These characters would end the host in a URL.
  if (addressed.length > 300 || /[/?#@\\\s]/.test(addressed)) return undefined;
  const url = URL.parse(`http://${addressed}`);
  return url === null ? undefined : bareName(url.hostname);
}

/**
 * The host of the site that a page belongs to; empty for an opaque origin (`null`: a sandboxed frame); undefined for
 * origins that are not sites, such as an installed program (`app://`, `vscode-webview://`).
 */
function siteOf(origin: string): string | undefined {
  const url = URL.parse(origin);
  if (url === null) return '';
  return url.protocol === 'http:' || url.protocol === 'https:' ? bareName(url.hostname) : undefined;
}

function bareName(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

const FOREIGN =
  'A page of another site may not send requests to a service of this machine. Its operator can allow it with STRATA_ALLOWED_HOSTS.';
