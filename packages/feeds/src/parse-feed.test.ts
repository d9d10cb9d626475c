// Every document of the corpus reads as the table beside it says.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ParsedFeed } from './feed.ts';
import { parseFeed } from './parse-feed.ts';

const CORPUS = new URL('./test/corpus/', import.meta.url);
const NOW = Date.parse('2026-11-21T12:00:00Z');

type Row = { readonly contentType?: string; isTruncated?: boolean; problem?: string; feed?: object };
const table: Readonly<Record<string, Row>> = JSON.parse(readFileSync(new URL('expected.json', CORPUS), 'utf8'));
const documents = readdirSync(CORPUS).filter((name) => name.endsWith('.feed'));

const rss = (inner: string) => `<rss version="2.0"><channel><title>x</title>${inner}</channel></rss>`;
const atom = (inner: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:h="http://www.w3.org/1999/xhtml">${inner}</feed>`;
/** The domains that the first item names. */
const named = (text: string) => read(text).items[0]?.domains.map(({ domain }) => domain);

test('the corpus and its table are of the same documents', () => {
  assert.deepEqual(documents.map((name) => name.replace('.feed', '')).sort(), Object.keys(table).sort());
  assert.ok(documents.length >= 40);
});

for (const [name, { contentType = null, isTruncated = false, problem, feed }] of Object.entries(table))
  test(`the document ${name} reads as the table says`, () => {
    const body = readFileSync(new URL(`${name}.feed`, CORPUS));
    const url = 'https://feeds.host.com/blog/feed.xml';
    const reading = parseFeed(body, { contentType, url, now: NOW, isTruncated });
    if (reading.ok) assert.deepEqual(summaryOf(reading.feed), feed);
    else assert.equal(reading.problem, problem);
  });

test('an item keeps its key when its text changes; a guid and a link of the same text are different keys', () => {
  const keysOf = (description: string) =>
    read(rss(`<item><guid>1</guid><description>${description}</description></item>`)).items.map(({ key }) => key);
  assert.deepEqual(keysOf('one'), keysOf('two'));
  assert.match(keysOf('one')[0] ?? '', /^[0-9a-f]{64}$/);
  const items = '<item><guid isPermaLink="false">http://a.com/</guid></item><item><link>http://a.com/</link></item>';
  assert.equal(new Set(read(rss(items)).items.map(({ key }) => key)).size, 2);
});

test('a guid that items of one document share tells none of them from the others', () => {
  const item = (id: string, link: string, title: string) =>
    `<item><guid>${id}</guid><link>https://${link}/</link><title>${title}</title></item>`;
  const itemsOf = (...items: string[]) => read(rss(items.join(''))).items;
  const [one, two] = [item('same', 'a.org', 'one'), item('same', 'b.org', 'two')];
  const items = itemsOf(one, two, one, item('other', 'c.org', 'three'), item('same', 'a.org', 'four'));
  const found = items.map(({ url, title }) => `${url} ${title}`);
  const [a, b, c, d] = ['https://a.org/ one', 'https://b.org/ two', 'https://c.org/ three', 'https://a.org/ four'];
  assert.deepEqual(found, [a, b, c, d]);
  assert.equal(new Set(items.map(({ key }) => key)).size, 4);
  const keys = (read: typeof items) => read.map(({ key }) => key).sort();
  assert.deepEqual(keys(itemsOf(one, two)), keys(itemsOf(two, one)), 'whatever their order');
  const linked = '<item><link>https://a.org/</link><title>1</title></item>';
  assert.equal(itemsOf(linked, linked.replace('1', '2'), linked).length, 2);
});

test('an item of a link blog in JSON leads to its external address, and its own page is no other item', () => {
  const item = (more: object) => ({ external_url: 'https://shop.com/x', url: 'https://page.com/1', ...more });
  const items = [item({}), item({ url: 'https://page.com/2' }), item({ id: '3', external_url: '' })];
  const feed = read(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 'x', items }));
  assert.equal(new Set(feed.items.map(({ key }) => key)).size, 3);
  const found = feed.items.map(({ url, domains }) => [url, ...domains.map(({ domain, kind }) => `${kind} ${domain}`)]);
  const led = ['https://shop.com/x', 'link shop.com', 'content page.com'];
  assert.deepEqual(found, [led, led, ['https://page.com/1', 'link page.com']]);
});

test('what a feed asks for is bounded and cleaned', () => {
  const both = '<sy:updatePeriod>hourly</sy:updatePeriod><ttl>30</ttl>';
  const asked = ['<ttl>99999999999</ttl>', '<ttl>-5</ttl>', '<ttl>soon</ttl>', both].map((inner) => read(rss(inner)));
  assert.deepEqual(
    asked.map(({ ttlMs }) => ttlMs),
    [7 * 86_400_000, null, null, 3_600_000],
  );
  const { skipHours } = read(rss('<skipHours><hour>1.5</hour><hour>23</hour><hour>-1</hour></skipHours>'));
  assert.deepEqual(skipHours, [23]);
});

