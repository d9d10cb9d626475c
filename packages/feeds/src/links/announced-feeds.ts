// Feed autodiscovery: `<link rel="alternate" type="application/rss+xml" href="…">` of a web page
// (https://www.rssboard.org/rss-autodiscovery).
import { Parser } from 'htmlparser2';

/** Characters of a page that are parsed: its head is near the beginning. */
const MAX_CHARACTERS = 512 * 1_024;
const MAX_FEEDS = 10;
const TYPES: ReadonlySet<string> = new Set([
  'application/rss+xml',
  'application/atom+xml',
  'application/rdf+xml',
  'application/feed+json',
]);

/** Absolute URLs without duplicates, in the order of the page; at most ten. */
export function announcedFeeds(html: string, pageUrl: string): readonly string[] {
  const feeds = new Set<string>();
  let base = pageUrl;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'base' && attributes.href !== undefined) base = URL.parse(attributes.href, pageUrl)?.href ?? base;
      if (name !== 'link' || feeds.size === MAX_FEEDS) return;
      const { rel = '', type = '', href } = attributes;
      const isFeed = rel.toLowerCase().split(/\s/).includes('alternate') && TYPES.has(typeOf(type));
      const url = isFeed && href !== undefined ? URL.parse(href, base) : null;
      if (url?.protocol === 'https:' || url?.protocol === 'http:') feeds.add(url.href);
    },
  });
  parser.end(html.slice(0, MAX_CHARACTERS));
  return [...feeds];
}

/** The media type without parameters: `application/rss+xml; charset=utf-8`. */
const typeOf = (type: string) => (type.split(';', 1)[0] ?? '').trim().toLowerCase();
