// The icon of a site: its hash, which one is asked for, and hostile ones, which are not hashed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf, stopTime } from '../../../../../tests/support/index.ts';
import { visiting } from '../../test/visited.ts';
import { redirectTo, respond, type WebScript, withoutRobots } from '../../test/web-server.ts';
import { faviconHash, fetchFavicon, murmur3 } from './favicon.ts';
import { visitHomePage } from './home-page.ts';

const BYTES = Uint8Array.from({ length: 256 }, (_, i) => i);
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), BYTES]);
/** Of `mmh3.hash(base64.encodebytes(…))` in Python. */
const HASH = -245013428;

it('the hash is MurmurHash3 of the base64 text in lines', () => {
  const known = { '': 0, test: -1167338989, 'Hello, world!': -1070186941 };
  const quick = { 'The quick brown fox jumps over the lazy dog': 776992547 };
  for (const [text, hash] of Object.entries({ ...known, ...quick })) assert.equal(murmur3(Buffer.from(text)), hash);
  assert.equal(faviconHash(PNG), HASH);
  assert.equal(faviconHash(Buffer.concat([Buffer.from([0, 0, 1, 0]), Buffer.alloc(53)])), 1945602368, '76 characters');
});

const png: WebScript = respond(200, { 'content-type': 'application/octet-stream' }, PNG);
const LINK = '<link rel="Shortcut ICON" href="/a.png">';

async function iconOf(icon: WebScript, { html = LINK, ...options } = {}) {
  const script: WebScript = (request, response) =>
    request.url === '/' ? response.writeHead(200, { 'content-type': 'text/html' }).end(html) : icon(request, response);
  const work = async (visit: Parameters<typeof visitHomePage>[0]) =>
    fetchFavicon(visit, (await visitHomePage(visit)).http);
  const { value, server } = await visiting(withoutRobots(script), options, work);
  const asked = server.asked
    .filter((each) => !/robots\.txt| \/$/.test(each))
    .map((each) => each.split(' ').slice(1).join(''));
  return { ...value, asked };
}

for (const [why, html, asked] of casesOf<[string, string, string][]>('scan', 'which icon is asked for'))
  it(`the icon is the one ${why}`, async () => {
    const icon = await iconOf(png, { html });
    assert.deepEqual([icon.status, icon.hash, icon.asked], ['found', HASH, [asked]]);
  });

const html: WebScript = respond(200, { 'content-type': 'image/png' }, '<!doctype html><title>Not found</title><svg>');
const huge: WebScript = respond(200, { 'content-type': 'image/png' }, Buffer.concat([PNG, Buffer.alloc(200_000)]));
type NoIcon = [why: string, script: WebScript | number | string, status: string, requests: number];
const noIcons = casesOf<NoIcon[]>('scan', 'what is not an icon');
noIcons.push(['an HTML page', html, 'missing', 1], ['a huge file', huge, 'failed', 1]);
for (const [why, given, status, requests] of [
  ...noIcons,
  ['redirects without end', redirectTo(), 'failed', 3] as const,
])
  it(`${why} is not hashed`, async () => {
    const redirect = typeof given === 'string' ? redirectTo(given) : given;
    const script = typeof redirect === 'number' ? respond(redirect, {}) : redirect;
    const icon = await iconOf(script);
    assert.deepEqual([icon.status, icon.hash, icon.asked.length], [status, null, requests], icon.detail);
  });

it('a host of the domain at a private address is not asked, and a slow icon is unmeasured', async (t) => {
  const addresses = { 'example.com': ['93.184.216.34'], 'static.example.com': ['10.0.0.1'] };
  const moved = await iconOf(redirectTo('https://static.example.com/a.png'), { addresses } as object);
  assert.deepEqual([moved.status, moved.hash, moved.asked.length], ['refused', null, 1]);
  const pass = stopTime(t);
  const slow = await iconOf(() => pass(60_000));
  assert.deepEqual([slow.status, slow.hash], ['timeout', null]);
});

it('no icon is asked for without a home page of the domain', async () => {
  const script = withoutRobots(redirectTo('https://example.org/'));
  const work = async (visit: Parameters<typeof visitHomePage>[0]) =>
    fetchFavicon(visit, (await visitHomePage(visit)).http);
  const { value, server } = await visiting(script, {}, work);
  assert.deepEqual([value.status, server.asked.length], ['skipped', 2]);
});
