// Lists of feeds: read as other readers write them, refused where they are made to hurt, and written to be read again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
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

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['fifty megabytes', opml(' '.repeat(50_000_000)), /more than 16777216 characters/],
  ['half a million outlines', opml('<outline/>'.repeat(500_000)), /more than 200000 elements like <outline>/],
  ['a feed', '<rss version="2.0"><channel/></rss>', /<rss>, which is none of <opml>/],
  ['a page', '<html><body>x</body></html>', /HTML page/],
  ['no XML', 'hello', /no XML/],
  ['nothing', '', /empty/],
];

for (const [name, text, problem] of REFUSED)
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
  const [first, ...others] = Array.from({ length: 21_000 }, (_, i) => `https://h${i}.com/f`);
  const markup = { url: first ?? '', title: 'A <b> & "c" \'d\' &amp; ]]> é', siteUrl: null };
  const feeds = [markup, ...others.map((url, i) => ({ url, title: `${i}`, siteUrl: null }))];
  const text = writeOpml(feeds, { title: 'x', now: NOW });
  assert.match(text, /<opml version="2\.0">/);
  assert.deepEqual(feedsOf(text), feeds);
});

test('outlines nested without end, and names of prototypes, do no harm', () => {
  assert.ok(readOpml(opml('<outline text="x">'.repeat(100_000))).ok);
  const outline = '<outline length="9999999999" __proto__="x" constructor="y" xmlUrl="https://a.com"/>';
  assert.equal(feedsOf(opml(`${outline}<length>9</length>`)).length, 1);
});

test('random text never throws', () => {
  const pieces = '<opml>|<body>|<outline |xmlUrl="|http://a.com|">|/>|</outline>|&|<|\0'.split('|');
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 60 });
  holds(1_000, [texts], (list) => void readOpml(list.join('')));
});

test('what is written is read again, whatever the titles', () => {
  const feed = fc.record({ title: fc.string({ unit: 'binary', maxLength: 40 }), path: fc.webPath() });
  const addressesOf = (feeds: ReturnType<typeof feedsOf>) => feeds.map(({ url, siteUrl }) => ({ url, siteUrl }));
  holds(200, [fc.array(feed)], (given) => {
    const feeds = given.map(({ title, path }, i) => {
      const { href } = new URL(`https://a.com${path}?n=${i}&m=<">`);
      return { url: href, title, siteUrl: i % 2 ? 'https://a.com/?x&y' : null };
    });
    const read = feedsOf(writeOpml(feeds, { title: 'Mine & yours', now: NOW }));
    assert.deepEqual(addressesOf(read), addressesOf(feeds));
  });
});
