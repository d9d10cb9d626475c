// One poll at a time: what is asked and remembered, and what feeds and servers ask of those who poll.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import type { Ask, FeedAnswer, FeedState } from '../feed.ts';
import { newFeed, pollFeed } from './poll-feed.ts';
import { MAX_FAILURES } from './schedule.ts';

type Answered = Extract<FeedAnswer, { kind: 'answered' }>;

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-21T12:00:00Z');
const URL_OF_FEED = 'https://site.com/feed';
const ITEM =
  '<item><title>One</title><link>https://a.net/1</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item>';
const RSS = `<rss version="2.0"><channel><title>Blog</title><link>https://site.com/</link>${ITEM}</channel></rss>`;

function answer(changes: Partial<Answered> = {}, text = RSS): Answered {
  const fixed = { kind: 'answered', status: 200, url: URL_OF_FEED, isTruncated: false } as const;
  return { ...fixed, headers: {}, redirects: [], body: Buffer.from(text), ...changes };
}

const FEED = newFeed(URL_OF_FEED);

async function poll(state: FeedState, given: FeedAnswer | Ask, signal?: AbortSignal) {
  const requests: Parameters<Ask>[] = [];
  const ask: Ask = async (...request) => {
    requests.push(request);
    return typeof given === 'function' ? given(...request) : given;
  };
  const outcome = await pollFeed(state, { ask, now: NOW, random: () => 0, ...(signal && { signal }) });
  const [url, { headers, maxBytes }] = requests[0] ?? assert.fail('no request');
  return { ...outcome, url, headers, maxBytes };
}

test('a new feed is due at once, and its first poll sends no validators', async () => {
  assert.equal(FEED.nextPollAt, 0);
  const { url, headers, maxBytes } = await poll(FEED, answer());
  assert.deepEqual([url, Object.keys(headers), maxBytes], [URL_OF_FEED, ['accept'], 2_000_000]);
});

test('a feed that was read is remembered with its validators, and asked conditionally the next time', async () => {
  const lastModified = 'Sat, 21 Nov 2026 10:00:00 GMT';
  const headers = { etag: 'W/"1"', 'last-modified': lastModified, 'content-type': 'text/xml' };
  const { kind, state, feed } = await poll({ ...FEED, failures: 3, error: 'x' }, answer({ headers }));
  assert.deepEqual([kind, feed?.items.length], ['read', 1]);
  // New two hours ago: asked every half an hour.
  const times = { nextPollAt: NOW + HOUR / 2, lastNewAt: NOW - 2 * HOUR, readAt: NOW };
  const named = { title: 'Blog', siteUrl: 'https://site.com/' };
  assert.deepEqual(state, { ...FEED, etag: 'W/"1"', lastModified, ...times, ...named });
  const next = await poll(state, answer({ status: 304, headers: { etag: '"2"' }, body: Buffer.alloc(0) }));
  const { accept: _, ...sent } = next.headers;
  assert.deepEqual(sent, { 'if-none-match': 'W/"1"', 'if-modified-since': lastModified });
  assert.deepEqual([next.kind, next.feed, next.state], ['unchanged', null, { ...state, etag: '"2"' }]);
});

test('the same bytes without validators are unchanged, and the digest of them is never sent', async () => {
  const first = await poll(FEED, answer());
  assert.match(first.state.etag ?? '', /^body-sha256:[0-9a-f]{64}$/);
  const second = await poll(first.state, answer());
  assert.deepEqual([Object.keys(second.headers), second.kind], [['accept'], 'unchanged']);
  assert.deepEqual(second.state, first.state);
  const undated = RSS.replace(/<pubDate>.*<\/pubDate>/, '');
  const { kind, state } = await poll(second.state, answer({}, undated));
  assert.deepEqual([kind, state.lastNewAt], ['read', NOW], 'a feed that dates nothing is new whenever it changes');
  const forged = await poll(FEED, answer({ headers: { etag: 'body-sha256:00' } }));
  assert.equal(forged.state.etag, null, 'no server makes its own tag look like our digest');
});

