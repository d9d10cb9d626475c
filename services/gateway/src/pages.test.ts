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

  for (const place of ['/', '/machines'])
    it(`serves ${place}, or says that it is not built`, async () => {
      const { status, headers, text } = await service.get(place);
      assert.equal(status, isBuilt ? 200 : 503);
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
        assert.ok(policy.includes(part), part);
      assert.doesNotMatch(policy, /https?:|\*|unsafe/);
      const others = ['content-type', 'x-content-type-options', 'referrer-policy'].map((name) => headers.get(name));
      assert.match(others.join(), /^text\/html\b[^,]*,nosniff,no-referrer$/);
      for (const [, url = ''] of text.matchAll(/<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"/g)) {
        assert.match(url, /^\//);
        assert.equal((await service.get(url)).status, 200, url);
      }
    });

  it('answers unknown paths and the files of the build as the API does', async () => {
    for (const place of ['/elsewhere', '/assets/none.js', '/assets/..%2f..%2fpackage.json']) {
      const { status, headers } = await service.get(place);
      assert.match(`${status} ${headers.get('content-type')}`, /^404 application\/json/, place);
    }
  });
});
