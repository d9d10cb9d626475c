// Polls one feed with a conditional request. The returned state is complete: a process that crashes before it is stored polls again
// with the old one.
import { createHash } from 'node:crypto';
import { MAX_FEED_BYTES, parseFeed } from '../document/parse-feed.ts';
import type { FeedAnswer, FeedState, ParsedFeed, PollOptions, PollOutcome } from '../feed.ts';
import { MAX_URL_LENGTH } from '../links/addresses.ts';
import { freshMs, headerOf, retryAfterMs } from './freshness.ts';
import { MAX_FAILURES, nextPollAt, retryAt } from './schedule.ts';

/** Feeds are on small servers; a slower one is retried later. */
const TIMEOUT_MS = 20_000;
/** Some servers keep the validators of a changed feed: at this interval the request is unconditional. */
const TRUSTED_MS = 7 * 24 * 3_600_000;
const MAX_ERROR_LENGTH = 300;
const ACCEPT =
  'application/atom+xml, application/rss+xml, application/rdf+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.1';
/**
 * Marks an `etag` computed here from the body: many servers send no validators, and an identical body has nothing new. It is never
 * sent.
 */
const BODY_TAG = 'body-sha256:';

type Answer = Extract<FeedAnswer, { kind: 'answered' }>;

/** The state of a feed that was never polled: due at once. */
export function newFeed(url: string): FeedState {
  return {
    url,
    status: 'active',
    etag: null,
    lastModified: null,
    nextPollAt: 0,
    failures: 0,
    error: null,
    title: null,
    siteUrl: null,
    lastNewAt: null,
    readAt: null,
    ttlMs: null,
    skipHours: [],
    skipDays: [],
  };
}

/** Polls one feed. Rejects only if `signal` aborts. */
export async function pollFeed(state: FeedState, options: PollOptions): Promise<PollOutcome> {
  options.signal?.throwIfAborted();
  const answer = await request(state, options);
  options.signal?.throwIfAborted();
  if (answer.kind === 'failed') return fail(state, options, { error: `${answer.reason}: ${answer.detail}` });
  if (answer.status === 410) return giveUp(state, 'The server reports that the feed is gone (410).');
  // Broken caches answer 304 to unconditional requests: that says nothing about the feed.
  if (answer.status === 304 && isConditional(state, options.now)) return unchanged(state, options, answer);
  if (answer.status === 200) return read(state, options, answer);
  return fail(state, options, {
    error: `The server answered ${answer.status}.`,
    retryAfter: answer.status === 429 || answer.status === 503 ? retryAfterMs(answer.headers, options.now) : null,
  });
}

/** `ask` must not throw; if it does, the poller continues. */
async function request(state: FeedState, { ask, now, signal }: PollOptions): Promise<FeedAnswer> {
  try {
    return await ask(state.url, {
      headers: requestHeaders(state, now),
      maxBytes: MAX_FEED_BYTES,
      timeoutMs: TIMEOUT_MS,
      ...(signal && { signal }),
    });
  } catch (error) {
    return { kind: 'failed', reason: 'failed', detail: error instanceof Error ? error.message : 'unknown' };
  }
}

function isConditional(state: FeedState, now: number): boolean {
  return Object.keys(requestHeaders(state, now)).length > 1;
}

