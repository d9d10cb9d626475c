// Answers of a server that has one small feed, for tests of polls.
import type { Ask, FeedAnswer, FeedState, PollOutcome } from '../feed.ts';
import { pollFeed } from '../poll-feed.ts';

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

export function poll(state: FeedState, given: FeedAnswer | Ask, signal?: AbortSignal): Promise<PollOutcome> {
  const ask: Ask = typeof given === 'function' ? given : async () => given;
  return pollFeed(state, { ask, now: NOW, random: () => 0, ...(signal && { signal }) });
}
