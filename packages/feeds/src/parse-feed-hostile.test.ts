// Documents made to hurt: each is answered in bounded time and memory, whatever the answer is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { MAX_FEED_BYTES, parseFeed } from './parse-feed.ts';

/** Each takes some hundred milliseconds on an idle machine; a quadratic reader would take minutes. */
const MAX_MS = 20_000;
const now = Date.UTC(2026, 10, 21);
const OPTIONS = { contentType: null, url: 'https://blog.site.com/feed', now, isTruncated: false };
const read = (text: string) => {
  const reading = parseFeed(Buffer.from(text), OPTIONS);
  assert.ok(reading.ok);
  return reading.feed;
};

const SIZE = MAX_FEED_BYTES - 2_000;
const fill = (unit: string, size = SIZE) => unit.repeat(Math.floor(size / unit.length));
const rss = (inner: string) => `<rss version="2.0"><channel><title>T</title>${inner}</channel></rss>`;
const item = (inner: string) => rss(`<item><title>a</title>${inner}</item>`);
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
  'descriptions nested within one': item(fill('<description>')),
  'as many descriptions of one item': item(fill('<description>x</description>')),
  'ampersands alone': item(`<description>${fill('&a')}</description>`),
  'less-than signs alone': rss(manyItems(`<description>${fill('<', 190_000)}</description>`)),
  'escaped markup': rss(manyItems(`<description>${fill('&lt;p&gt;&amp;amp;', 1_800)}</description>`)),
  'thousands of links in every item': rss(manyItems(description(fill('<a href=//a.bc>', 1_900)))),
  'links to hosts of a thousand labels': linksTo(90, 'a.'.repeat(1_000)),
  'links to hosts of six hundred letters that are none of ASCII': linksTo(90, 'ü.'.repeat(600)),
  'links to hosts of as many labels as there may be': linksTo(300, 'a.'.repeat(120)),
  'a thousand enclosures in every item': rss(manyItems(fill('<enclosure url="http://a.com/"/>', 1_900))),
  'Atom links': `<feed xmlns="http://www.w3.org/2005/Atom">${manyItems(fill('<link rel="via" href="//a.com"/>', 1_900), 'entry')}`,
  'attributes without end': `<rss ${fill('a="b" ')}>`,
  'namespaces without end': `<rss ${fill('xmlns:a="http://purl.org/dc/terms/" ')}>`,
  'a name without end': `<${fill('x')}`,
  'a text without end': item(`<title>${fill('x')}</title>`),
  'blanks without end': item(`<title>${fill(' ')}x</title>`),
  'comments that do not close': rss(fill('<!--')),
  'sections of CDATA that do not close': item(`<description>${fill('<![CDATA[')}`),
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
  for (const text of [item(evil), item(`<enclosure>${evil}</enclosure>`), rss(`<item>${evil}</item>${evil}`)])
    read(text);
  assert.ok(process.memoryUsage().heapUsed - before < 100_000_000);
});

test('all links of a feed together are bounded', () => {
  const links = (i: number) => description(times(200, (j) => `<a href=//a${i}x${j}.com>`));
  const { items: found } = read(rss(times(300, (i) => `<item><guid>${i}</guid>${links(i)}</item>`)));
  assert.equal(found.flatMap(({ domains }) => domains).length, 20_000);
});

test('random bytes, and random JSON in the place of items, never throw', () => {
  holds(500, [fc.uint8Array({ maxLength: 2_000 }), fc.boolean()], (bytes, isTruncated) => {
    parseFeed(bytes, { ...OPTIONS, isTruncated });
  });
  holds(500, [fc.json(), fc.json()], (first, second) => {
    parseFeed(Buffer.from(json(`${first},{"id":${second},"attachments":${first}}`)), OPTIONS);
  });
});

const PIECES = fc.constantFrom(
  ...[
    '<rss version="2.0">|<channel>|<item>|</item>|<title>|</title>|<link>|<link href="http://a.com"/>|<feed>|<entry>',
    '</entry>|<content type="xhtml">|<div>|</div>|</content>|<![CDATA[|]]>|<!--|-->|<?x|?>|&amp;|&#x110000;|&#0;|&|<',
    '<a href="//b.com">|<guid isPermaLink="">|<pubDate>|Tue, 03 Jun 2003|<rdf:RDF>|</rss>|</|/>|"|\'|=| |<source>',
    '<__proto__>|<length>|9999999999|xml:base="x"|xmlns:a="http://www.w3.org/2005/Atom"|<a:title|>|<!DOCTYPE|\u0000|\ud800',
  ].flatMap((row) => row.split('|')),
);

test('random text that looks like XML never throws, cut or complete, and gives what the contract says', () =>
  holds(3_000, [fc.array(PIECES, { maxLength: 80 }), fc.boolean(), fc.boolean()], (pieces, isTruncated, hasRoot) => {
    const text = (hasRoot ? '<rss version="2.0"><channel><item>' : '') + pieces.join('');
    const reading = parseFeed(Buffer.from(text), { ...OPTIONS, isTruncated });
    if (!reading.ok) return reading.problem.length > 0;
    return reading.feed.items.every(({ key, title, url }) => {
      return /^[0-9a-f]{64}$/.test(key) && (title?.length ?? 0) <= 300 && (url === null || URL.canParse(url));
    });
  }));

test('channels without end are refused, within an item or without', () => {
  for (const text of [rss(fill('<channel></channel>')), item(fill('<channel/>'))]) {
    const reading = parseFeed(Buffer.from(text), OPTIONS);
    assert.ok(!reading.ok);
    assert.match(reading.problem, /more than 5000 elements like <channel>/);
  }
});

test('items of very many elements end the reading early, and none of them counts as skipped', () => {
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
