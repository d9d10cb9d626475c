// Lists of feeds: as other readers write them, hostile, and written to be read again; and what pages announce.
import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import { codePoint, fc, holds } from '../../../tests/support/property.ts';
import { announcedFeeds } from './links/announced-feeds.ts';
import { readOpml, writeOpml } from './opml.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const opml = (body: string) =>
  `<?xml version="1.0"?><opml version="2.0"><head><title>x</title></head><body>${body}</body></opml>`;

function feedsOf(text: string) {
  const reading = readOpml(text);
  assert.ok(reading.ok);
  return reading.feeds;
}

test('nested outlines are read, each feed once, with attributes in any case', () => {
  const reading = readOpml(
    opml(`<outline text="Folder"><outline text="A &amp;amp; B" title="A &amp; B" xmlUrl="https://a.com/feed?x=1&amp;y=2" htmlUrl="https://a.com"/>
      <outline text="Deep"><outline TEXT="B" XMLURL="http://b.com/rss" HTMLURL="nowhere"/></outline></outline>
      <outline text="again" xmlurl="https://a.com/feed?x=1&amp;y=2"/><outline xmlUrl="feed://c.com/f"/><outline xmlUrl="feed:https://d.com/f"/>
      <outline xmlUrl="ftp://e.com"/><outline xmlUrl="/relative"/><outline xmlUrl="javascript:1"/><outline type="link" url="https://f.com"/>`),
  );
  const feeds = [
    { url: 'https://a.com/feed?x=1&y=2', title: 'A & B', siteUrl: 'https://a.com/' },
    { url: 'http://b.com/rss', title: 'B', siteUrl: null },
    ...['http://c.com/f', 'https://d.com/f'].map((url) => ({ url, title: null, siteUrl: null })),
  ];
  assert.deepEqual(reading, { ok: true, feeds, skipped: 3 });
});

test('an OPML without feeds is a list of none', () => {
  for (const text of [opml(''), '<opml/>', '<opml version="1.0"><head/></opml>'])
    assert.deepEqual(readOpml(text), { ok: true, feeds: [], skipped: 0 });
});

for (const [name, text, problem] of [
  ['fifty megabytes', opml(' '.repeat(50_000_000)), /more than 16777216 characters/],
  ['half a million outlines', opml('<outline/>'.repeat(500_000)), /more than 200000 elements like <outline>/],
  ['a feed', '<rss version="2.0"><channel/></rss>', /<rss>, which is not one of <opml>/],
  ['nothing', '', /empty/],
] as const)
  test(`${name} is refused, with a reason`, () => {
    const reading = readOpml(text);
    assert.match(reading.ok ? 'read' : reading.problem, problem);
  });

test('entities of the document’s own stay text', () => {
  const entities = '<!DOCTYPE o [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "&a;&a;">]>';
  const feeds = feedsOf(entities + opml('<outline text="&b;" xmlUrl="https://a.com/"/>'));
  assert.deepEqual(feeds, [{ url: 'https://a.com/', title: '&b;', siteUrl: null }]);
});

test('a list of many feeds, with markup and entities in a title, is written and read again', () => {
  const [first, ...otherUrls] = Array.from({ length: 21_000 }, (_, i) => `https://h${i}.com/f`);
  const markup = { url: first ?? '', title: 'A <b> & "c" \'d\' &amp; ]]> é', siteUrl: null };
  const feeds = [markup, ...otherUrls.map((url, i) => ({ url, title: `${i}`, siteUrl: null }))];
  const text = writeOpml(feeds, { title: 'x', now: NOW });
  assert.match(text, /<opml version="2\.0">/);
  assert.deepEqual(feedsOf(text), feeds);
});

test('outlines nested without end, and names of prototypes, do no harm', () => {
  assert.ok(readOpml(opml('<outline text="x">'.repeat(100_000))).ok);
  const outline = '<outline length="9999999999" __proto__="x" constructor="y" xmlUrl="https://a.com"/>';
  assert.equal(feedsOf(opml(`${outline}<length>9</length>`)).length, 1);
});

