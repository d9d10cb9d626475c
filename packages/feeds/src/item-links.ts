// The domains that an item names: by where it leads and by the links in its text, past redirectors, and never its own.
import { parseDomain } from '@strata/detect';
import type { NamedDomain } from './feed.ts';
import { linksOfHtml } from './html-text.ts';
import { REDIRECTORS, type Redirector } from './redirectors.ts';

/** Links looked at of one item; link lists and spam hold more. */
const MAX_ITEM_LINKS = 500;
/** Characters of HTML read of one item. */
const MAX_ITEM_CHARACTERS = 200_000;
const MAX_URL_LENGTH = 2_048;
/** A redirector may lead to another; three deep is more than honest feeds have. */
const MAX_UNWRAPPED = 3;
/** On the Public Suffix List, but not for anybody to register (RFC 3172, RFC 7686). */
const RESERVED_SUFFIXES: ReadonlySet<string> = new Set(['arpa', 'onion']);

const BY_HOST: ReadonlyMap<string, readonly Redirector[]> = Map.groupBy(REDIRECTORS, ({ host }) => host);

export interface ItemLinks {
  /** Where the item leads, absolute; null where nowhere. */
  readonly url: string | null;
  /** Where enclosures, sources and related links lead. */
  readonly related: readonly string[];
  readonly html: readonly string[];
}

/** What is known of a feed while its items are read; one for all items of a feed. */
export interface LinkReader {
  /** What the feed's relative addresses resolve against. */
  readonly base: string;
  /** Registrable domains of the feed's address and site. */
  readonly own: ReadonlySet<string>;
  /** By host, so that a name met a thousand times is looked up once. */
  readonly known: Map<string, string | null>;
  /** Links that may still be looked at in this feed. */
  linksLeft: number;
}

/** Links looked at of one feed: a thousand items of five hundred would hold up everyone else. */
const MAX_FEED_LINKS = 20_000;

/** `addresses`: of the feed and of its site. */
export function createLinkReader(base: string, addresses: readonly (string | null)[]): LinkReader {
  const reader = { base, own: new Set<string>(), known: new Map<string, string | null>(), linksLeft: MAX_FEED_LINKS };
  for (const address of addresses) {
    const url = address === null ? null : URL.parse(address);
    const domain = url === null ? null : domainOf(url, reader.known);
    if (domain !== null) reader.own.add(domain);
  }
  return reader;
}

/** Each domain once, the one that the item leads to first. `base` is what the item's relative links resolve against. */
export function namedDomains(
  { url, related, html }: ItemLinks,
  { base, reader }: { readonly base: string; readonly reader: LinkReader },
): NamedDomain[] {
  const named = new Map<string, NamedDomain>();
  const add = (address: string, kind: NamedDomain['kind']) => {
    const domain = namedBy(address, { base, known: reader.known });
    if (domain !== null && !reader.own.has(domain) && !named.has(domain)) named.set(domain, { domain, kind });
  };
  if (url !== null) add(url, 'link');
  let linksLeft = Math.min(MAX_ITEM_LINKS, reader.linksLeft);
  let charactersLeft = MAX_ITEM_CHARACTERS;
  const look = (addresses: readonly string[]) => {
    for (const address of addresses.slice(0, linksLeft)) add(address, 'content');
    linksLeft -= Math.min(linksLeft, addresses.length);
  };
  const before = linksLeft;
  look(related);
  for (const text of html) {
    if (linksLeft === 0 || charactersLeft <= 0) break;
    look(linksOfHtml(text, { maxCharacters: charactersLeft, maxLinks: linksLeft }));
    charactersLeft -= text.length;
  }
  reader.linksLeft -= before - linksLeft;
  return [...named.values()];
}

/** The registrable domain that an address names; null where it names nobody. */
function namedBy(address: string, { base, known }: Pick<LinkReader, 'base' | 'known'>): string | null {
  let url = readUrl(address, base);
  for (let unwrapped = 0; url !== null; unwrapped++) {
    const redirector = redirectorOf(url);
    if (redirector === null) return domainOf(url, known);
    url = redirector.kind === 'opaque' || unwrapped === MAX_UNWRAPPED ? null : targetOf(url, redirector);
  }
  return null;
}

function readUrl(address: string, base?: string): URL | null {
  if (address.length > MAX_URL_LENGTH) return null;
  const url = URL.parse(address, base);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url : null;
}

function redirectorOf(url: URL): Redirector | null {
  const path = url.pathname.toLowerCase();
  let host = url.hostname;
  for (;;) {
    const found = BY_HOST.get(host)?.find((redirector) => path.startsWith(redirector.path ?? '/'));
    if (found !== undefined) return found;
    const dot = host.indexOf('.');
    if (dot === -1) return null;
    host = host.slice(dot + 1);
  }
}

function targetOf(url: URL, { parameters = [] }: Redirector): URL | null {
  for (const parameter of parameters) {
    const value = parameter === '*' ? addressWithin(url) : url.searchParams.get(parameter);
    const target = value === null ? null : readUrl(value);
    if (target !== null) return target;
  }
  return null;
}

/** The first http address in path and query, escaped or not. */
function addressWithin(url: URL): string | null {
  const rest = `${url.pathname}${url.search}`;
  const start = rest.search(/https?(?::|%3a)/i);
  if (start === -1) return null;
  const found = rest.slice(start);
  if (!/^https?%3a/i.test(found)) return found;
  try {
    // An escaped address ends where an unescaped separator follows.
    return decodeURIComponent(found.split(/[&/;?]/, 1)[0] ?? '');
  } catch {
    return null;
  }
}

function domainOf(url: URL, known: Map<string, string | null>): string | null {
  const host = url.hostname;
  const before = known.get(host);
  if (before !== undefined) return before;
  const parsed = parseDomain(host);
  const domain = parsed.ok && isPublic(parsed.domain) ? parsed.domain : null;
  known.set(host, domain);
  return domain;
}

/** Whether the last label is on the Public Suffix List: `.test`, `.invalid` and names of private networks are not. */
function isPublic(domain: string): boolean {
  const suffix = domain.slice(domain.lastIndexOf('.') + 1);
  const parsed = parseDomain(suffix);
  return !RESERVED_SUFFIXES.has(suffix) && !parsed.ok && parsed.problem === 'public-suffix';
}
