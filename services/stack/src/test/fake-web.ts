// A web of feeds in memory, in place of the fetcher: each address answers what the test says.
import type { Fetched, Fetcher } from '@strata/scan';

export interface FakeItem {
  readonly guid: string;
  readonly at?: Date;
  readonly link?: string;
  readonly title?: string;
  /** Domains linked in its text. */
  readonly links?: readonly string[];
}

export function fakeWeb() {
  /** By address: items, or a status. */
  const pages = new Map<string, readonly FakeItem[] | number>();
  const asked: string[] = [];
  const answer = (url: string): Fetched => {
    const page = pages.get(url) ?? 404;
    const [status, body] = typeof page === 'number' ? [page, ''] : [200, rss(page)];
    const headers = { 'content-type': 'application/rss+xml' };
    return { kind: 'answered', status, headers, url, redirects: [], body: Buffer.from(body), isTruncated: false };
  };
  const fetcher: Fetcher = {
    async fetch(url) {
      asked.push(url);
      return answer(url);
    },
    download: () => Promise.reject(new Error('nothing is downloaded here')),
    [Symbol.asyncDispose]: async () => {},
  };
  return { fetcher, pages, asked };
}

const rss = (items: readonly FakeItem[]) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title><link>https://feed.test/</link>${items.map(item).join('')}</channel></rss>`;

const item = ({ guid, at, link, title = guid, links = [] }: FakeItem) =>
  `<item><guid isPermaLink="false">${guid}</guid><title>${title}</title>${link ? `<link>${link}</link>` : ''}${
    at ? `<pubDate>${at.toUTCString()}</pubDate>` : ''
  }<description><![CDATA[${links.map((name) => `<a href="https://${name}/x">${name}</a>`).join(' ')}]]></description></item>`;
