import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { extractPage } from './page.ts';

const read = (html: string) => extractPage(html, { url: 'https://example.com/shop/', isTruncated: false });

it('extractPage reads the title with its entities, once', () => {
  const first = '<title> Tom &amp;\n  Jerry &#x1F600;</title><svg><title>no</title></svg>';
  const titles = [first, '<p>', '<title>unclosed'].map((html) => read(html).title);
  assert.deepEqual(titles, ['Tom & Jerry 😀', null, 'unclosed']);
});
it('extractPage reads metas by lower-case name or property, the first of each', () => {
  const first = '<META NAME=Generator CONTENT="WordPress 6.4"><meta property="og:title" content=a>';
  const { metas } = read(`${first}<meta name=generator content=b><meta charset=utf-8>`);
  assert.deepEqual(metas, { generator: 'WordPress 6.4', 'og:title': 'a' });
});
it('extractPage reads assets against the page, its base, and without fragments, credentials and data', () => {
  const { assets } = read(
    '<script src=a.js></script><base href="//cdn.test/x/"><img src="b.png#f"><link href="/c.css"><iframe src="https://u:p@d.test/?q=1&amp;r=2"></iframe>' +
      '<img src="data:image/png;base64,AA"><a href="e.html">e</a><script src="javascript:x"></script><img src="http://[bad/"><img src="">',
  );
  assert.deepEqual(assets, [
    ...['https://example.com/shop/a.js', 'https://cdn.test/x/b.png', 'https://cdn.test/c.css'],
    ...['https://d.test/?q=1&r=2'],
  ]);
});
it('extractPage reads ids, data- and ng- attributes as markers, in lower case', () => {
  const { markers } = read('<div ID=Root data-WF-site="1" ng-app class=x><p data-wf-site=2>');
  assert.deepEqual(markers, ['root', 'data-wf-site', 'ng-app']);
});
it('extractPage reads the id of a script at the very end of a page full of ids', () => {
  const ids = Array.from({ length: 5000 }, (_, i) => `<p id=p${i}>`).join('');
  const { markers } = read(`${ids}<script id="__NEXT_DATA__">{}</script>`);
  assert.deepEqual([markers.length, markers.includes('__next_data__')], [201, true]);
});
it('extractPage reads the generator after a hundred other metas', () => {
  const metas = Array.from({ length: 100 }, (_, i) => `<meta name=m${i} content=x>`).join('');
  const page = read(`${metas}<meta name=generator content=Hugo>`);
  assert.equal(page.metas.generator, 'Hugo');
  assert.equal(Object.keys(page.metas).length, 65);
});
it('extractPage reads no tags inside scripts, styles and comments', () => {
  const script = '<script>"<img src=/a>"</script><style><img src=/b></style>';
  assert.deepEqual(read(`${script}<!-- <img src=/c> --><textarea><img src=/d></textarea>`).assets, []);
});

const bombs = {
  ...{ 'deep nesting': '<div>'.repeat(300_000), 'less-than signs': '<'.repeat(1_000_000) },
  'closing tags that close nothing': '<a>'.repeat(150_000) + '</b>'.repeat(150_000),
  'one tag of many attributes': `<a ${'x=1 '.repeat(300_000)}>`,
  'an attribute that never ends': `<a x="${'y'.repeat(1_000_000)}`,
  ...{ entities: `<title>${'&amp;'.repeat(200_000)}`, 'open comments': '<!--'.repeat(250_000) },
  'half-closed scripts': `<script>${'</scrip'.repeat(150_000)}`,
  'long names': `<${'a'.repeat(500_000)} id=${'b'.repeat(500_000)}>`,
  'many images': Array.from({ length: 50_000 }, (_, i) => `<img src=/${i} id=${i}>`).join(''),
};
for (const [name, html] of Object.entries(bombs))
  it(`extractPage bounds ${name}`, () => {
    const page = read(html);
    assert.ok(page.assets.length <= 200 && page.markers.length <= 232 && Object.keys(page.metas).length <= 65);
    assert.ok(JSON.stringify(page).length < 250_000);
  });
it('extractPage bounds an oversized page in part, and reports it', () => {
  const page = read(`<title>x</title>${' '.repeat(4_000_001)}<img src=/late>`);
  assert.deepEqual([page.title, page.assets.length, page.isTruncated], ['x', 0, true]);
  assert.equal(extractPage('', { url: 'https://a.test/', isTruncated: true }).isTruncated, true);
});
it('extractPage bounds names of object members to plain data', () => {
  const metas = '<meta name="__proto__" content="x"><meta name=constructor content=y>';
  const page = read(`${metas}<p id=__proto__ data-constructor>`);
  assert.equal(Object.getPrototypeOf(page.metas), Object.prototype);
  assert.deepEqual(Object.keys(page.metas), ['__proto__', 'constructor']);
  assert.deepEqual(page.markers, ['__proto__', 'data-constructor']);
});
it('extractPage bounds control characters and broken text to U+FFFD', () => {
  const page = read('<title>a\u0000b\ufffd\ud800c</title><meta name=x content="\ud83d">');
  assert.deepEqual([page.title, page.metas.x], ['a\ufffdb\ufffd\ufffdc', '\ufffd']);
});
it('extractPage bounds anything to JSON-safe data, without throwing', () => {
  const marks = ['<', '>', '"', "'", '=', '/', ' ', '&amp;', '&#0;', '&#x110000;', '<!--', '-->', '<![CDATA[', ']]>'];
  const names = ['script', 'img', 'src', 'title', 'meta', 'id', 'base', 'href', '\u0000', '\ud800'];
  const piece = fc.constantFrom(...marks, ...names);
  holds(500, [fc.array(fc.oneof(piece, fc.string({ unit: codePoint }))), fc.string()], (parts, url) => {
    const page = extractPage(parts.join(''), { url, isTruncated: false });
    assert.deepEqual(JSON.parse(JSON.stringify(page)), page);
  });
});
