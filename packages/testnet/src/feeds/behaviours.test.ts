import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createInternet } from '../internet.ts';
import { ask } from '../test/ask.ts';
import { useInternet } from '../test/use.ts';
import type { FeedBehaviour } from './behaviours.ts';

describe('the behaviours of feeds', () => {
  const internet = useInternet({ domains: 200 });

  /** Without TLS, whose handshakes would take most of the time. */
  const get = (url: string, options?: Parameters<typeof ask>[2]) =>
    ask(internet, url.replace('https:', 'http:'), options);
  const all = (behaviour: FeedBehaviour) =>
    internet.feeds().flatMap((feed) => (feed.behaviour === behaviour ? [feed.url] : []));
  const urlOf = (behaviour: FeedBehaviour) => all(behaviour)[0] ?? assert.fail(`no feed of behaviour ${behaviour}`);
  const statusOf = async (url: string, headers: Record<string, string>) => (await get(url, { headers })).status;
  it('are all among the first forty feeds', () =>
    assert.equal(new Set(internet.feeds().map(({ behaviour }) => behaviour)).size, 20));
  it('honour an entity tag, a date or both, and say 304 until something is new', async () => {
    for (const url of [...all('etag'), ...all('both-validators')]) {
      const { status, headers } = await get(url);
      assert.equal(status, 200, url);
      const again = await get(url, { headers: { 'if-none-match': `"other", W/${headers.etag}` } });
      assert.deepEqual([again.status, again.body.length], [304, 0], url);
      assert.equal(await statusOf(url, { 'if-none-match': '"other"' }), 200, url);
      assert.deepEqual(internet.feedRequests(url), { requests: 3, notModified: 1 });
    }
    for (const url of [...all('last-modified'), ...all('max-age')]) {
      const since = String((await get(url)).headers['last-modified']);
      assert.ok(Date.parse(since) <= Date.now(), since);
      const before = new Date(Date.parse(since) - 1_000).toUTCString();
      for (const time of [since, before, 'nonsense'])
        assert.equal(await statusOf(url, { 'if-modified-since': time }), time === since ? 304 : 200, `${url} ${time}`);
    }
    assert.equal((await get(urlOf('etag'))).headers['last-modified'], undefined);
  });
  it('move for good or for a while, to an address that answers and is counted apart', async () => {
    for (const [behaviour, expected] of [['moved-permanently', 301] as const, ['moved-temporarily', 302] as const]) {
      const url = urlOf(behaviour);
      const { status, headers } = await get(url);
      const to = String(headers.location);
      assert.deepEqual([status, (await get(to)).status], [expected, 200], to);
      for (const each of [url, to]) assert.deepEqual(internet.feedRequests(each), { requests: 1, notModified: 0 });
      assert.deepEqual(internet.feedTruth(to), internet.feedTruth(url));
    }
  });
  it('fail now and then, and refuse who asks too often', async () => {
    const answers = (behaviour: FeedBehaviour, times: number) =>
      Promise.all(Array.from({ length: times }, () => get(urlOf(behaviour))));
    const statusesOf = (asked: { status: number }[]) => asked.map(({ status }) => status).sort();
    assert.deepEqual(statusesOf(await answers('server-errors', 6)), [200, 200, 200, 200, 500, 500]);
    const refusing = await answers('too-many-requests', 4);
    assert.deepEqual(statusesOf(refusing), [200, 200, 429, 429]);
    const [seconds, date = ''] = refusing.flatMap(({ headers }) => headers['retry-after'] ?? []).sort();
    const until = Date.parse(date) - Date.now();
    assert.ok(seconds === '3600' && until > 3_500_000 && until <= 3_600_000, date);
  });
  it('close the connection half-way, send slowly, or never end until the reader stops', async () => {
    const { end, headers, body } = await get(urlOf('truncated'));
    assert.deepEqual([end, body.length], ['cut', Math.floor(Number(headers['content-length']) / 2)]);
    const slow = await get(urlOf('slow'), { timeoutMs: 300 });
    assert.deepEqual([slow.status, slow.end, slow.body.length <= 16], [200, 'timeout', true]);
    const endless = await get(urlOf('endless'), { maxBytes: 5_000_000, timeoutMs: 20_000 });
    assert.equal(endless.end, 'too-large');
    const cpu = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { user, system } = process.cpuUsage(cpu);
    assert.ok(user + system < 200_000, `${user + system} µs of work after the reader left`);
    // There is no body to do wrong when only the head is asked for.
    for (const behaviour of ['endless', 'slow', 'truncated'] as const) {
      const { status, end, body } = await get(urlOf(behaviour), { method: 'HEAD', timeoutMs: 2_000 });
      assert.deepEqual([status, end, body.length], [200, 'complete', 0], behaviour);
    }
  });
  it('compress every eighth or so for those who take it', async () => {
    const plainly = internet.feeds().filter(({ behaviour }) => /etag|validators|modified$/.test(behaviour));
    let compressed = 0;
    for (const { url } of plainly) {
      const identity = await get(url);
      assert.equal(identity.headers['content-encoding'], undefined, url);
      const { headers, body } = await get(url, { headers: { 'accept-encoding': 'gzip, br' } });
      if (headers['content-encoding'] !== 'gzip') continue;
      compressed += 1;
      assert.equal(headers.vary, 'accept-encoding');
      assert.ok(gunzipSync(body).equals(identity.body), url);
    }
    assert.ok(compressed >= 1 && compressed <= plainly.length / 3, `${compressed} of ${plainly.length}`);
  });
  it('are removed after day 5, or for days only', async () => {
    await using later = await createInternet({ domains: 200 });
    const statuses: Record<string, number[]> = { [urlOf('gone')]: [], [urlOf('missing-for-days')]: [] };
    for (let day = 0; day <= 7; day += 1, later.advance(1))
      for (const [url, days] of Object.entries(statuses)) {
        days.push((await ask(later, url)).status);
        assert.equal(later.feedTruth(url).items.length > 0, days.at(-1) === 200);
      }
    assert.deepEqual(Object.values(statuses), [
      [200, 200, 200, 200, 200, 200, 410, 410],
      [200, 200, 404, 404, 200, 200, 200, 200],
    ]);
  });
});
