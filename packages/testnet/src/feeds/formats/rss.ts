// Items as RSS 2.0 (https://www.rssboard.org/rss-specification), 0.91 and 1.0 (https://web.resource.org/rss/1.0/spec).
import type { FeedItem } from '../items.ts';
import type { FeedPlan } from '../plan.ts';
import { cdata, dateTime, escapeXml, rfc822 } from './xml.ts';

const NAMESPACES =
  'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"';
const NETSCAPE =
  '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">';

export function writeRss2(plan: FeedPlan, items: readonly FeedItem[]): string {
  const asks = {
    ttl: '<ttl>180</ttl>',
    'skip-hours': `<skipHours>${[0, 1, 2, 3, 4, 5].map((hour) => `<hour>${hour}</hour>`).join('')}</skipHours><skipDays><day>Sunday</day></skipDays>`,
  };
  const ask = plan.behaviour === 'ttl' || plan.behaviour === 'skip-hours' ? asks[plan.behaviour] : '';
  return `<rss version="2.0" ${NAMESPACES}>
<channel>${channelOf(plan)}<atom:link href="${escapeXml(plan.url)}" rel="self" type="application/rss+xml"/>${ask}
${items.map((item) => rss2Item(plan, item)).join('\n')}
</channel>
</rss>
`;
}

export function writeRss091(plan: FeedPlan, items: readonly FeedItem[]): string {
  return `${NETSCAPE}
<rss version="0.91">
<channel>${channelOf(plan)}<language>en</language>
${items.map((item) => `<item>${titleAndLink(item)}<description>${escapeXml(item.html)}</description></item>`).join('\n')}
</channel>
</rss>
`;
}

export function writeRss1(plan: FeedPlan, items: readonly FeedItem[]): string {
  const references = items.map(({ url }) => `<rdf:li rdf:resource="${escapeXml(url)}"/>`);
  const elements = items.map(
    (item) =>
      `<item rdf:about="${escapeXml(item.url)}">${titleAndLink(item)}${isoDate(plan, item)}${textOf(plan, item)}</item>`,
  );
  return `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" ${NAMESPACES}>
<channel rdf:about="${escapeXml(plan.url)}">${channelOf(plan)}<items><rdf:Seq>${references.join('')}</rdf:Seq></items></channel>
${elements.join('\n')}
</rdf:RDF>
`;
}

function channelOf({ title, host, publisher }: FeedPlan): string {
  return `<title>${escapeXml(title)}</title><link>https://${host}/</link><description>All of ${publisher}</description>`;
}

function rss2Item(plan: FeedPlan, item: FeedItem): string {
  const { guid, publishedAt } = item;
  const date =
    publishedAt === null || plan.dates === 'iso'
      ? isoDate(plan, item)
      : `<pubDate>${rfc822(publishedAt, plan.zone)}</pubDate>`;
  const isPermalink = plan.guid === 'permalink' ? '' : ' isPermaLink="false"';
  const id = guid === null ? '' : `<guid${isPermalink}>${escapeXml(guid)}</guid>`;
  return `<item>${titleAndLink(item)}${id}${date}${textOf(plan, item)}</item>`;
}

function titleAndLink({ title, url }: FeedItem): string {
  const isLong = title.length > 30;
  return `<title>${isLong ? cdata(title) : escapeXml(title)}</title><link>${escapeXml(url)}</link>`;
}

function isoDate({ zone }: FeedPlan, { publishedAt }: FeedItem): string {
  return publishedAt === null ? '' : `<dc:date>${dateTime(publishedAt, zone)}</dc:date>`;
}

function textOf({ text }: FeedPlan, { html }: FeedItem): string {
  if (text === 'escaped') return `<description>${escapeXml(html)}</description>`;
  if (text === 'cdata') return `<description>${cdata(html)}</description>`;
  return `<description>What it is about, in short.</description><content:encoded>${cdata(html)}</content:encoded>`;
}
