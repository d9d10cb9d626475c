// Converts RSS, RDF and Atom of all versions to `RawFeed`.
import { attributeOf, childrenOf, type Element, firstChild, isEmpty, textOf } from '../xml/element.ts';
import { readElements } from '../xml/read-elements.ts';
import { FEED_VOCABULARY } from '../xml/vocabulary.ts';
import { documentsOf, NO_SCHEDULE, type RawFeed, type RawItem, type RawReading, type RawText } from './raw-feed.ts';

/** A truncated document is read without its last, incomplete item; missing end tags alone do not drop an item. */
export function readXmlFeed(text: string, { isTruncated }: { isTruncated: boolean }): RawReading {
  const reading = readElements(text, { vocabulary: FEED_VOCABULARY, isTruncated });
  if (!reading.ok) return reading;
  const { root } = reading;
  const isFeed = !isEmpty(root) && (root.name !== 'rss' || firstChild(root, 'channel') !== undefined);
  if (!isFeed) return { ok: false, problem: `The document is an empty <${root.name}>.` };
  return { ok: true, feed: root.name === 'rss' ? fromRss(root) : root.name === 'rdf' ? fromRdf(root) : fromAtom(root) };
}

function fromRss(root: Element): RawFeed {
  const channel = firstChild(root, 'channel');
  const items = itemsOf(channel, 'item');
  return {
    ...NO_SCHEDULE,
    format: 'rss',
    title: titleOf(channel),
    link: textOf(channel, 'link') ?? alternateOf(linksOf(channel, 'atom:link')),
    base: attributeOf(root, 'xml:base'),
    skipped: 0,
    ttlMinutes: numberOf(textOf(channel, 'ttl')),
    ...updatesOf(channel),
    skipHours: childrenOf(firstChild(channel, 'skiphours'), 'hour').flatMap(({ text }) => numberOf(text) ?? []),
    skipDays: childrenOf(firstChild(channel, 'skipdays'), 'day').flatMap(({ text }) => text || []),
    items: (items.length > 0 ? items : itemsOf(root, 'item')).map(fromItem),
  };
}

function fromItem(item: Element): RawItem {
  const guid = firstChild(item, 'guid');
  const links = linksOf(item, 'atom:link');
  const enclosures = childrenOf(item, 'enclosure').map((each) => ({
    url: attributeOf(each, 'url'),
    type: attributeOf(each, 'type'),
  }));
  return {
    id: textOf(item, 'guid'),
    link: textOf(item, 'link') ?? alternateOf(links) ?? permaLinkOf(guid),
    title: titleOf(item),
    date:
      textOf(item, 'pubdate') ??
      textsOf(item, 'dc:date')[0] ??
      textsOf(item, 'dcterms:issued')[0] ??
      publishedOf(item, 'atom:') ??
      updatedOf(item, 'atom:'),
    texts: texts(html(textOf(item, 'content:encoded')), html(textOf(item, 'description'))),
    related: addresses(attributeOf(firstChild(item, 'source'), 'url'), ...documentsOf(enclosures), ...relatedOf(links)),
    base: attributeOf(item, 'xml:base'),
  };
}

function fromRdf(root: Element): RawFeed {
  const channel = firstChild(root, 'channel');
  return {
    ...NO_SCHEDULE,
    format: 'rdf',
    title: titleOf(channel),
    link: textOf(channel, 'link'),
    base: attributeOf(root, 'xml:base'),
    skipped: 0,
    ...updatesOf(channel),
    items: itemsOf(root, 'item').map((item) => ({
      id: attributeOf(item, 'about'),
      link: textOf(item, 'link') ?? attributeOf(item, 'about'),
      title: titleOf(item),
      date: textsOf(item, 'dc:date')[0] ?? textsOf(item, 'dcterms:issued')[0],
      texts: texts(html(textOf(item, 'content:encoded')), html(textOf(item, 'description'))),
      related: textsOf(item, 'dc:source'),
      base: attributeOf(item, 'xml:base'),
    })),
  };
}

function fromAtom(root: Element): RawFeed {
  return {
    ...NO_SCHEDULE,
    format: 'atom',
    title: typed(firstChild(root, 'title')),
    link: alternateOf(linksOf(root, 'link')),
    base: attributeOf(root, 'xml:base'),
    skipped: 0,
    ...updatesOf(root),
    items: itemsOf(root, 'entry').map(fromEntry),
  };
}

function fromEntry(entry: Element): RawItem {
  const links = linksOf(entry, 'link');
  const content = firstChild(entry, 'content');
  return {
    id: textOf(entry, 'id'),
    ...linkOf(links, content),
    title: typed(firstChild(entry, 'title')),
    date: publishedOf(entry) ?? updatedOf(entry),
    texts: texts(typed(content), typed(firstChild(entry, 'summary'))),
    related: addresses(alternateOf(linksOf(firstChild(entry, 'source'), 'link')), ...relatedOf(links)),
    base: attributeOf(entry, 'xml:base'),
  };
}

