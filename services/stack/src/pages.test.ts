// Pages for people: complete in themselves, and unable to load or send anything elsewhere.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { type Harness, smallInternet, startHarness } from './test/harness.ts';

describe('the pages', () => {
  let internet: Internet;
  let service: Harness;
  before(async () => {
    internet = await smallInternet();
    service = await startHarness({ internet });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  /** What the markup would make a browser fetch: sources, style sheets, frames. Plain links to read are no fetch. */
  const loaded = (html: string) =>
    [
      ...html.matchAll(
        /<(?:script|img|iframe|link|source|video|audio|object|embed)\b[^>]*?\b(?:src|href|data)="([^"]+)"/gi,
      ),
    ].map(([, url = '']) => url);

  for (const page of ['/', '/reference', '/reference/']) {
    it(`serves ${page} under a policy that lets nothing in or out`, async () => {
      const { status, headers, text } = await service.ask(page);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^text\/html/);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /connect-src 'self'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /https?:|\*/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      for (const url of loaded(text)) {
        assert.equal(new URL(url, service.base).origin, service.base, url);
        const path = new URL(url, `${service.base}/reference/`).pathname;
        assert.equal((await service.ask(path)).status, 200, url);
      }
    });
  }

  it('offers a key, a first request, the way to verify, and the reference on the front page', async () => {
    const { text } = await service.ask('/');
    for (const part of [
      'Get a free key',
      '/stack/v1/domains/',
      'stack verify',
      'href="/reference"',
      'href="/openapi.json"',
    ])
      assert.ok(text.includes(part), part);
  });

  it('shows the whole description in the reference, without fonts or services of others switched on', async () => {
    const { text } = await service.ask('/reference/');
    const described = /"url": "\.\/(openapi\.json)"/.exec(text)?.[1];
    const { body } = await service.ask(`/reference/${described}`);
    assert.deepEqual(body, (await service.ask('/openapi.json')).body);
    assert.match(text, /"withDefaultFonts":\s*false/);
    assert.match(text, /"telemetry":\s*false/);
    assert.doesNotMatch(text, /proxyUrl|cdn\.|googleapis/);
  });
});
