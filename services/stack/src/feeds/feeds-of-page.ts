// Whether an address is that of a web page, and which feeds it announces: people paste the address that they see.
import { announcedFeeds } from '@strata/feeds';
import type { Fetcher } from '@strata/scan';

const MAX_BYTES = 512 * 1_024;
const TIMEOUT_MS = 8_000;

/** The feeds that a page announces; undefined when it is none, or could not be asked. */
export async function feedsOfPage(
  fetcher: Pick<Fetcher, 'fetch'>,
  url: string,
): Promise<readonly string[] | undefined> {
  const answer = await fetcher.fetch(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  if (answer.kind !== 'answered' || answer.status !== 200) return undefined;
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)/i.test(answer.headers['content-type'] ?? '');
  const text = answer.body.toString('utf8');
  // Feeds are served under any type: what begins as one is one.
  const isPage = isHtml && !/^\s{0,1000}(?:<\?xml|<rss|<feed|<rdf|\{)/i.test(text);
  return isPage ? announcedFeeds(text, answer.url) : undefined;
}