/** Statuses with the host that each leads to, and the host where the feed is from then on. */
for (const [name, chain, expected] of [
  ...casesOf<[string, string, string][]>('feeds', 'redirects'),
  ['to an endless address', `301 https://b.com/${'x'.repeat(3_000)}`, URL_OF_FEED],
] as const)
  test(`after ${name} the feed lives at ${expected}`, async () => {
    const redirects = Array.from(chain.matchAll(/(\d+) (\S+)/g), ([, status, url = '']) => {
      return { status: Number(status), url };
    });
    const urlAfter = async (changes: object, text?: string) =>
      (await poll({ ...FEED, etag: '"1"' }, answer({ redirects, ...changes }, text))).state.url;
    assert.deepEqual([await urlAfter({}), await urlAfter({ status: 304 })], [expected, expected]);
    // The address is kept where there is no feed.
    assert.equal(await urlAfter({ status: 404 }), URL_OF_FEED);
    assert.equal(await urlAfter({}, '<html></html>'), URL_OF_FEED);
  });

test('no address that led to the feed is named by it, nor the site that it had', async () => {
  const links = ['a.net', 'blog.site.com', 'old.org', 'via.io'].map((host) => `<a href="https://${host}/">x</a>`);
  const item = `<item><guid>1</guid><description><![CDATA[${links.join('')}]]></description></item>`;
  const text = `<rss version="2.0"><channel>${item}</channel></rss>`;
  const state = { ...FEED, siteUrl: 'https://old.org/' };
  const redirects = [{ status: 302, url: 'https://via.io/x' }];
  const { feed } = await poll(state, answer({ url: 'https://beta.com/x', redirects }, text));
  assert.deepEqual(feed?.items[0]?.domains, [{ domain: 'a.net', kind: 'content' }]);
});

test('a 304 to a request without conditions is a failure', async () => {
  const old = { ...FEED, etag: '"1"', readAt: NOW - 8 * 24 * HOUR };
  for (const state of [FEED, { ...FEED, etag: 'body-sha256:00' }, old])
    assert.equal((await poll(state, answer({ status: 304 }))).kind, 'failed');
});

for (const status of [204, 206, 302, 400, 401, 403, 404, 429, 500, 503, 999])
  test(`${status} is a failure that keeps the validators`, async () => {
    const before = { ...FEED, etag: '"1"', failures: 2, lastNewAt: 5 };
    const { kind, state, feed } = await poll(before, answer({ status }));
    assert.deepEqual([kind, feed], ['failed', null]);
    const error = `The server answered ${status}.`;
    assert.deepEqual(state, { ...before, failures: 3, error, nextPollAt: NOW + 4 * HOUR });
  });

const AT_THREE = 'Sat, 21 Nov 2026 15:00:00 GMT';
const REFUSALS = [[429, '7200', 2] as const, [503, AT_THREE, 3] as const, [500, '7200', 1] as const];
for (const [status, value, hours] of REFUSALS)
  test(`${status} with retry-after ${value} is asked again after ${hours} hours`, async () => {
    const { state } = await poll(FEED, answer({ status, headers: { 'retry-after': value } }));
    assert.equal(state.nextPollAt, NOW + hours * HOUR);
  });

test('a body that is not a feed is a failure with a reason, and drops the validators', async () => {
  const before = { ...FEED, etag: '"1"', lastModified: 'x' };
  const { kind, state } = await poll(before, answer({ headers: { etag: '"2"' } }, '<!doctype html><html></html>'));
  assert.deepEqual([kind, state.etag, state.lastModified], ['failed', null, null]);
  assert.equal(state.error, 'The URL returns an HTML page.');
});

