// Which domains an address names, past redirectors, and which name nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ASSET_HOSTS } from './asset-hosts.ts';
import { createLinkReader, namedDomains } from './item-links.ts';
import { REDIRECTORS } from './redirectors.ts';

const FEED = 'https://feeds.host.com/blog';
const esc = encodeURIComponent;
const TARGET = 'https://www.target.com/a?b=c';

const namesIn = (url: string | null, html: readonly string[] = [], reader = createLinkReader(FEED, [])) =>
  namedDomains({ url, related: [], html: html.map((text) => ({ text, base: FEED })) }, { base: FEED, reader });

const ADDRESSES: readonly (readonly [string, string | null])[] = [
  ['https://www.target.com/', 'target.com'],
  ['https://me.github.io/x', 'me.github.io'],
  [`https://www.google.com/url?sa=t&url=${esc(TARGET)}`, 'target.com'],
  [`https://www.google.de/url?q=${esc(TARGET)}`, 'target.com'],
  [`https://news.google.com/news/url?url=${esc(TARGET)}`, 'target.com'],
  ['https://news.google.com/rss/articles/CBMiabc', null],
  ['https://news.google.com/topics/abc', 'google.com'],
  [`https://l.facebook.com/l.php?u=${esc(TARGET)}&h=x`, 'target.com'],
  [`https://t.umblr.com/redirect?z=${esc(TARGET)}&t=x`, 'target.com'],
  [`https://out.reddit.com/t3_x?url=${esc(TARGET)}`, 'target.com'],
  [`https://click.linksynergy.com/deeplink?id=x&murl=${esc(TARGET)}`, 'target.com'],
  [`https://www.awin1.com/cread.php?awinmid=1&ued=${esc(TARGET)}`, 'target.com'],
  [`https://prf.hn/click/camref:1/destination:${esc(TARGET)}`, 'target.com'],
  [`https://nam02.safelinks.protection.outlook.com/?url=${esc(TARGET)}&data=x`, 'target.com'],
  [`https://go.redirectingat.com/?id=1&url=${esc(TARGET)}`, 'target.com'],
  [`https://web.archive.org/web/2020/${TARGET}`, 'target.com'],
  [`https://href.li/?${TARGET}`, 'target.com'],
  [`https://l.facebook.com/l.php?u=${esc(`https://www.google.com/url?q=${esc(TARGET)}`)}`, 'target.com'],
  [`https://l.facebook.com/l.php?u=${esc('https://bit.ly/x')}`, null],
  ['https://l.facebook.com/l.php?u=javascript:alert(1)', null],
  ['https://l.facebook.com/l.php', null],
  [`https://www.google.se/url?q=${esc(TARGET)}`, 'target.com'],
  [`https://news.google.co.nz/news/url?url=${esc(TARGET)}`, 'target.com'],
  ['https://www.google.com.evil.org/url?q=x', 'evil.org'],
  [`https://medium.com/m/global-identity-2?redirectUrl=${esc(TARGET)}`, 'target.com'],
  [`https://archive.ph/${TARGET}`, 'target.com'],
  ['https://archive.ph/AbCdE', null],
  ['https://lnkd.in/abc', null],
  ['https://bit.ly./abc', null],
  ['https://www.target.com./', 'target.com'],
  ['https://www.site.org./', null],
  ['https://www.facebook.com/sharer.php?u=x', null],
  ['https://www.facebook.com/tr?id=1', null],
  ['https://www.facebook.com/travelchannel', 'facebook.com'],
  ['https://twitter.com/homedepot', 'twitter.com'],
  ['https://x.com/sharepoint', 'x.com'],
  ['https://x.com/Share?url=x', null],
  ['https://t.me/sharesnews', 't.me'],
  ['https://i0.wp.com/www.site.org/x.jpg', null],
  ['https://substackcdn.com/image/fetch/x', null],
  ['https://1.bp.blogspot.com/-a/b.png', null],
  ['https://dts.podtrac.com/redirect.mp3/traffic.megaphone.fm/a.mp3', null],
  ['https://d111111abcdef8.cloudfront.net/a.js', null],
  ['https://aws.amazon.com/cloudfront/', 'amazon.com'],
  [`https://${'a.'.repeat(200)}com/`, null],
  [`https://${'a.'.repeat(100)}com/`, 'a.com'],
  ['https://t.co/abc', null],
  ['https://notbit.ly/abc', 'notbit.ly'],
  ['https://bit.ly.evil.com/abc', 'evil.com'],
  ['https://feedproxy.google.com/~r/x/~3/y/', null],
  ['https://www.facebook.com/sharer/sharer.php?u=x', null],
  ['https://www.facebook.com/somebody', 'facebook.com'],
  ['https://twitter.com/intent/tweet?text=x', null],
  ['https://x.com/somebody/status/1', 'x.com'],
  ['https://www.addtoany.com/share', null],
  ['https://ad.doubleclick.net/x', null],
  ['https://feeds.host.com/other', null],
  ['https://www.HOST.com/', null],
  ['https://www.site.org/', null],
  ['/relative', null],
  ['http://localhost:8080/', null],
  ['http://192.168.0.1/', null],
  ['http://0x7f.1/', null],
  ['http://[fe80::1]/', null],
  ['http://name/', null],
  ['http://name.test/', null],
  ['http://name.invalid/', null],
  ['http://name.local/', null],
  ['http://1.0.0.127.in-addr.arpa/', null],
  ['http://abc.onion/', null],
  ['http://co.uk/', null],
  ['http://münchen.de/', 'xn--mnchen-3ya.de'],
  ['mailto:a@target.com', null],
  ['javascript:alert(1)', null],
  ['data:text/html,x', null],
  ['http://', null],
  [`http://target.com/${'x'.repeat(10_000)}`, null],
  ['http://__proto__/', null],
];

for (const [address, expected] of ADDRESSES) {
  test(`${address.slice(0, 80)} names ${expected ?? 'nobody'}`, () => {
    const reader = createLinkReader(FEED, [FEED, 'https://www.site.org/']);
    const named = namesIn(address, [], reader);
    assert.deepEqual(named, expected === null ? [] : [{ domain: expected, kind: 'link' }]);
  });
}

test('three redirectors are followed, four are not', () => {
  const wrap = (depth: number, url: string): string =>
    depth === 0 ? url : wrap(depth - 1, `https://out.reddit.com/?url=${esc(url)}`);
  assert.equal(namesIn(wrap(3, 'https://a.com')).length, 1);
  assert.equal(namesIn(wrap(4, 'https://a.com')).length, 0);
});

test('a domain that an item both leads to and names in its text is a link', () => {
  const html = [
    '<A HREF=http://a.com/x>a</A> <a title="x" href=" http://b.com?x=1&amp;y=2 ">',
    '<a href="http://b.com">',
  ];
  const found = namesIn('https://a.com', html).map(({ domain, kind }) => `${kind} ${domain}`);
  assert.deepEqual(found, ['link a.com', 'content b.com']);
});

test('images, scripts, comments and text name no domain', () => {
  const loaded = '<img src="http://a.com/p.gif"><script src="//b.com"></script>';
  assert.deepEqual(namesIn(null, [`${loaded}<!-- <a href="http://c.com"> --> http://d.com`]), []);
});

test('five hundred links of an item are read, and 200,000 characters', () => {
  const links = Array.from({ length: 600 }, (_, i) => `<a href="http://a${i}.com">`).join('');
  assert.equal(namesIn(null, [links, links.replaceAll('http://a', 'http://b')]).length, 500);
  assert.equal(namesIn(null, [`${' '.repeat(200_000)}<a href="http://a.com">`]).length, 0);
  assert.equal(namesIn(null, [' '.repeat(200_000), '<a href="http://a.com">']).length, 0);
});

test('the table of redirectors has each entry once, in lower case, and no entry behind one that covers it', () => {
  const hosts = new Set(REDIRECTORS.map(({ host }) => host));
  assert.equal(new Set(ASSET_HOSTS).size, ASSET_HOSTS.length);
  for (const host of ASSET_HOSTS) assert.match(host, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
  assert.ok(hosts.size >= 40);
  for (const [index, entry] of REDIRECTORS.entries()) {
    const { host, path = '/', kind, parameters = [] } = entry;
    assert.equal(`${host}${path}`, `${host}${path}`.toLowerCase());
    assert.equal(kind === 'unwrap', parameters.length > 0, host);
    const earlier = REDIRECTORS.slice(0, index).find(
      (other) => other.host === host && path.startsWith(other.path ?? '/'),
    );
    assert.equal(earlier, undefined, `${host}${path}`);
  }
});
