// The chat is served under a policy that lets nothing in or out, and leaves the API as it is.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import type { Harness } from './test/harness.ts';
import { sharedGateway } from './test/shared.ts';

const isBuilt = existsSync(path.join(import.meta.dirname, '../../../web/dist/chat.html'));

describe('the pages of the inference service', () => {
  let service: Harness;
  before(async () => {
    service = await sharedGateway();
  });

  for (const place of ['/', '/machines']) {
    it(`serves ${place}, or says that it is not built`, async () => {
      const response = await fetch(service.base + place);
      assert.equal(response.status, isBuilt ? 200 : 503);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      const policy = response.headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
        assert.ok(policy.includes(part), part);
      assert.doesNotMatch(policy, /https?:|\*|unsafe/);
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
      const html = await response.text();
      for (const [, url = ''] of html.matchAll(/<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"/g)) {
        assert.match(url, /^\//);
        assert.equal((await fetch(service.base + url)).status, 200, url);
      }
    });
  }

  it('answers unknown paths and the files of the build as the API does', async () => {
    for (const [place, status] of [
      ['/elsewhere', 404],
      ['/assets/none.js', 404],
      ['/assets/..%2f..%2fpackage.json', 404],
    ] as const) {
      const response = await fetch(service.base + place);
      assert.equal(response.status, status, place);
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/, place);
    }
  });
});
