// The domains that an item mentions: by its link and by links in its content, with redirectors resolved, without the feed's own.
import { parseDomain } from '@strata/detect';
import type { NamedDomain } from '../feed.ts';
import { hostOf, readAddress } from './addresses.ts';
import { ASSET_HOSTS } from './asset-hosts.ts';
import { linksOfHtml } from './html-text.ts';
import { REDIRECTORS, type Redirector } from './redirectors.ts';

/** Links processed per item; link lists and spam contain more. */
const MAX_ITEM_LINKS = 500;
/** Characters of HTML processed per item. */
const MAX_ITEM_CHARACTERS = 200_000;
/** Nested redirectors; legitimate feeds have fewer than three levels. */
const MAX_UNWRAPPED = 3;
/** On the Public Suffix List, but not open to registration (RFC 3172, RFC 7686). */
const RESERVED_SUFFIXES: ReadonlySet<string> = new Set(['arpa', 'onion']);

const ASSETS: readonly Redirector[] = ASSET_HOSTS.map((host) => ({ host, kind: 'opaque' }));
const BY_HOST: ReadonlyMap<string, readonly Redirector[]> = Map.groupBy(
  [...REDIRECTORS, ...ASSETS],
  ({ host }) => host,
);
const MAX_LABELS = Math.max(...[...BY_HOST.keys()].map((host) => host.split('.').length));
/** Google's hosts in all countries redirect alike. */
const GOOGLE = /(?<=^|\.)google\.(?:[a-z]{2}|com?\.[a-z]{2})$/;

/** HTML, and the base of its relative links. */
export interface LinkedText {
  readonly text: string;
  readonly base: string;
}

export interface ItemLinks {
  /** The item's link, absolute; null if it has none. */
  readonly url: string | null;
  /** Links of enclosures, sources and related links. */
  readonly related: readonly string[];
  readonly html: readonly LinkedText[];
}

/** A host, classified. */
export interface Host {
  /** The registrable domain; null if the host has none. */
  readonly domain: string | null;
  /** Redirectors of the host and its parents, nearest first. */
  readonly redirectors: readonly Redirector[];
}

/** State shared by all items of a feed while they are read. */
export interface LinkReader {
  /** The base of the feed's relative URLs. */
  readonly base: string;
  /** Registrable domains of the feed's URLs and site. */
  readonly own: ReadonlySet<string>;
  /** By host: a repeated name is classified once. */
  readonly known: Map<string, Host>;
  /** Links that may still be processed in this feed. */
  linksLeft: number;
}

/** Links processed per feed: a thousand items of five hundred links would block the process. */
const MAX_FEED_LINKS = 20_000;

/** `addresses`: the feed's URL, those that redirected to it, and its site. */
export function createLinkReader(base: string, addresses: readonly (string | null)[]): LinkReader {
  const reader = { base, own: new Set<string>(), known: new Map<string, Host>(), linksLeft: MAX_FEED_LINKS };
  for (const address of addresses) {
    const url = address === null ? null : readAddress(address);
    const domain = url === null ? null : classify(url, reader.known).domain;
    if (domain !== null) reader.own.add(domain);
  }
  return reader;
}

/** Without duplicates, the domain of the item's link first. `base` is the base of its related links. */
export function namedDomains(
  { url, related, html }: ItemLinks,
  { base, reader }: { readonly base: string; readonly reader: LinkReader },
): NamedDomain[] {
  const named = new Map<string, NamedDomain>();
  const add = (address: string, kind: NamedDomain['kind'], base: string) => {
    const domain = namedBy(address, { base, known: reader.known });
    if (domain !== null && !reader.own.has(domain) && !named.has(domain)) named.set(domain, { domain, kind });
  };
  if (url !== null) add(url, 'link', base);
  let linksLeft = Math.min(MAX_ITEM_LINKS, reader.linksLeft);
  let charactersLeft = MAX_ITEM_CHARACTERS;
  const addAll = (addresses: readonly string[], base: string) => {
    for (const address of addresses.slice(0, linksLeft)) add(address, 'content', base);
    linksLeft -= Math.min(linksLeft, addresses.length);
  };
  const before = linksLeft;
  addAll(related, base);
  for (const { text, base } of html) {
    if (linksLeft === 0 || charactersLeft <= 0) break;
    addAll(linksOfHtml(text, { maxCharacters: charactersLeft, maxLinks: linksLeft }), base);
    charactersLeft -= text.length;
  }
  reader.linksLeft -= before - linksLeft;
  return [...named.values()];
}

/** The registrable domain that a URL refers to; null if it has none. */
function namedBy(address: string, { base, known }: Pick<LinkReader, 'base' | 'known'>): string | null {
  let url = readAddress(address, base);
  for (let unwrapped = 0; url !== null; unwrapped++) {
    const { domain, redirectors } = classify(url, known);
    const path = url.pathname.toLowerCase();
    const redirector = redirectors.find((each) => leadsThrough(path, each.path ?? '/'));
    if (redirector === undefined) return domain;
    url = redirector.kind === 'opaque' || unwrapped === MAX_UNWRAPPED ? null : targetOf(url, redirector);
  }
  return null;
}

/** A prefix matches complete segments: `/share` matches neither `/shares` nor `/sharepoint`. */
function leadsThrough(path: string, prefix: string): boolean {
  if (!path.startsWith(prefix)) return false;
  const next = path[prefix.length];
  return prefix.endsWith('/') || next === undefined || next === '/' || next === '.';
}

function targetOf(url: URL, { parameters = [] }: Redirector): URL | null {
  for (const parameter of parameters) {
    const value = parameter === '*' ? addressWithin(url) : url.searchParams.get(parameter);
    const target = value === null ? null : readAddress(value);
    if (target !== null) return target;
  }
  return null;
}

/** The first http URL in path and query, escaped or not. */
function addressWithin(url: URL): string | null {
  const rest = `${url.pathname}${url.search}`;
  const start = rest.search(/https?(?::|%3a)/i);
  if (start === -1) return null;
  const found = rest.slice(start);
  if (!/^https?%3a/i.test(found)) return found;
  try {
    // An escaped URL ends at the first unescaped separator.
    return decodeURIComponent(found.split(/[&/;?]/, 1)[0] ?? '');
  } catch {
    return null;
  }
}

function classify(url: URL, known: Map<string, Host>): Host {
  const name = hostOf(url);
  const before = known.get(name);
  if (before !== undefined) return before;
  const parsed = parseDomain(name);
  const domain = parsed.ok && isPublic(parsed.domain) ? parsed.domain : null;
  const host = { domain, redirectors: redirectorsOf(name.replace(GOOGLE, 'google.com')) };
  known.set(name, host);
  return host;
}

function redirectorsOf(host: string): Redirector[] {
  const labels = host.split('.').slice(-MAX_LABELS);
  return labels.flatMap((_, at) => BY_HOST.get(labels.slice(at).join('.')) ?? []);
}

/** Whether the last label is on the Public Suffix List: `.test`, `.invalid` and private names are not. */
function isPublic(domain: string): boolean {
  const suffix = domain.slice(domain.lastIndexOf('.') + 1);
  const parsed = parseDomain(suffix);
  return !RESERVED_SUFFIXES.has(suffix) && !parsed.ok && parsed.problem === 'public-suffix';
}
