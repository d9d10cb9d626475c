// Documents of the corpus read as its table says; hostile ones are answered in bounded time and memory.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import type { ParsedFeed } from '../feed.ts';
import { MAX_FEED_BYTES, parseFeed } from './parse-feed.ts';

const CORPUS = new URL('../test/corpus/', import.meta.url);
const NOW = Date.parse('2026-11-21T12:00:00Z');

const OPTIONS = { contentType: null, url: 'https://site.com/feed', now: NOW, isTruncated: false };
const read = (text: string) => {
  const reading = parseFeed(Buffer.from(text), OPTIONS);
  return reading.ok ? reading.feed : assert.fail(reading.problem);
};

type Row = { readonly contentType?: string; isTruncated?: boolean; problem?: string; feed?: object };
const table: Readonly<Record<string, Row>> = JSON.parse(readFileSync(new URL('expected.json', CORPUS), 'utf8'));
const documents = readdirSync(CORPUS).filter((name) => name.endsWith('.feed'));

const rss = (inner: string) => `<rss version="2.0"><channel><title>x</title>${inner}</channel></rss>`;
const atom = (inner: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:h="http://www.w3.org/1999/xhtml">${inner}</feed>`;
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

test('a guid shared by items of one document does not identify them', () => {
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
  const ttls = asked.map(({ ttlMs }) => ttlMs);
  assert.deepEqual(ttls, [7 * 86_400_000, null, null, 3_600_000]);
  const { skipHours } = read(rss('<skipHours><hour>1.5</hour><hour>23</hour><hour>-1</hour></skipHours>'));
  assert.deepEqual(skipHours, [23]);
});

test('attached images and recordings are not mentions, other documents are', () => {
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
  for (const [inner, base, expected] of casesOf<[string, string, string][]>('feeds', 'bases of links'))
    assert.equal(entry(inner, base).join(', '), expected, inner);
});

/** What the table holds: without keys, and without what is empty. */
function summaryOf({ items, ...rest }: ParsedFeed): Record<string, unknown> {
  const stated = Object.entries(rest).filter(([, value]) => {
    return value !== null && value !== 0 && !(Array.isArray(value) && value.length === 0);
  });
  return {
    ...Object.fromEntries(stated),
    items: items.map(({ title, url, publishedAt, domains }) => ({
      title,
      url,
      ...(publishedAt !== null && { date: new Date(publishedAt).toISOString() }),
      domains: domains.map(({ kind, domain }) => `${kind} ${domain}`).join(', '),
    })),
  };
}

/** Each takes some hundred milliseconds on an idle machine; a quadratic reader would take minutes. */
const MAX_MS = 20_000;

const SIZE = MAX_FEED_BYTES - 2_000;
const fill = (unit: string, size = SIZE) => unit.repeat(Math.floor(size / unit.length));
const itemOf = (inner: string) => rss(`<item><title>a</title>${inner}</item>`);
const times = (length: number, of: (i: number) => string, between = '') =>
  Array.from({ length }, (_, i) => of(i)).join(between);
const manyItems = (inner: string, tag = 'item') =>
  times(Math.floor(SIZE / (inner.length + 50)), (i) => `<${tag}><title>${i}</title>${inner}</${tag}>`);
const description = (text: string) => `<description><![CDATA[${text}]]></description>`;
const linksTo = (count: number, labels: string) =>
  rss(manyItems(description(times(count, (i) => `<a href=//${labels}a${i}.bc>`))));
const json = (items: string) => `{"version":"https://jsonfeed.org/version/1","items":[${items}]}`;

const DOCUMENTS: Readonly<Record<string, string>> = {
  'a million empty items': rss(fill('<item/>')),
  'elements nested without end': rss(fill('<a>')),
  'items nested without end': rss(fill('<item>')),
  'descriptions nested within one': itemOf(fill('<description>')),
  'as many descriptions of one item': itemOf(fill('<description>x</description>')),
  'ampersands alone': itemOf(`<description>${fill('&a')}</description>`),
  'less-than signs alone': rss(manyItems(`<description>${fill('<', 190_000)}</description>`)),
  'escaped markup': rss(manyItems(`<description>${fill('&lt;p&gt;&amp;amp;', 1_800)}</description>`)),
  'thousands of links in every item': rss(manyItems(description(fill('<a href=//a.bc>', 1_900)))),
  'links to hosts of a thousand labels': linksTo(90, 'a.'.repeat(1_000)),
  'links to hosts of six hundred non-ASCII letters': linksTo(90, 'ü.'.repeat(600)),
  'links to hosts of as many labels as there may be': linksTo(300, 'a.'.repeat(120)),
  'a thousand enclosures in every item': rss(manyItems(fill('<enclosure url="http://a.com/"/>', 1_900))),
  'Atom links': `<feed xmlns="http://www.w3.org/2005/Atom">${manyItems(fill('<link rel="via" href="//a.com"/>', 1_900), 'entry')}`,
  'attributes without end': `<rss ${fill('a="b" ')}>`,
  'namespaces without end': `<rss ${fill('xmlns:a="http://purl.org/dc/terms/" ')}>`,
  'a name without end': `<${fill('x')}`,
  'a text without end': itemOf(`<title>${fill('x')}</title>`),
  'blanks without end': itemOf(`<title>${fill(' ')}x</title>`),
  'comments that do not close': rss(fill('<!--')),
  'sections of CDATA that do not close': itemOf(`<description>${fill('<![CDATA[')}`),
  'end tags of nothing': rss(fill('<a>', 180) + fill('</b>')),
  declarations: `<!DOCTYPE x [${fill('<!ELEMENT a b>')}`,
  'less-than signs without a document': fill('<'),
  'hours without end': rss(`<skipHours>${fill('<hour>1</hour>')}</skipHours>`),
  'channels in channels': rss(fill('<channel>')),
  'brackets of JSON': fill('['),
  'JSON nested deep': json(`${fill('[', SIZE / 2)}${fill(']', SIZE / 2)}`),
  'JSON of empty items': json(`${fill('{},')}{}`),
  'JSON of many keys': json(`{${times(100_000, (i) => `"k${i}":1`, ',')}}`),
};

for (const [name, text] of Object.entries(DOCUMENTS))
  test(`${name}: answered in time, with a thousand items at most`, () => {
    const started = performance.now();
    const reading = parseFeed(Buffer.from(text), OPTIONS);
    const tookMs = performance.now() - started;
    assert.ok(tookMs < MAX_MS, `${tookMs} ms`);
    if (reading.ok) assert.ok(reading.feed.items.length <= 1_000);
  });

test('of a hundred megabytes the first items are read', () => {
  const body = Buffer.from(`<rss version="2.0"><channel><title>T</title>${manyItems('<description>x</description>')}`);
  const reading = parseFeed(Buffer.concat([body, Buffer.alloc(98_000_000, ' x')]), OPTIONS);
  assert.ok(reading.ok);
  assert.equal(reading.feed.items.length, 1_000);
});

test('a list that claims to have four thousand million entries fills no memory', () => {
  const before = process.memoryUsage().heapUsed;
  const evil = '<length>4294967295</length>';
  for (const text of [itemOf(evil), itemOf(`<enclosure>${evil}</enclosure>`), rss(`<item>${evil}</item>${evil}`)])
    read(text);
  assert.ok(process.memoryUsage().heapUsed - before < 100_000_000);
});

test('all links of a feed together are bounded', () => {
  const links = (i: number) => description(times(200, (j) => `<a href=//a${i}x${j}.com>`));
  const { items: found } = read(rss(times(300, (i) => `<item><guid>${i}</guid>${links(i)}</item>`)));
  assert.equal(found.flatMap(({ domains }) => domains).length, 20_000);
});

test('random bytes, and random JSON as items, never throw', () => {
  holds(500, [fc.uint8Array({ maxLength: 2_000 }), fc.boolean()], (bytes, isTruncated) => {
    parseFeed(bytes, { ...OPTIONS, isTruncated });
  });
  holds(500, [fc.json(), fc.json()], (first, second) => {
    parseFeed(Buffer.from(json(`${first},{"id":${second},"attachments":${first}}`)), OPTIONS);
  });
});

const PIECES = fc.constantFrom(...casesOf<string[]>('feeds', 'pieces of feeds').flatMap((row) => row.split('|')));

test('random text that looks like XML never throws, cut or complete, and gives what the contract says', () =>
  holds(3_000, [fc.array(PIECES, { maxLength: 80 }), fc.boolean(), fc.boolean()], (pieces, isTruncated, hasRoot) => {
    const text = (hasRoot ? '<rss version="2.0"><channel><item>' : '') + pieces.join('');
    const reading = parseFeed(Buffer.from(text), { ...OPTIONS, isTruncated });
    if (!reading.ok) return reading.problem.length > 0;
    return reading.feed.items.every(({ key, title, url }) => {
      return /^[0-9a-f]{64}$/.test(key) && (title?.length ?? 0) <= 300 && (url === null || URL.canParse(url));
    });
  }));

test('channels without end are refused, and items of very many elements end the reading early, none skipped', () => {
  for (const text of [rss(fill('<channel></channel>')), itemOf(fill('<channel/>'))]) {
    const reading = parseFeed(Buffer.from(text), OPTIONS);
    assert.ok(!reading.ok);
    assert.match(reading.problem, /more than 5000 elements like <channel>/);
  }
  const sources = '<source url="x">x</source>'.repeat(49);
  const feed = read(rss(times(1_000, (i) => `<item><guid>${i}</guid>${sources}</item>`)));
  assert.deepEqual([feed.items.length, feed.skipped], [400, 0]);
});

test('names that every object has are no elements, attributes or members of a feed', () => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  const own = '<__proto__><title>x</title></__proto__><constructor polluted="1">x</constructor><toString/>';
  const channel = `<channel><__proto__ polluted="1"/><item>${own}<guid>1</guid></item></channel>`;
  const inherited = '"__proto__":{"title":"x","url":"https://a.com/"},"constructor":{"prototype":{"polluted":1}}';
  const texts = [`<rss version="2.0" __proto__="x" constructor="y">${channel}</rss>`, json(`{"id":"1",${inherited}}`)];
  for (const text of texts) {
    const { items } = read(text);
    assert.deepEqual([items.length, items[0]?.title, items[0]?.url], [1, null, null]);
  }
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before);
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});
