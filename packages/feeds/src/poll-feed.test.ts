// One poll at a time: what is asked, and what is remembered of each kind of answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask, FeedState } from './feed.ts';
import { MAX_FAILURES } from './schedule.ts';
import { answer, FEED, HOUR, NOW, poll, RSS, URL_OF_FEED } from './test/poll-answers.ts';

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
  assert.equal((await poll(second.state, answer({}, RSS.replace('One', 'Two')))).kind, 'read');
});

test('a server cannot make its own tag look like our digest', async () => {
  const { state } = await poll(FEED, answer({ headers: { etag: 'body-sha256:00' } }));
  assert.equal(state.etag, null);
});

/** Statuses with the host that each leads to, and the host where the feed is from then on. */
const CHAINS: readonly (readonly [name: string, chain: string, expected: string])[] = [
  ['no redirect', '', URL_OF_FEED],
  ['one permanent', '301 https://b.com/', 'https://b.com/'],
  ['two permanent', '301 https://b.com/ 308 https://c.com/', 'https://c.com/'],
  ['one temporary', '302 https://b.com/', URL_OF_FEED],
  ['permanent, then temporary', '301 https://b.com/ 307 https://c.com/', 'https://b.com/'],
  ['temporary, then permanent', '302 https://b.com/ 301 https://c.com/', URL_OF_FEED],
  ['permanent, temporary, permanent', '308 https://b.com/ 303 https://c.com/ 301 https://d.com/', 'https://b.com/'],
  ['to an endless address', `301 https://b.com/${'x'.repeat(3_000)}`, URL_OF_FEED],
  ['to another scheme', '301 file:///etc/passwd', URL_OF_FEED],
];

for (const [name, chain, expected] of CHAINS)
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
  for (const state of [FEED, { ...FEED, etag: 'body-sha256:00' }])
    assert.equal((await poll(state, answer({ status: 304 }))).kind, 'failed');
});

test('410 is the end of a feed', async () => {
  const { kind, state } = await poll(FEED, answer({ status: 410 }));
  assert.deepEqual([kind, state.status], ['gone', 'gone']);
  assert.match(state.error ?? '', /410/);
});

for (const status of [204, 206, 302, 400, 401, 403, 404, 429, 500, 503, 999])
  test(`${status} is a failure that keeps the validators`, async () => {
    const before = { ...FEED, etag: '"1"', failures: 2, lastNewAt: 5 };
    const { kind, state, feed } = await poll(before, answer({ status }));
    assert.deepEqual([kind, feed], ['failed', null]);
    const error = `The server answered ${status}.`;
    assert.deepEqual(state, { ...before, failures: 3, error, nextPollAt: NOW + 4 * HOUR });
  });

const RETRIES: readonly (readonly [number, string, number])[] = [
  [429, '7200', 2 * HOUR],
  [503, 'Sat, 21 Nov 2026 15:00:00 GMT', 3 * HOUR],
  [503, '60', HOUR],
  [503, '99999999', 7 * 24 * HOUR],
  [500, '7200', HOUR],
];

for (const [status, value, expected] of RETRIES)
  test(`${status} with retry-after ${value} is asked again after ${expected / HOUR} hours`, async () => {
    const { state } = await poll(FEED, answer({ status, headers: { 'retry-after': value } }));
    assert.equal(state.nextPollAt, NOW + expected);
  });

test('a body that is no feed is a failure, says why, and forgets the validators', async () => {
  const before = { ...FEED, etag: '"1"', lastModified: 'x' };
  const { kind, state } = await poll(before, answer({ headers: { etag: '"2"' } }, '<!doctype html><html></html>'));
  assert.deepEqual([kind, state.etag, state.lastModified], ['failed', null, null]);
  assert.equal(state.error, 'The address gives an HTML page.');
});

test('of a body that was cut on its way the first items count, and all is asked for the next time', async () => {
  const headers = { etag: '"2"', 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' };
  const before = { ...FEED, etag: '"1"', lastModified: 'x' };
  const cut = RSS.replace('</channel></rss>', '<item><title>Tw');
  for (const given of [headers, {}]) {
    const { kind, state, feed } = await poll(before, answer({ headers: given, isTruncated: true }, cut));
    assert.deepEqual([kind, feed?.items.length, state.error], ['read', 1, null]);
    assert.deepEqual([state.etag, state.lastModified], [null, null]);
  }
});

test('a document longer than is read keeps its validators', async () => {
  const long = RSS.replace('</channel></rss>', ' '.repeat(2_000_000)).slice(0, 2_000_000);
  const { state } = await poll(FEED, answer({ headers: { etag: '"1"' }, isTruncated: true }, long));
  assert.equal(state.etag, '"1"');
});

test('a fetch that fails, or an asker that throws, is a failure', async () => {
  const failed = await poll(FEED, { kind: 'failed', reason: 'timeout', detail: 'y'.repeat(5_000) });
  assert.deepEqual([failed.kind, failed.state.error?.length], ['failed', 300]);
  const thrown = await poll(FEED, () => Promise.reject(new Error('broken')));
  assert.equal(thrown.kind, 'failed');
  assert.match(thrown.state.error ?? '', /broken/);
});

test('a feed that fails long enough is given up with its last error', async () => {
  const failing = answer({ status: 500 });
  let state: FeedState = { ...FEED, failures: MAX_FAILURES - 1 };
  for (const expected of ['failed', 'gone']) {
    const outcome = await poll(state, failing);
    assert.deepEqual([outcome.kind, outcome.state.error], [expected, 'The server answered 500.']);
    ({ state } = outcome);
  }
});

test('one success forgets all failures', async () => {
  const { state } = await poll({ ...FEED, failures: MAX_FAILURES, error: 'x' }, answer());
  assert.deepEqual([state.failures, state.error, state.status], [0, null, 'active']);
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

test('a feed that dates nothing is new whenever it changes', async () => {
  const undated = RSS.replace(/<pubDate>.*<\/pubDate>/, '');
  assert.equal((await poll(FEED, answer({}, undated))).state.lastNewAt, NOW);
});