const itemsOf = (parent: Element | undefined, name: string) =>
  childrenOf(parent, name).filter((item) => !isEmpty(item));

/** Of a channel or an item. */
const titleOf = (element: Element | undefined) =>
  html(textOf(element, 'title') ?? childrenOf(element, 'dc:title').find(({ text }) => text)?.text);

const textsOf = (element: Element, name: string) => childrenOf(element, name).flatMap(({ text }) => text || []);

/** The later names are those of Atom 0.3. */
const publishedOf = (element: Element, prefix = '') =>
  textOf(element, `${prefix}published`) ?? textOf(element, `${prefix}issued`) ?? textOf(element, `${prefix}created`);

const updatedOf = (element: Element, prefix = '') =>
  textOf(element, `${prefix}updated`) ?? textOf(element, `${prefix}modified`);

/** The syndication module. */
const updatesOf = (channel: Element | undefined) => ({
  updatePeriod: textOf(channel, 'sy:updateperiod'),
  updateFrequency: numberOf(textOf(channel, 'sy:updatefrequency')),
});

function numberOf(text = ''): number | undefined {
  const number = text === '' ? Number.NaN : Number(text);
  return Number.isNaN(number) ? undefined : number;
}

interface Link {
  readonly href: string | undefined;
  readonly rel: string | undefined;
  readonly type: string | undefined;
}

/** Some feeds have the address as text beside the attributes. */
function linksOf(element: Element | undefined, name: string): Link[] {
  const links = childrenOf(element, name).filter(({ attributes }) => attributes.size > 0);
  return links.map((link) => ({
    href: attributeOf(link, 'href') ?? (link.text || undefined),
    rel: attributeOf(link, 'rel'),
    type: attributeOf(link, 'type'),
  }));
}

/** RFC 4287 §4.1.3.2: out-of-line content; its URL resolves against its own base. */
function linkOf(links: readonly Link[], content: Element | undefined): Pick<RawItem, 'link' | 'linkBase'> {
  const link = alternateOf(links);
  if (link !== undefined) return { link };
  return { link: attributeOf(content, 'src'), linkBase: attributeOf(content, 'xml:base') };
}

/** RFC 4287 §4.2.7.2: a link without `rel` is an alternate. */
function alternateOf(links: readonly Link[]): string | undefined {
  return links.find(({ rel, href }) => href !== undefined && (rel === undefined || rel === 'alternate'))?.href;
}

/** `related`, `via` and document enclosures; `self`, `edit`, `replies` and similar refer to the feed itself. */
function relatedOf(links: readonly Link[]): (string | undefined)[] {
  const related = links.filter(({ rel }) => rel === 'related' || rel === 'via').map(({ href }) => href);
  const enclosures = links.filter(({ rel }) => rel === 'enclosure');
  return [...related, ...documentsOf(enclosures.map(({ href, type }) => ({ url: href, type })))];
}

/** RSS 2.0: a guid is a URL unless `isPermaLink` is false; without the attribute many are not URLs. */
function permaLinkOf(guid: Element | undefined): string | undefined {
  const isPermaLink = attributeOf(guid, 'ispermalink')?.toLowerCase() !== 'false';
  return guid && isPermaLink && /^https?:\/\//i.test(guid.text) ? guid.text : undefined;
}

/** XHTML content is wrapped in a `div`, which may have its own base. */
const WRAPPER_BASE = /^\s{0,200}<(?:[\w-]{1,20}:)?div\b[^>]{0,500}?\sxml:base\s{0,9}=\s{0,9}["']([^"'<>]{1,2000})["']/i;

function html(text: string | undefined): RawText | undefined {
  return text === undefined ? undefined : { text, isHtml: true };
}

/** RFC 4287 §3.1.1: text is plain unless its type says otherwise; Atom 0.3 uses media types. */
function typed(element: Element | undefined): RawText | undefined {
  if (!element?.text) return undefined;
  const { text } = element;
  const bases = [attributeOf(element, 'xml:base'), WRAPPER_BASE.exec(text)?.[1]].filter((base) => base !== undefined);
  return { text, isHtml: /html/i.test(attributeOf(element, 'type') ?? ''), bases };
}

function texts(...candidates: (RawText | undefined)[]): RawText[] {
  return candidates.filter((text) => text !== undefined);
}

function addresses(...candidates: (string | undefined)[]): string[] {
  return candidates.filter((address) => address !== undefined);
}
