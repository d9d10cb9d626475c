// Pages for people: complete in themselves, and unable to load or send anything elsewhere. How files are served: packages/http;
// what is in the explorer's pages: tests/full/web.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { company, sharedService } from '../test/index.ts';

const service = await sharedService();

/** What the markup would make a browser fetch: sources, style sheets, frames. Plain links to read are no fetch. */
const LOADS = /<(?:script|img|iframe|link|source|video|audio|object|embed)\b[^>]*?\b(?:src|href|data)="([^"]+)"/gi;
const loaded = (html: string) => [...html.matchAll(LOADS)].map(([, url = '']) => url);

const explorer = [
  ...'/ /start /search /search?q=a /domain/example.com /domain/x /provider/cloudflare /compare /market'.split(' '),
  ...'/migrations /security /alerts /advisories /feeds /feeds/example.com /live /status'.split(' '),
];
for (const page of [...explorer, '/reference', '/reference/']) {
  it(`the service serves ${page} under a policy that lets nothing in or out`, async () => {
    const { status, headers, text } = await service.ask(page);
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(part), policy);
    assert.doesNotMatch(policy, /https?:|\*/);
    if (explorer.includes(page)) assert.doesNotMatch(policy, /unsafe/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    for (const url of loaded(text)) {
      assert.equal(new URL(url, service.base).origin, service.base, url);
      assert.equal((await service.ask(new URL(url, `${service.base}/reference/`).pathname)).status, 200, url);
    }
  });
}

it('the service answers a path that is not a page with a problem, and a browser there with the page, but below the API', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  for (const path of ['/nowhere', '/domain/a/b', '/explorer.html']) {
    const { status, body } = await service.ask(path);
    assert.deepEqual([status, body.code], [404, 'not_found'], path);
    const answer = await service.ask(path, { headers });
    assert.deepEqual([answer.status, answer.text], [404, (await service.ask('/')).text], path);
    assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
  }
  for (const path of ['/stack/v1/nothing', '/assets/nothing.js', '/ledger/nothing'])
    assert.equal((await service.ask(path, { headers })).body.code, 'not_found', path);
  assert.equal((await service.ask('/nowhere', { method: 'POST', headers })).body.code, 'not_found');
});

it('the service gives the explorer the domain to show, without a key', async () => {
  const example = { example_domain: company(service.internet, 0), chat_url: 'https://chat.example' };
  assert.deepEqual((await service.ask('/site.json')).body, { ...example, is_simulated: false });
});

it('the reference shows the complete description, without third-party fonts or services', async () => {
  const { text } = await service.ask('/reference/');
  assert.match(text, /<title>Strata API reference<\/title>/);
  const described = /"url": "\.\/(openapi\.json)"/.exec(text)?.[1];
  const { body } = await service.ask(`/reference/${described}`);
  assert.deepEqual(body, (await service.ask('/openapi.json')).body);
  assert.match(text, /"withDefaultFonts":\s*false/);
  assert.match(text, /"telemetry":\s*false/);
  assert.doesNotMatch(text, /proxyUrl|cdn\.|googleapis/);
});
