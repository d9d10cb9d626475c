// Feed documents: Atom (RFC 4287) and JSON Feed (https://jsonfeed.org/version/1.1); rss.ts has the RSS family.
import type { FeedItem } from '../items.ts';
import type { FeedPlan } from '../plan.ts';
import { writeRss1, writeRss2, writeRss091 } from './rss.ts';
import { cdata, dateTime, encode, escapeXml } from './xml.ts';

export interface FeedDocument {
  readonly contentType: string;
  readonly body: Buffer;
}

const CONTENT_TYPES = {
  'rss-2.0': 'application/rss+xml',
  'rss-0.91': 'text/xml',
  'rss-1.0': 'application/rdf+xml',
  atom: 'application/atom+xml',
  json: 'application/feed+json',
} as const;

export function documentOf(plan: FeedPlan, items: readonly FeedItem[]): FeedDocument {
  const charset = plan.behaviour === 'wrong-charset' ? 'utf-8' : plan.charset;
  // The byte order mark distinguishes the two byte orders.
  const label = charset.startsWith('utf-16') ? 'utf-16' : charset;
  const type = CONTENT_TYPES[plan.format];
  const text = plan.format === 'json' ? writeJson(plan, items) : withDeclaration(writeXml(plan, items), label);
  return {
    contentType: plan.isCharsetInHeader ? `${type}; charset=${label}` : type,
    body: encode(plan.behaviour === 'malformed' ? spoilt(text) : text, plan.charset),
  };
}

const withDeclaration = (xml: string, label: string) => `<?xml version="1.0" encoding="${label}"?>\n${xml}`;

function writeXml(plan: FeedPlan, items: readonly FeedItem[]): string {
  switch (plan.format) {
    case 'rss-0.91':
      return writeRss091(plan, items);
    case 'rss-1.0':
      return writeRss1(plan, items);
    case 'atom':
      return writeAtom(plan, items);
    default:
      return writeRss2(plan, items);
  }
}

/** Like handwritten documents: a misspelt end tag, a missing one, unescaped characters. */
function spoilt(xml: string): string {
  return xml
    .replace('</title>', '</titel> & < ')
    .replaceAll('</item>', '')
    .replaceAll('</entry>', '')
    .replace(/<\/[a-z:]+>\s*$/i, '');
}

function writeAtom(plan: FeedPlan, items: readonly FeedItem[]): string {
  return `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<title>${escapeXml(plan.title)}</title><id>${escapeXml(plan.url)}</id>
<link rel="self" href="${escapeXml(plan.url)}"/><link href="https://${plan.host}/"/>
${items.map((item) => atomEntry(plan, item)).join('\n')}
</feed>
`;
}

function atomEntry(plan: FeedPlan, { id, title, url, publishedAt, html }: FeedItem): string {
  const date = publishedAt === null ? '' : dateTime(publishedAt, plan.zone);
  const dates = date && `${plan.dates === 'iso' ? '' : `<published>${date}</published>`}<updated>${date}</updated>`;
  const own = `<link rel="related" href="https://${plan.host}/"/>`;
  return `<entry><title type="text">${escapeXml(title)}</title><id>${escapeXml(id)}</id><link href="${escapeXml(url)}"/>${own}${dates}${atomText(plan, html)}</entry>`;
}

function atomText({ text }: FeedPlan, html: string): string {
  if (text === 'xhtml') {
    return `<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">${html}</div></content>`;
  }
  return `<content type="html">${text === 'cdata' ? cdata(html) : escapeXml(html)}</content>`;
}

function writeJson(plan: FeedPlan, items: readonly FeedItem[]): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: plan.title,
    home_page_url: `https://${plan.host}/`,
    feed_url: plan.url,
    items: items.map(({ id, title, url, publishedAt, html, link }) => ({
      id,
      // In a link blog the item's address is the blog's page, and the link is separate.
      ...(link === null ? { url } : { url: `https://${plan.host}/links`, external_url: url }),
      title,
      content_html: html,
      ...(publishedAt === null ? {} : { date_published: dateTime(publishedAt, plan.zone) }),
    })),
  });
}