test('pictures and recordings that are attached name nobody, other documents do', () => {
  const item = (inner: string) => `<item><guid>1</guid><link>https://a.net/1</link>${inner}</item>`;
  const attached = item(
    `<enclosure url="https://pictures.org/x" type="image/jpeg"/><enclosure url="https://films.org/y" type=" Video/mp4"/>
    <enclosure url="https://sound.org/a.MP3?x=1" type="binary"/><enclosure url="https://mp3.org/files"/>
    <enclosure url="https://papers.org/z.pdf" type="application/pdf"/>`,
  );
  const links = `<link rel="enclosure" type="audio/mpeg" href="https://sound.org/x"/>
    <link rel="enclosure" href="https://papers.org/z"/>`;
  const entry = `<entry><id>1</id><link href="https://a.net/1"/>${links}</entry>`;
  const sound = { url: 'https://sound.org/x', mime_type: 'audio/mpeg' };
  const attachments = [sound, { url: 'https://papers.org/z', mime_type: 7 }, { url: 7 }, null];
  const items = [{ id: '1', url: 'https://a.net/1', attachments }];
  assert.deepEqual(named(rss(attached)), ['a.net', 'mp3.org', 'papers.org']);
  assert.deepEqual(named(atom(entry)), ['a.net', 'papers.org']);
  const json = { version: 'https://jsonfeed.org/version/1.1', title: 'x', items };
  assert.deepEqual(named(JSON.stringify(json)), ['a.net', 'papers.org']);
});

test('links are found in XHTML with a prefix, in CDATA beside markup, and beside a stray sign', () => {
  const entry = (content: string) => atom(`<entry><id>1</id><content ${content}</content></entry>`);
  const xhtml = '<h:div><h:a href="https://a.org/">x</h:a><h:abbr href="https://no.org/">x</h:abbr></h:div>';
  assert.deepEqual(named(entry(`type="xhtml">${xhtml}`)), ['a.org']);
  assert.deepEqual(named(entry('type="html"><b>x</b><![CDATA[<a href="https://a.org/">]]>')), ['a.org']);
  const escaped = '&lt;a href="https://a.org/"&gt;x&lt;/a&gt; I <3 you, &lt;a href="https://b.org/"&gt;';
  assert.deepEqual(named(entry(`type="html">${escaped}`)), ['a.org', 'b.org']);
  // A link of another namespace does not hide the link of an item.
  const self = '<link xmlns="http://www.w3.org/2005/Atom" rel="self" href="https://site.com/feed"/>';
  const item = `<item>${self}<link>https://a.org/2</link></item>`;
  assert.equal(read(rss(item)).items[0]?.url, 'https://a.org/2');
});

test('relative links of a text resolve against its own base, within that of its entry', () => {
  const entry = (inner: string, base = '') => {
    const [item] = read(atom(`<entry${base}><id>1</id><title>x</title>${inner}</entry>`)).items;
    return [item?.url, ...(item?.domains ?? []).map(({ kind, domain }) => `${kind} ${domain}`)];
  };
  const own = ' xml:base="https://own.org/x/"';
  const html = (base: string) => `<content type="html" xml:base="${base}">&lt;a href="q"&gt;</content>`;
  const link = '<link href="/a"/>';
  const div = (base: string) => `<div xmlns="http://www.w3.org/1999/xhtml" xml:base="${base}"><a href="q">x</a></div>`;
  const xhtml = (base: string) => `${link}<content type="xhtml" xml:base="https://outer.org/">${div(base)}</content>`;
  for (const [inner, base, expected] of [
    [link + html('https://other.org/'), '', 'https://site.com/a, content other.org'],
    [link + html('https://other.org/'), own, 'https://own.org/a, link own.org, content other.org'],
    [link + html('//third.org/'), own, 'https://own.org/a, link own.org, content third.org'],
    [link + html('sub/'), own, 'https://own.org/a, link own.org'],
    ['<content src="a" xml:base="https://other.org/y/"/>', own, 'https://other.org/y/a, link other.org'],
    [xhtml('https://inner.org/'), '', 'https://site.com/a, content inner.org'],
    [xhtml('inner/'), '', 'https://site.com/a, content outer.org'],
    [xhtml('javascript:1'), '', 'https://site.com/a, content outer.org'],
    ['<link href="a" xml:base="https://other.org/y/"/>', own, 'https://other.org/y/a, link other.org'],
  ] as const)
    assert.equal(entry(inner, base).join(', '), expected, inner);
});

function read(text: string): ParsedFeed {
  const options = { contentType: null, url: 'https://site.com/feed', now: NOW, isTruncated: false };
  const reading = parseFeed(Buffer.from(text), options);
  assert.ok(reading.ok);
  return reading.feed;
}

/** What the table holds: without keys, and without what is empty. */
function summaryOf({ items, ...rest }: ParsedFeed): Record<string, unknown> {
  const said = Object.entries(rest).filter(([, value]) => {
    return value !== null && value !== 0 && !(Array.isArray(value) && value.length === 0);
  });
  return {
    ...Object.fromEntries(said),
    items: items.map(({ title, url, publishedAt, domains }) => ({
      title,
      url,
      ...(publishedAt !== null && { date: new Date(publishedAt).toISOString() }),
      domains: domains.map(({ kind, domain }) => `${kind} ${domain}`).join(', '),
    })),
  };
}
