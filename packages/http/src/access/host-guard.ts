// Whom a service answers: what is addressed to a name of its own, and at this machine's own address no page of another site.
// A browser asks whatever a page tells it to, on the reader's own machine too, and lets the page read the answer when its
// name leads here (DNS rebinding) or the answer allows it; only `Host` and `Origin` tell such requests from the reader's own.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

export interface FrontDoorOptions {
  /** The address that the service listens on, as its setting says it. */
  readonly host: string;
  /** Names besides this machine's that requests may be addressed to and pages come from, `api.example.com`; `*`: any. */
  readonly allowedHosts: readonly string[];
  /** Below this path nothing is told without a key; pages of any site may ask there, as any other client that was given one. */
  readonly keyedPath?: string;
}

export interface TurnedAway {
  /**
   * 400: more than one host, of which each server on the way may take another (RFC 9112, 3.2); 421: a name that is not ours
   * (RFC 9110, 15.5.20); 403: asked by a page of another site.
   */
  readonly status: 400 | 421 | 403;
  /** Holds nothing of the request. */
  readonly detail: string;
}

const MAX_KNOWN = 100;

/** `host` is what the request is addressed to as a trusted proxy says it, else the same as its `Host`. */
interface Arriving {
  readonly headers: IncomingHttpHeaders;
  readonly host: string;
  /** Names and values in turn, as they came. */
  readonly raw: { readonly rawHeaders: readonly string[]; readonly url?: string | undefined };
}

/** What a service of either kind calls its refusals. */
export function refusalCodeOf({ status }: TurnedAway): 'foreign_page' | 'misdirected_request' | undefined {
  if (status === 400) return undefined;
  return status === 403 ? 'foreign_page' : 'misdirected_request';
}

export interface FrontDoor {
  /** Undefined for a request that may come in. */
  turnAway(request: Arriving): TurnedAway | undefined;
  /**
   * Whether a page asks that is neither of this service, nor of its machine while it is asked there, nor of an allowed name.
   * Browsers say where a request comes from (Fetch Metadata, `Sec-Fetch-Site`), yet not to a plain HTTP address of another
   * machine: there `Origin` tells, which a POST always has. Programs say nothing.
   */
  isFromOtherSite(request: Pick<Arriving, 'headers' | 'host'>): boolean;
}

/** Browsers take every name below `localhost` for this machine (RFC 6761, 6.3). */
const LOCAL_NAME = /^(?:.+\.)?localhost$/;
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Names are checked where the service listens for this machine alone, and wherever `allowedHosts` names some: a listener for
 * others does not know what it is called. An address in `Host` is always let in: no name leads a browser to it.
 */
export function createFrontDoor({ host, allowedHosts, keyedPath }: FrontDoorOptions): FrontDoor {
  const named = new Set([host, ...allowedHosts].map(bareName));
  const isAnyNamed = named.has('*');
  const areNamesChecked = !isAnyNamed && (allowedHosts.length > 0 || isLocal(bareName(host)));
  const isOurs = (name: string) => isIP(name) !== 0 || isLocal(name) || named.has(name);
  // As clients write us; nearly every request has one of a few.
  const known = new Set<string>();
  function turnAway(request: Arriving): TurnedAway | undefined {
    const { host: addressed, origin } = request.headers;
    // HTTP/1.0 needs none, and browsers do not speak it.
    if (addressed === undefined) return undefined;
    if (hostsOf(request) > 1) return { status: 400, detail: 'The request has more than one Host header.' };
    if (origin === undefined && known.has(addressed)) return undefined;
    const name = nameOf(addressed);
    if (name === undefined) return { status: 421, detail: 'The Host header names no host.' };
    if (areNamesChecked && !isOurs(name)) return { status: 421, detail: MISDIRECTED };
    if (known.size < MAX_KNOWN) known.add(addressed);
    if (origin === undefined || isAnyNamed || !isAddressOrLocal(name)) return undefined;
    if (keyedPath !== undefined && request.raw.url?.startsWith(keyedPath)) return undefined;
    const from = siteOf(origin);
    if (from === undefined || isLocal(from) || (from !== '' && named.has(from))) return undefined;
    // A page cannot say on whose behalf it asks: that header is not among those it may set without being allowed to first.
    if (from === name || from === nameOf(request.host)) return undefined;
    return { status: 403, detail: FOREIGN };
  }

  function isFromOtherSite({ headers, host: addressed }: Pick<Arriving, 'headers' | 'host'>): boolean {
    const { 'sec-fetch-site': said, origin } = headers;
    if (said === 'same-origin' || said === 'none') return false;
    if (isAnyNamed) return false;
    if (origin === undefined) return said !== undefined;
    if (said === undefined && URL.parse(origin)?.host === addressed.toLowerCase()) return false;
    const from = siteOf(origin);
    if (from === undefined || from === '') return true;
    return !(named.has(from) || (isLocal(from) && isLocal(nameOf(addressed) ?? '')));
  }

  return { turnAway, isFromOtherSite };
}

const isAddressOrLocal = (name: string) => isIP(name) !== 0 || isLocal(name);

/** Node passes on the first alone. */
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

/** The host of a `Host` header, as URLs write it but for the brackets of IPv6; undefined when it is none. */
function nameOf(addressed: string): string | undefined {
  // What could end the host of a URL stands in no host name.
  if (addressed.length > 300 || /[/?#@\\\s]/.test(addressed)) return undefined;
  const url = URL.parse(`http://${addressed}`);
  return url === null ? undefined : bareName(url.hostname);
}

/**
 * The host of the site that a page is of, empty for a page that hides it (`null`: a sandboxed frame); undefined for what no
 * site can be, such as an installed program (`app://`, `vscode-webview://`).
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

const HOW = 'Its operator can allow it with STRATA_ALLOWED_HOSTS.';
const MISDIRECTED = `This service does not have the name in the Host header. ${HOW}`;
const FOREIGN = `A page of another site may not ask a service of this machine. ${HOW}`;
