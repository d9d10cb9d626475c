// Lists of feeds as people and programs write them, and what no address is.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { newFeed } from '@strata/feeds';
import { createLogger } from '@strata/http';
import { openStore } from '@strata/store';
import { temporaryDirectory } from '../test/harness.ts';
import { feedAddress, importSubscriptions, readSubscriptions } from './subscriptions.ts';

describe('the address of a feed', () => {
  const url = (text: string) => {
    const address = feedAddress(text);
    return address.ok ? address.url : undefined;
  };

  it('is kept in one form', () => {
    for (const [given, kept] of [
      [' HTTPS://Example.COM/Feed.xml#top ', 'https://example.com/Feed.xml'],
      ['feed://example.com/rss', 'https://example.com/rss'],
      ['feed:https://example.com/rss', 'https://example.com/rss'],
      ['feed:http://example.com/rss', 'http://example.com/rss'],
      ['https://müller.example/', 'https://xn--mller-kva.example/'],
      ['http://x.example:443/', 'http://x.example:443/'],
    ] as const)
      assert.equal(url(given), kept);
  });

  it('is refused with a reason where there is none that can be polled', () => {
    const hostile = '|x|//x.example|http://|data:text/xml,x|feed:javascript:1|https://u@x.example/|http://x.example:0/';
    const further = ['https://x.example:8080/feed', `https://x.example/${'ü'.repeat(1_000)}`];
    for (const text of [...hostile.split('|'), ...further]) assert.equal(url(text), undefined, text.slice(0, 50));
  });
});

describe('a list of feeds', () => {
  it('may be any mixture of lines, each bad one reported with its number', () => {
    const { feeds, rejected } = readSubscriptions(
      '\uFEFF# c\r\nhttps://a.example/#x\rhttps://b.example/ # b\n\nno\nhttps://a.example/',
    );
    const found = [feeds.map(({ url }) => url), rejected.map(({ line, text }) => [line, text])];
    assert.deepEqual(found, [['https://a.example/', 'https://b.example/'], [[5, 'no']]]);
  });

  it('shows of what it leaves out no name or password', () => {
    for (const [given, shown] of [
      ['https://me:se@cret@x.example/feed', 'https://***@x.example/feed'],
      ['feed:https://me:secret@x.example/', 'feed:https://***@x.example/'],
      ['HTTPS:\\\\me:secret@x.example', 'HTTPS:\\\\***@x.example'],
      [`https://${'secret'.repeat(100)}@x.example/`, 'https://***@x.example/'],
      ['https:me:secret@x.example/', 'https:***@x.example/'],
    ] as const)
      assert.equal(readSubscriptions(given).rejected[0]?.text, shown);
  });

  it('may be OPML, nested, with titles', () => {
    const { feeds, rejected } = readSubscriptions(
      '\n<?xml version="1.0"?><opml version="2.0"><body><outline text="News"><outline type="rss" text="A" title="A &amp; B" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/"/><outline type="rss" text="bad" xmlUrl="ftp://b.example/"/></outline></body></opml>',
    );
    assert.deepEqual(feeds, [{ url: 'https://a.example/feed', title: 'A & B', siteUrl: 'https://a.example/' }]);
    assert.equal(rejected.length, 1);
  });

  it('that is no OPML is said to be none', () => {
    for (const text of ['<html><body>x</body></html>', '<', '<opml', `<${'a'.repeat(100_000)}`])
      assert.ok(readSubscriptions(text).problem !== undefined, text.slice(0, 20));
  });

  it('is read within a moment however long and strange', () => {
    const startedAt = performance.now();
    readSubscriptions('x\n'.repeat(500_000));
    readSubscriptions(' '.repeat(2_000_000));
    readSubscriptions(`${'#'.repeat(1_000_000)} ${' #'.repeat(100_000)}`);
    readSubscriptions(`${' '.repeat(200_000)}https://a.example/${' '.repeat(200_000)}x`);
    assert.ok(performance.now() - startedAt < 5_000);
  });
});

describe('the configured list', () => {
  it('adds what is new at each start, and does not bring back what was given up', async () => {
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
});
