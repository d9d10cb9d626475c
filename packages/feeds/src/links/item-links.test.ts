// The domains that a URL refers to, behind redirectors, and URLs that refer to no domain: vectors/links.json.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import { ASSET_HOSTS } from './asset-hosts.ts';
import { createLinkReader, namedDomains } from './item-links.ts';
import { REDIRECTORS } from './redirectors.ts';

const FEED = 'https://feeds.host.com/blog';
const esc = encodeURIComponent;

const namesIn = (url: string | null, html: readonly string[] = [], reader = createLinkReader(FEED, [])) =>
  namedDomains({ url, related: [], html: html.map((text) => ({ text, base: FEED })) }, { base: FEED, reader });

const { links } = vectorsIn<{ links: { address: string; domain: string | null }[] }>('links.json');
const endless = { address: `http://target.com/${'x'.repeat(10_000)}`, domain: null };
for (const { address, domain } of [...links, endless])
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
