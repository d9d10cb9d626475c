// The elements that are read, whatever the document.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFeed } from '../document/parse-feed.ts';
import { linksOfHtml, textOfHtml } from '../links/html-text.ts';
import type { Element } from './element.ts';
import { readElements } from './read-elements.ts';
import { FEED_VOCABULARY } from './vocabulary.ts';

/** The elements written without escapes, or the problem. */
function tidy(source: string, isTruncated = false): string {
  const reading = readElements(source, { vocabulary: FEED_VOCABULARY, isTruncated });
  return reading.ok ? written(reading.root) : reading.problem;
}
function written({ name, attributes, text, children }: Element): string {
  const attributesText = [...attributes].map(([key, value]) => ` ${key}="${value}"`).join('');
  return `<${name}${attributesText}>${text}${children.map(written).join('')}</${name}>`;
}
const parse = (text: string) =>
  parseFeed(Buffer.from(text), { contentType: null, url: 'https://a.com/', now: 0, isTruncated: false });

const CASES: Readonly<Record<string, readonly [source: string, expected: string]>> = {
  'what is not read is left out': [
    '<rss a="1"><channel><x><title>no</title></x><title>yes</title></channel></rss>',
    '<channel><title>yes</title></channel>',
  ],
  'an end tag that is missing does not take the items along': [
    '<rss><image><url>x</url><item><title>a</title></item></rss>',
    '<item><title>a</title></item>',
  ],
  'a leaf ends with its own end tag': [
    '<rss><item><description>a <description>b</description> c</description></item></rss>',
    '<item><description type="html">a <description>b</description> c</description></item>',
  ],
  'sections of CDATA beside markup are markup as well': [
    '<rss><item><description><b>x</b><![CDATA[<i>y</i>]]>z</description></item></rss>',
    '<item><description type="html"><b>x</b><i>y</i>z</description></item>',
  ],
  'sections of CDATA in XHTML are text': [
    '<rss><item><content type="xhtml"><b>x</b><![CDATA[y]]>z</content></item></rss>',
    '<item><content type="html"><b>x</b><![CDATA[y]]>z</content></item>',
  ],
  'an element may have another default namespace than those around it': [
    '<rss><item><link xmlns="http://www.w3.org/2005/Atom" rel="self" href="/f"/><link>a</link><date xmlns="http://purl.org/dc/elements/1.1/">x</date><title xmlns="http://other/">t</title></item></rss>',
    '<item><atom:link rel="self" href="/f"></atom:link><link>a</link><dc:date>x</dc:date><title>t</title></item>',
  ],
  'stray signs stay text': ['<rss><title>a < b & c > d</title></rss>', '<title>a < b & c > d</title>'],
  'attributes in any quotes': [
    `<rss><link href='a"b<c' rel=x title="no"/></rss>`,
    '<link href="a"b<c" rel="x"></link>',
  ],
  'a URL that is too long is dropped': [`<rss><link href="${'x'.repeat(5_000)}"/></rss>`, '<link href=""></link>'],
  'prefixes become the usual ones': [
    '<rss xmlns:q="http://purl.org/dc/elements/1.1/"><item><q:date>x</q:date></item></rss>',
    '<item><dc:date>x</dc:date></item>',
  ],
  'instructions and comments go': ['<rss><?php x ?><!-- y --><title>a<!-- b -->c</title></rss>', '<title>ac</title>'],
};

for (const [name, [source, expected]] of Object.entries(CASES))
  test(name, () => assert.equal(tidy(source), `<rss>${expected}</rss>`));

test('a document that was cut loses the item that it was cut in, one without end tags keeps it', () => {
  const source = '<rss><channel><item><title>a</title></item><item><title>b';
  assert.equal(tidy(source, true), '<rss><channel><item><title>a</title></item></channel></rss>');
  assert.match(tidy(source), /<item><title>b<\/title><\/item><\/channel><\/rss>$/);
});

test('sixty elements are open at once, a text has 200,000 characters, a title 300, at most', () => {
  const deep = tidy(`<rss>${'<channel>'.repeat(1_000)}<title>deep</title>`);
  assert.equal(deep.split('<channel>').length - 1, 59);
  const { length } = tidy(`<rss><item><description>${'< '.repeat(100_000)}</description></item></rss>`);
  assert.ok(length < 200_200 && length > 199_900);
  const title = `${'x'.repeat(299)}😀`;
  const reading = parse(`<rss version="2.0"><channel><title>${title}</title><item/></channel></rss>`);
  assert.ok(reading.ok);
  assert.deepEqual([reading.feed.title?.length, reading.feed.title?.isWellFormed()], [300, true]);
});

test('JSON of more parts than a feed has is not read', () => {
  const reading = parse(`{"items":[${'{},'.repeat(300_000)}{}]}`);
  assert.deepEqual(reading, { ok: false, problem: 'The document is JSON with too many elements for a feed.' });
});

test('links of HTML have their entities resolved, and no two are one; its text is without tags', () => {
  const options = { maxCharacters: 1_000, maxLinks: 3 };
  const resolved = linksOfHtml('<a href="?a&amp;b=&#x41;"><area HREF=x><a data-href="no" href>', options);
  assert.deepEqual(resolved, ['?a&b=A', 'x']);
  assert.deepEqual(linksOfHtml('<a href=1><a href=2><a href=3><a href=4>', options), ['1', '2', '3']);
  const long = `<a href="${'&amp;x'.repeat(500)}${'y'.repeat(3_000)}">`;
  assert.deepEqual(linksOfHtml(long, { ...options, maxCharacters: 9_000 }), []);
  assert.equal(textOfHtml('a <b>b</b> &lt;c&gt; 1 < 2', { maxCharacters: 100 }), 'a b <c> 1 < 2');
});
