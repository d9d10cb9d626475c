// Lists of feeds as people and programs write them, what no address is, and pages that are given in place of a feed.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { newFeed } from '@strata/feeds';
import { createLogger } from '@strata/http';
import type { Fetched } from '@strata/scan';
import { casesOf, temporaryDirectory } from '../../../../tests/support/index.ts';
import { openStore } from '../store/index.ts';
import { feedAddress, feedsOfPage, importSubscriptions, readSubscriptions } from './subscriptions.ts';

const url = (text: string) => {
  const address = feedAddress(text);
  return address.ok ? address.url : undefined;
};

it('the address of a feed is kept in one form', () => {
  for (const [given, kept] of casesOf<[string, string][]>('stack', 'addresses of feeds'))
    assert.equal(url(given), kept);
});
it('the address of a feed is refused with a reason if it cannot be polled', () => {
  const hostile = '|x|//x.example|http://|data:text/xml,x|feed:javascript:1|https://u@x.example/|http://x.example:0/';
  const further = ['https://x.example:8080/feed', `https://x.example/${'ü'.repeat(1_000)}`];
  for (const text of [...hostile.split('|'), ...further]) assert.equal(url(text), undefined, text.slice(0, 50));
});
it('a list of feeds may be any mixture of lines, each bad one reported with its number', () => {
  const list = '\uFEFF# c\r\nhttps://a.example/#x\rhttps://b.example/ # b\n\nno\nhttps://a.example/';
  const { feeds, rejected } = readSubscriptions(list);
  const found = [feeds.map(({ url }) => url), rejected.map(({ line, text }) => [line, text])];
  assert.deepEqual(found, [['https://a.example/', 'https://b.example/'], [[5, 'no']]]);
});
it('a list of feeds shows of what it leaves out no name or password', () => {
  for (const [given, shown] of [
    ['https://me:se@cret@x.example/feed', 'https://***@x.example/feed'],
    ['feed:https://me:secret@x.example/', 'feed:https://***@x.example/'],
    ['HTTPS:\\\\me:secret@x.example', 'HTTPS:\\\\***@x.example'],
    [`https://${'secret'.repeat(100)}@x.example/`, 'https://***@x.example/'],
    ['https:me:secret@x.example/', 'https:***@x.example/'],
  ] as const)
    assert.equal(readSubscriptions(given).rejected[0]?.text, shown);
});
it('a list of feeds may be OPML, nested, with titles; other documents are reported as invalid', () => {
  const good = 'title="A &amp; B" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"';
  const outlines = `<outline type="rss" text="A" ${good}/><outline type="rss" text="bad" xmlUrl="ftp://b.example/"/>`;
  const body = `<body><outline text="News">${outlines}</outline></body>`;
  const { feeds, rejected } = readSubscriptions(`\n<?xml version="1.0"?><opml version="2.0">${body}</opml>`);
  assert.deepEqual(feeds, [{ url: 'https://a.example/feed', title: 'A & B', siteUrl: 'https://a.example/' }]);
  assert.equal(rejected.length, 1);
  for (const text of ['<html><body>x</body></html>', '<', '<opml', `<${'a'.repeat(100_000)}`])
    assert.ok(readSubscriptions(text).problem !== undefined, text.slice(0, 20));
});
it('a list of feeds is read within a moment however long and strange', () => {
  const startedAt = performance.now();
  readSubscriptions('x\n'.repeat(500_000));
  readSubscriptions(' '.repeat(2_000_000));
  readSubscriptions(`${'#'.repeat(1_000_000)} ${' #'.repeat(100_000)}`);
  readSubscriptions(`${' '.repeat(200_000)}https://a.example/${' '.repeat(200_000)}x`);
  assert.ok(performance.now() - startedAt < 30_000);
});
it('the configured list adds what is new at each start, and does not bring back what was given up', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openStore('sqlite::memory:');
  const file = path.join(directory.path, 'list.txt');
  const [at, url] = [new Date('2026-03-01T12:00:00Z'), 'https://gone.example/feed'];
  const start = () => importSubscriptions(file, { store, logger: createLogger({ level: 'silent' }), now: () => at });
  await writeFile(file, `${url}\n`);
  await start();
  const gone = { state: { ...newFeed(url), status: 'gone' as const }, feed: null };
  await store.feeds.record((await store.feeds.find(url))?.id ?? 0, gone, { at, keepFrom: at });
  await writeFile(file, `${url}\nhttps://new.example/feed\n`);
  await start();
  const { active, gone: given } = await store.feeds.summary();
  assert.deepEqual([active, given], [1, 1]);
});
it('the feeds of a page are found; a feed or an unreachable URL is left unchanged', async () => {
  const fetchPage = (type: string, body: string, status = 200) => {
    const about = { status, headers: { 'content-type': type }, url: 'https://www.example.com/', isTruncated: false };
    return feedsAt({ kind: 'answered', ...about, redirects: [], body: Buffer.from(body) });
  };
  const feedsAt = (answer: Fetched) => feedsOfPage({ fetch: async () => answer }, 'https://example.com/');
  const html = '<!doctype html><link rel="alternate" type="application/rss+xml" href="/feed">';
  assert.deepEqual(await fetchPage('text/html; charset=utf-8', html), ['https://www.example.com/feed']);
  assert.deepEqual(await fetchPage('TEXT/HTML', '<p>nothing'), []);
  assert.equal(await fetchPage('application/rss+xml', '<rss/>'), undefined);
  assert.equal(await fetchPage('text/html', ' \n<?xml version="1.0"?><rss/>'), undefined);
  assert.equal(await fetchPage('text/html', '<p>x', 404), undefined);
  assert.equal(await feedsAt({ kind: 'failed', reason: 'timeout', detail: 'late', redirects: [] }), undefined);
});
