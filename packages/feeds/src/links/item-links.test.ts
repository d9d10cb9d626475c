// The domains that a URL refers to, behind redirectors, and URLs that refer to no domain.
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

/** Each leads to `TARGET`, which stands behind it. */
const BEFORE_ESCAPED = [
  ...['https://www.google.com/url?sa=t&url=', 'https://www.google.de/url?q=', 'https://www.google.se/url?q='],
  ...['https://news.google.com/news/url?url=', 'https://news.google.co.nz/news/url?url='],
  ...['https://l.facebook.com/l.php?h=x&u=', 'https://t.umblr.com/redirect?t=x&z=', 'https://out.reddit.com/t3_x?url='],
  ...['https://click.linksynergy.com/deeplink?id=x&murl=', 'https://www.awin1.com/cread.php?awinmid=1&ued='],
  ...['https://prf.hn/click/camref:1/destination:', 'https://go.redirectingat.com/?id=1&url='],
  'https://nam02.safelinks.protection.outlook.com/?data=x&url=',
  'https://medium.com/m/global-identity-2?redirectUrl=',
  `https://l.facebook.com/l.php?u=${esc('https://www.google.com/url?q=')}`,
];
const BEFORE_PLAIN = ['https://web.archive.org/web/2020/', 'https://href.li/?', 'https://archive.ph/'];

const TARGETS = [
  ...['https://www.target.com/', 'https://www.target.com./', ...BEFORE_PLAIN.map((before) => before + TARGET)],
  ...BEFORE_ESCAPED.map((before) => before + esc(before.includes('%') ? esc(TARGET) : TARGET)),
];
const NAMES: readonly (readonly [address: string, domain: string])[] = [
  ...TARGETS.map((address) => [address, 'target.com'] as const),
  ['https://me.github.io/x', 'me.github.io'],
  ['https://news.google.com/topics/abc', 'google.com'],
  ['https://www.google.com.evil.org/url?q=x', 'evil.org'],
  ['https://bit.ly.evil.com/abc', 'evil.com'],
  ['https://notbit.ly/abc', 'notbit.ly'],
  ['https://www.facebook.com/travelchannel', 'facebook.com'],
  ['https://twitter.com/homedepot', 'twitter.com'],
  ['https://x.com/sharepoint', 'x.com'],
  ['https://t.me/sharesnews', 't.me'],
  ['https://aws.amazon.com/cloudfront/', 'amazon.com'],
  [`https://${'a.'.repeat(100)}com/`, 'a.com'],
  ['http://münchen.de/', 'xn--mnchen-3ya.de'],
];

const NAMELESS = [
  ...['https://news.google.com/rss/articles/CBMiabc', `https://l.facebook.com/l.php?u=${esc('https://bit.ly/x')}`],
  ...['https://l.facebook.com/l.php?u=javascript:alert(1)', 'https://l.facebook.com/l.php', 'https://archive.ph/AbCdE'],
  ...['https://lnkd.in/abc', 'https://bit.ly./abc', 'https://t.co/abc', 'https://feedproxy.google.com/~r/x/~3/y/'],
  ...['https://www.site.org./', 'https://www.site.org/', 'https://feeds.host.com/other', 'https://www.HOST.com/'],
  ...['https://www.facebook.com/sharer.php?u=x', 'https://www.facebook.com/sharer/sharer.php?u=x'],
  ...['https://www.facebook.com/tr?id=1', 'https://twitter.com/intent/tweet?text=x', 'https://x.com/Share?url=x'],
  ...['https://www.addtoany.com/share', 'https://ad.doubleclick.net/x', 'https://i0.wp.com/www.site.org/x.jpg'],
  ...['https://substackcdn.com/image/fetch/x', 'https://1.bp.blogspot.com/-a/b.png'],
  ...['https://dts.podtrac.com/redirect.mp3/traffic.megaphone.fm/a.mp3', 'https://d111111abcdef8.cloudfront.net/a.js'],
  ...[`https://${'a.'.repeat(200)}com/`, `http://target.com/${'x'.repeat(10_000)}`, '/relative', 'http://co.uk/'],
  ...['http://localhost:8080/', 'http://192.168.0.1/', 'http://0x7f.1/', 'http://[fe80::1]/', 'http://'],
  ...[
    'http://name/',
    'http://name.test/',
    'http://name.invalid/',
    'http://name.local/',
    'http://1.0.0.127.in-addr.arpa/',
  ],
  ...['http://abc.onion/', 'http://__proto__/', 'mailto:a@target.com', 'javascript:alert(1)', 'data:text/html,x'],
];

for (const [address, domain] of [...NAMES, ...NAMELESS.map((each) => [each, null] as const)])
  test(`${address.slice(0, 80)} names ${domain ?? 'no domain'}`, () => {
    const reader = createLinkReader(FEED, [FEED, 'https://www.site.org/']);
    assert.deepEqual(namesIn(address, [], reader), domain === null ? [] : [{ domain, kind: 'link' }]);
  });

test('three redirectors are followed, not four; five hundred links and 200,000 characters of an item are read', () => {
  const wrap = (depth: number, url: string): string =>
    depth === 0 ? url : wrap(depth - 1, `https://out.reddit.com/?url=${esc(url)}`);
  assert.equal(namesIn(wrap(3, 'https://a.com')).length, 1);
  assert.equal(namesIn(wrap(4, 'https://a.com')).length, 0);
  const links = Array.from({ length: 600 }, (_, i) => `<a href="http://a${i}.com">`).join('');
  assert.equal(namesIn(null, [links, links.replaceAll('http://a', 'http://b')]).length, 500);
  const blank = ' '.repeat(200_000);
  for (const html of [[`${blank}<a href="http://a.com">`], [blank, '<a href="http://a.com">']])
    assert.equal(namesIn(null, html).length, 0);
});

test('a domain that an item both leads to and names in its text is a link; images, scripts and text name none', () => {
  const html = '<A HREF=http://a.com/x>a</A> <a title="x" href=" http://b.com?x=1&amp;y=2 ">';
  const found = namesIn('https://a.com', [html, '<a href="http://b.com">']);
  assert.equal(found.map(({ domain, kind }) => `${kind} ${domain}`).join(), 'link a.com,content b.com');
  const loaded = '<img src="http://a.com/p.gif"><script src="//b.com"></script>';
  assert.deepEqual(namesIn(null, [`${loaded}<!-- <a href="http://c.com"> --> http://d.com`]), []);
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
    const covers = (other: (typeof REDIRECTORS)[0]) => other.host === host && path.startsWith(other.path ?? '/');
    assert.equal(REDIRECTORS.slice(0, index).find(covers), undefined, `${host}${path}`);
  }
});
