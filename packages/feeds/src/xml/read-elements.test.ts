// The elements that are read, whatever the document.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
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

for (const [name, [source, expected]] of Object.entries(
  casesOf<Record<string, [string, string]>>('feeds', 'elements of feeds'),
))
  test(name, () => assert.equal(tidy(source), `<rss>${expected}</rss>`));

test('a URL that is too long is dropped', () =>
  assert.equal(tidy(`<rss><link href="${'x'.repeat(5_000)}"/></rss>`), '<rss><link href=""></link></rss>'));
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
