// RSS, RDF and Atom of every version -> one form, by feedsmith, from a document that was made harmless before.
import { parseAtomFeed, parseRdfFeed, parseRssFeed } from 'feedsmith';
import { tidyXml } from '../xml/tidy-xml.ts';
import { FEED_VOCABULARY } from '../xml/vocabulary.ts';
import { documentsOf, NO_SCHEDULE, type RawFeed, type RawItem, type RawReading, type RawText } from './raw-feed.ts';

type Rss = ReturnType<typeof parseRssFeed<string>>;
type Rdf = ReturnType<typeof parseRdfFeed<string>>;
type Atom = ReturnType<typeof parseAtomFeed<string>>;
type Entry = NonNullable<Atom['entries']>[number];

/** A document that ends in an item is read up to it where it was cut, with it where only end tags are missing. */
export function readXmlFeed(text: string, { isTruncated }: { isTruncated: boolean }): RawReading {
  const tidied = tidyXml(text, { vocabulary: FEED_VOCABULARY, isTruncated });
  if (!tidied.ok) return tidied;
  try {
    return { ok: true, feed: parseTidied(tidied.root, tidied.xml) };
  } catch {
    // feedsmith refuses a document element without anything of a feed in it.
    return { ok: false, problem: `The document is an empty <${tidied.root}>.` };
  }
}

function parseTidied(root: string, xml: string): RawFeed {
  if (root === 'rss') return fromRss(parseRssFeed(xml));
  if (root === 'rdf') return fromRdf(parseRdfFeed(xml));
  return fromAtom(parseAtomFeed(xml));
}

function fromRss(feed: Rss): RawFeed {
  return {
    ...NO_SCHEDULE,
    format: 'rss',
    title: html(feed.title),
    link: feed.link ?? alternateOf(feed.atom?.links),
    base: feed.xml?.base,
    skipped: 0,
    ttlMinutes: feed.ttl,
    updatePeriod: feed.sy?.updatePeriod,
    updateFrequency: feed.sy?.updateFrequency,
    skipHours: feed.skipHours ?? [],
    skipDays: feed.skipDays ?? [],
    items: (feed.items ?? []).map((item) => ({
      id: item.guid?.value,
      link: item.link ?? alternateOf(item.atom?.links) ?? permaLinkOf(item.guid),
      title: html(item.title ?? item.dc?.titles?.[0]),
      date:
        item.pubDate ?? item.dc?.dates?.[0] ?? item.dcterms?.issued?.[0] ?? item.atom?.published ?? item.atom?.updated,
      texts: texts(html(item.content?.encoded), html(item.description)),
      related: addresses(item.source?.url, ...documentsOf(item.enclosures ?? []), ...relatedOf(item.atom?.links)),
      base: item.xml?.base,
    })),
  };
}

function fromRdf(feed: Rdf): RawFeed {
  return {
    ...NO_SCHEDULE,
    format: 'rdf',
    title: html(feed.title),
    link: feed.link,
    base: feed.xml?.base,
    skipped: 0,
    updatePeriod: feed.sy?.updatePeriod,
    updateFrequency: feed.sy?.updateFrequency,
    items: (feed.items ?? []).map((item) => ({
      id: item.rdf?.about,
      link: item.link ?? item.rdf?.about,
      title: html(item.title ?? item.dc?.titles?.[0]),
      date: item.dc?.dates?.[0] ?? item.dcterms?.issued?.[0],
      texts: texts(html(item.content?.encoded), html(item.description)),
      related: addresses(...(item.dc?.sources ?? [])),
      base: item.xml?.base,
    })),
  };
}

function fromAtom(feed: Atom): RawFeed {
  return {
    ...NO_SCHEDULE,
    format: 'atom',
    title: typed(feed.title),
    link: alternateOf(feed.links),
    base: feed.xml?.base,
    skipped: 0,
    updatePeriod: feed.sy?.updatePeriod,
    updateFrequency: feed.sy?.updateFrequency,
    items: (feed.entries ?? []).map(fromEntry),
  };
}

function fromEntry(entry: Entry): RawItem {
  return {
    id: entry.id,
    ...linkOf(entry),
    title: typed(entry.title),
    date: entry.published ?? entry.updated,
    texts: texts(typed(entry.content), typed(entry.summary)),
    related: addresses(alternateOf(entry.source?.links), ...relatedOf(entry.links)),
    base: entry.xml?.base,
  };
}

/** RFC 4287 §4.1.3.2: content may lie elsewhere; its address resolves against its own base. */
function linkOf({ links, content }: Entry): Pick<RawItem, 'link' | 'linkBase'> {
  const link = alternateOf(links);
  return link === undefined ? { link: content?.src, linkBase: content?.xml?.base } : { link };
}

interface Link {
  readonly href?: string;
  readonly rel?: string;
  readonly type?: string;
}

/** RFC 4287 §4.2.7.2: a link without `rel` is an alternate. */
function alternateOf(links: readonly Link[] | undefined): string | undefined {
  return links?.find(({ rel, href }) => href !== undefined && (rel === undefined || rel === 'alternate'))?.href;
}

/** `via` says where the entry was found; `self`, `edit`, `replies` and their like are the feed's own. */
function relatedOf(links: readonly Link[] | undefined): (string | undefined)[] {
  const related = (links ?? []).filter(({ rel }) => rel === 'related' || rel === 'via').map(({ href }) => href);
  const enclosures = (links ?? []).filter(({ rel }) => rel === 'enclosure');
  return [...related, ...documentsOf(enclosures.map(({ href, type }) => ({ url: href, type })))];
}

/** RSS 2.0: a guid is an address unless it says that it is none; many that say nothing are none either. */
function permaLinkOf(guid: { value?: string; isPermaLink?: boolean } | undefined): string | undefined {
  return guid?.isPermaLink !== false && /^https?:\/\//i.test(guid?.value ?? '') ? guid?.value : undefined;
}

interface AtomText {
  readonly value?: string;
  readonly type?: string;
  readonly xml?: { readonly base?: string };
}

/** XHTML stands in a `div`, which may have a base of its own. */
const WRAPPER_BASE = /^\s{0,200}<(?:[\w-]{1,20}:)?div\b[^>]{0,500}?\sxml:base\s{0,9}=\s{0,9}["']([^"'<>]{1,2000})["']/i;

function html(text: string | undefined): RawText | undefined {
  return text === undefined ? undefined : { text, isHtml: true };
}

/** RFC 4287 §3.1.1: text is plain unless its type says otherwise; Atom 0.3 says it by media types. */
function typed(value: AtomText | undefined): RawText | undefined {
  if (value?.value === undefined) return undefined;
  const bases = [value.xml?.base, WRAPPER_BASE.exec(value.value)?.[1]].filter((base) => base !== undefined);
  return { text: value.value, isHtml: /html/i.test(value.type ?? ''), bases };
}

function texts(...given: (RawText | undefined)[]): RawText[] {
  return given.filter((text) => text !== undefined);
}

function addresses(...given: (string | undefined)[]): string[] {
  return given.filter((address) => address !== undefined);
}
