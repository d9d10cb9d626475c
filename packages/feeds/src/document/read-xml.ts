// Converts RSS, RDF and Atom of all versions to `RawFeed`: `tidyXml` sanitizes the document, feedsmith parses it.
import { parseAtomFeed, parseRdfFeed, parseRssFeed } from 'feedsmith';
import { tidyXml } from '../xml/tidy-xml.ts';
import { FEED_VOCABULARY } from '../xml/vocabulary.ts';
import { documentsOf, NO_SCHEDULE, type RawFeed, type RawItem, type RawReading, type RawText } from './raw-feed.ts';

type Rss = ReturnType<typeof parseRssFeed<string>>;
type Rdf = ReturnType<typeof parseRdfFeed<string>>;
type Atom = ReturnType<typeof parseAtomFeed<string>>;
type Entry = NonNullable<Atom['entries']>[number];

/** A truncated document is read without its last, incomplete item; missing end tags alone do not drop an item. */
export function readXmlFeed(text: string, { isTruncated }: { isTruncated: boolean }): RawReading {
  const tidied = tidyXml(text, { vocabulary: FEED_VOCABULARY, isTruncated });
  if (!tidied.ok) return tidied;
  try {
    return { ok: true, feed: parseTidied(tidied.root, tidied.xml) };
  } catch {
    // feedsmith rejects a document element without feed content.
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

/** RFC 4287 §4.1.3.2: out-of-line content; its URL resolves against its own base. */
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

/** `related`, `via` and document enclosures; `self`, `edit`, `replies` and similar refer to the feed itself. */
function relatedOf(links: readonly Link[] | undefined): (string | undefined)[] {
  const related = (links ?? []).filter(({ rel }) => rel === 'related' || rel === 'via').map(({ href }) => href);
  const enclosures = (links ?? []).filter(({ rel }) => rel === 'enclosure');
  return [...related, ...documentsOf(enclosures.map(({ href, type }) => ({ url: href, type })))];
}

/** RSS 2.0: a guid is a URL unless `isPermaLink` is false; without the attribute many are not URLs. */
function permaLinkOf(guid: { value?: string; isPermaLink?: boolean } | undefined): string | undefined {
  return guid?.isPermaLink !== false && /^https?:\/\//i.test(guid?.value ?? '') ? guid?.value : undefined;
}

interface AtomText {
  readonly value?: string;
  readonly type?: string;
  readonly xml?: { readonly base?: string };
}

/** XHTML content is wrapped in a `div`, which may have its own base. */
const WRAPPER_BASE = /^\s{0,200}<(?:[\w-]{1,20}:)?div\b[^>]{0,500}?\sxml:base\s{0,9}=\s{0,9}["']([^"'<>]{1,2000})["']/i;

function html(text: string | undefined): RawText | undefined {
  return text === undefined ? undefined : { text, isHtml: true };
}

/** RFC 4287 §3.1.1: text is plain unless its type says otherwise; Atom 0.3 uses media types. */
function typed(value: AtomText | undefined): RawText | undefined {
  if (value?.value === undefined) return undefined;
  const bases = [value.xml?.base, WRAPPER_BASE.exec(value.value)?.[1]].filter((base) => base !== undefined);
  return { text: value.value, isHtml: /html/i.test(value.type ?? ''), bases };
}

function texts(...candidates: (RawText | undefined)[]): RawText[] {
  return candidates.filter((text) => text !== undefined);
}

function addresses(...candidates: (string | undefined)[]): string[] {
  return candidates.filter((address) => address !== undefined);
}