function requestHeaders({ etag, lastModified, readAt }: FeedState, now: number): Record<string, string> {
  // The absolute difference: a clock that was ahead must not delay the request.
  if (readAt !== null && Math.abs(now - readAt) >= TRUSTED_MS) return { accept: ACCEPT };
  return {
    accept: ACCEPT,
    ...(etag !== null && !etag.startsWith(BODY_TAG) && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
}

function read(state: FeedState, options: PollOptions, answer: Answer): PollOutcome {
  const validators = isCutShort(answer) ? { etag: null, lastModified: null } : validatorsOf(answer);
  // Only our own tag proves that the body is identical: those of servers may stay while the feed changes.
  if (validators.etag?.startsWith(BODY_TAG) && validators.etag === state.etag)
    return unchanged({ ...state, readAt: options.now }, options, answer);
  const parsed = parseFeed(answer.body, {
    contentType: headerOf(answer.headers, 'content-type') ?? null,
    url: answer.url,
    ownUrls: [state.url, state.siteUrl, ...answer.redirects.map(({ url }) => url)],
    now: options.now,
    isTruncated: answer.isTruncated,
  });
  // A document that is not a feed must not be confirmed by a 304.
  if (!parsed.ok) return fail({ ...state, etag: null, lastModified: null }, options, { error: parsed.problem });
  const { feed } = parsed;
  const { title, siteUrl, ttlMs, skipHours, skipDays } = feed;
  const known = { ...state, ...validators, title, siteUrl, ttlMs, skipHours, skipDays };
  const lastNewAt = newestOf(feed, state, options.now);
  return { kind: 'read', feed, state: answered({ ...known, lastNewAt, readAt: options.now }, options, answer) };
}

/**
 * The body was truncated in transit: what arrived is used, but a 304 must not confirm the missing rest. A document that exceeds our
 * own limit is not affected.
 */
function isCutShort({ isTruncated, body }: Answer): boolean {
  return isTruncated && body.length < MAX_FEED_BYTES;
}

function unchanged(state: FeedState, options: PollOptions, answer: Answer): PollOutcome {
  const etag = headerOf(answer.headers, 'etag') ?? state.etag;
  const lastModified = headerOf(answer.headers, 'last-modified') ?? state.lastModified;
  return { kind: 'unchanged', feed: null, state: answered({ ...state, etag, lastModified }, options, answer) };
}

/** The state after a successful answer. */
function answered(state: FeedState, { now, random }: PollOptions, answer: Answer): FeedState {
  return {
    ...state,
    url: permanentUrl(state.url, answer),
    status: 'active',
    failures: 0,
    error: null,
    nextPollAt: nextPollAt({
      now,
      random,
      lastNewAt: state.lastNewAt,
      hints: state,
      freshMs: freshMs(answer.headers, now),
    }),
  };
}

function fail(
  state: FeedState,
  { now, random }: PollOptions,
  { error, retryAfter = null }: { readonly error: string; readonly retryAfter?: number | null },
): PollOutcome {
  const failures = state.failures + 1;
  if (failures > MAX_FAILURES) return giveUp({ ...state, failures }, error);
  return {
    kind: 'failed',
    feed: null,
    state: {
      ...state,
      failures,
      error: error.slice(0, MAX_ERROR_LENGTH).toWellFormed(),
      nextPollAt: retryAt({ now, random, failures, retryAfterMs: retryAfter }),
    },
  };
}

function giveUp(state: FeedState, error: string): PollOutcome {
  const reason = error.slice(0, MAX_ERROR_LENGTH).toWellFormed();
  return { kind: 'gone', feed: null, state: { ...state, status: 'gone', error: reason } };
}

/** The new URL of the feed: along permanent redirects, up to the first temporary one. */
function permanentUrl(url: string, { redirects }: Answer): string {
  const temporary = redirects.findIndex(({ status }) => status !== 301 && status !== 308);
  const permanent = temporary === -1 ? redirects : redirects.slice(0, temporary);
  const last = permanent.at(-1)?.url;
  return last === undefined || last.length > MAX_URL_LENGTH || !/^https?:\/\//i.test(last) ? url : last;
}

function validatorsOf({ headers, body }: Answer): Pick<FeedState, 'etag' | 'lastModified'> {
  const etag = headerOf(headers, 'etag') ?? null;
  const lastModified = headerOf(headers, 'last-modified') ?? null;
  if (etag !== null || lastModified !== null) {
    return { etag: etag?.startsWith(BODY_TAG) ? null : etag, lastModified };
  }
  return { etag: BODY_TAG + createHash('sha256').update(body).digest('hex'), lastModified };
}

/** The date of the newest item; the time of the change for a feed without dates. */
function newestOf(feed: ParsedFeed, { lastNewAt }: FeedState, now: number): number | null {
  const dates = feed.items.flatMap(({ publishedAt }) => (publishedAt === null ? [] : [publishedAt]));
  if (dates.length === 0) return feed.items.length === 0 ? lastNewAt : now;
  return Math.min(Math.max(...dates, lastNewAt ?? 0), now);
}