test('a body truncated in transit yields its first items, and the next request is unconditional', async () => {
  const headers = { etag: '"2"', 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' };
  const before = { ...FEED, etag: '"1"', lastModified: 'x' };
  const cut = RSS.replace('</channel></rss>', '<item><title>Tw');
  for (const given of [headers, {}]) {
    const { kind, state, feed } = await poll(before, answer({ headers: given, isTruncated: true }, cut));
    assert.deepEqual([kind, feed?.items.length, state.error], ['read', 1, null]);
    assert.deepEqual([state.etag, state.lastModified], [null, null]);
  }
  const long = RSS.replace('</channel></rss>', ' '.repeat(2_000_000)).slice(0, 2_000_000);
  const { state } = await poll(FEED, answer({ headers: { etag: '"1"' }, isTruncated: true }, long));
  assert.equal(state.etag, '"1"', 'of a document longer than is read, they are kept');
});

test('a fetch that fails, or an asker that throws, is a failure', async () => {
  const failed = await poll(FEED, { kind: 'failed', reason: 'timeout', detail: 'y'.repeat(5_000) });
  assert.deepEqual([failed.kind, failed.state.error?.length], ['failed', 300]);
  const thrown = await poll(FEED, () => Promise.reject(new Error('broken')));
  assert.equal(thrown.kind, 'failed');
  assert.match(thrown.state.error ?? '', /broken/);
});

test('a feed is given up at 410, or with its last error if it fails long enough; one success forgets all', async () => {
  const ended = await poll(FEED, answer({ status: 410 }));
  assert.deepEqual([ended.kind, ended.state.status], ['gone', 'gone']);
  assert.match(ended.state.error ?? '', /410/);
  const failed = await poll({ ...FEED, failures: MAX_FAILURES - 1 }, answer({ status: 503 }));
  const last = await poll(failed.state, answer({ status: 500 }));
  assert.deepEqual([failed.kind, last.kind, last.state.error], ['failed', 'gone', 'The server answered 500.']);
  const { failures, error, status } = (await poll(failed.state, answer())).state;
  assert.deepEqual([failures, error, status], [0, null, 'active']);
});

test('an abort rejects, before and during a request', async () => {
  await assert.rejects(poll(FEED, answer(), AbortSignal.abort(new Error('stop'))), /stop/);
  const controller = new AbortController();
  const ask: Ask = async () => {
    controller.abort(new Error('stop'));
    return { kind: 'failed', reason: 'aborted', detail: '' };
  };
  await assert.rejects(poll(FEED, ask, controller.signal), /stop/);
});

test('what feed and server ask for puts the next poll off', async () => {
  const withTtl = RSS.replace('<item>', '<ttl>120</ttl><item>');
  assert.equal((await poll(FEED, answer({}, withTtl))).state.nextPollAt, NOW + 2 * HOUR);
  const headers = { 'cache-control': 'max-age=10800' };
  assert.equal((await poll(FEED, answer({ headers }, withTtl))).state.nextPollAt, NOW + 3 * HOUR);
  // Without an observed item, a quarter of a day exceeds what the server requests.
  const { state } = await poll({ ...FEED, etag: '"1"' }, answer({ headers, status: 304 }));
  assert.equal(state.nextPollAt, NOW + 6 * HOUR);
});

test('what a feed asks for holds as well when it is not repeated', async () => {
  const hours = Array.from({ length: 23 }, (_, hour) => `<hour>${hour}</hour>`).join('');
  const wishing = RSS.replace('<item>', `<ttl>720</ttl><skipHours>${hours}</skipHours><item>`);
  const headers = { etag: '"1"' };
  const first = await poll(FEED, answer({ headers }, wishing));
  assert.deepEqual([first.state.ttlMs, first.state.skipHours.length, first.state.skipDays], [12 * HOUR, 23, []]);
  const again = await poll(first.state, answer({ headers, status: 304 }, ''));
  assert.equal(again.kind, 'unchanged');
  assert.equal(again.state.nextPollAt, Date.parse('2026-11-22T23:00:00Z'));
  const digested = await poll((await poll(FEED, answer({}, wishing))).state, answer({}, wishing));
  assert.deepEqual([digested.kind, digested.state.nextPollAt], ['unchanged', again.state.nextPollAt]);
  const without = await poll(again.state, answer({ headers }));
  assert.deepEqual([without.state.ttlMs, without.state.skipHours], [null, []]);
});

test('once a week all is asked for, whatever the validators say', async () => {
  const known = { ...FEED, etag: '"1"', lastModified: 'x' };
  const sentAfter = async (days: number) => {
    const given = answer({ headers: { etag: '"1"' } });
    const { kind, state, headers } = await poll({ ...known, readAt: NOW - days * 24 * HOUR }, given);
    assert.deepEqual([kind, state.readAt], ['read', NOW]);
    return Object.keys(headers);
  };
  assert.deepEqual(await sentAfter(6), ['accept', 'if-none-match', 'if-modified-since']);
  assert.deepEqual(await sentAfter(7), ['accept']);
  assert.deepEqual(await sentAfter(-365), ['accept']);
});
