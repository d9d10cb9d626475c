// Answers of a server that has one small feed, for tests of polls.
import assert from 'node:assert/strict';
import type { Ask, FeedAnswer, FeedState } from '../feed.ts';
import { newFeed, pollFeed } from '../poll-feed.ts';

type Answered = Extract<FeedAnswer, { kind: 'answered' }>;

export const HOUR = 3_600_000;
export const NOW = Date.parse('2026-11-21T12:00:00Z');
export const URL_OF_FEED = 'https://site.com/feed';
const ITEM =
  '<item><title>One</title><link>https://a.net/1</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item>';
export const RSS = `<rss version="2.0"><channel><title>Blog</title><link>https://site.com/</link>${ITEM}</channel></rss>`;

export function answer(changes: Partial<Answered> = {}, text = RSS): Answered {
  const fixed = { kind: 'answered', status: 200, url: URL_OF_FEED, isTruncated: false } as const;
  return { ...fixed, headers: {}, redirects: [], body: Buffer.from(text), ...changes };
}

/** That was never polled. */
export const FEED = newFeed(URL_OF_FEED);

/** The outcome of a poll, and the request that was sent. */
export async function poll(state: FeedState, given: FeedAnswer | Ask, signal?: AbortSignal) {
  const requests: Parameters<Ask>[] = [];
  const ask: Ask = async (...request) => {
    requests.push(request);
    return typeof given === 'function' ? given(...request) : given;
  };
  const outcome = await pollFeed(state, { ask, now: NOW, random: () => 0, ...(signal && { signal }) });
  const [url, { headers, maxBytes }] = requests[0] ?? assert.fail('no request');
  return { ...outcome, url, headers, maxBytes };
}