test('random text never throws, and what is written is read again, whatever the titles', () => {
  const pieces = '<opml>|<body>|<outline |xmlUrl="|http://a.com|">|/>|</outline>|&|<|\0'.split('|');
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 60 });
  holds(1_000, [texts], (list) => void readOpml(list.join('')));
  const address = fc.string({ unit: codePoint }).map((text) => `/${encodeURIComponent(text)}`);
  const feed = fc.record({ title: fc.string({ unit: codePoint, maxLength: 40 }), path: address });
  const addressesOf = (feeds: ReturnType<typeof feedsOf>) => feeds.map(({ url, siteUrl }) => ({ url, siteUrl }));
  holds(200, [fc.array(feed)], (given) => {
    const feeds = given.map(({ title, path }, i) => {
      const { href } = new URL(`https://a.com${path}?n=${i}&m=<">`);
      return { url: href, title, siteUrl: i % 2 ? 'https://a.com/?x&y' : null };
    });
    assert.deepEqual(addressesOf(feedsOf(writeOpml(feeds, { title: 'Mine & yours', now: NOW }))), addressesOf(feeds));
  });
});

const PAGE = 'https://www.example.com/blog/';

it('the feeds that a page announces are its alternates of a feed’s type, absolute, each once', () => {
  const html = `<!doctype html><html><head><title>x</title>
      <LINK REL="Alternate" TYPE="application/RSS+xml; charset=utf-8" HREF="/feed.xml">
      <link rel="alternate home" type="application/atom+xml" href="atom?a=1&amp;b=2"/>
      <link rel=alternate type=application/feed+json href=https://feeds.example.net/x.json>
      <link rel="alternate" type="application/rss+xml" href="/feed.xml">
      <link rel="alternate" type="text/html" hreflang="de" href="/de">
      <link rel="stylesheet" type="application/rss+xml" href="/no.xml">
      <!-- <link rel="alternate" type="application/rss+xml" href="/comment.xml"> -->
      <script>'<link rel="alternate" type="application/rss+xml" href="/script.xml">'</script>`;
  assert.deepEqual(announcedFeeds(html, PAGE), [
    'https://www.example.com/feed.xml',
    'https://www.example.com/blog/atom?a=1&b=2',
    'https://feeds.example.net/x.json',
  ]);
  const based = '<base href="https://other.example/x/"><link rel=alternate type=application/rss+xml href=feed>';
  assert.deepEqual(announcedFeeds(based, PAGE), ['https://other.example/x/feed']);
});
it('the feeds that a page announces are few and of the web, whatever the page says, and found within a moment', () => {
  const link = (href: string) => `<link rel="alternate" type="application/rss+xml" href="${href}">`;
  const otherUrls = ['javascript:1', 'file:///etc/passwd', 'http://', 'data:,x'];
  assert.deepEqual(announcedFeeds(otherUrls.map(link).join(''), PAGE), []);
  assert.equal(announcedFeeds(Array.from({ length: 1_000 }, (_, i) => link(`/${i}`)).join(''), PAGE).length, 10);
  assert.deepEqual(announcedFeeds('', PAGE), []);
  const startedAt = performance.now();
  for (const hostile of ['<', '<link ', '<link rel="', '<!--', '<a '.repeat(2), '<div>'])
    announcedFeeds(hostile.repeat(200_000), PAGE);
  announcedFeeds(`<link ${'a'.repeat(500_000)}`, PAGE);
  announcedFeeds(`<link rel="${' '.repeat(500_000)}" type="${';'.repeat(1_000)}" href="x">`, PAGE);
  // Generous, for a busy machine: work that grew with the square of the length would take hours.
  assert.ok(performance.now() - startedAt < 60_000);
});
