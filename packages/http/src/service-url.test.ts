import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openedAt, urlAt } from './service-url.ts';

describe('where a service is asked', () => {
  it('has brackets around an IPv6 address', () => {
    assert.equal(urlAt({ host: '127.0.0.1', port: 80 }), 'http://127.0.0.1:80');
    assert.ok(URL.canParse(urlAt({ host: '::', port: 80 })));
  });

  it('is named to readers where they can open it', () => {
    assert.equal(openedAt({ host: '::1', port: 80 }), 'http://[::1]:80');
    assert.equal(openedAt({ host: '10.0.0.1', port: 80 }), 'http://10.0.0.1:80');
    assert.equal(openedAt({ host: 'stack.example', port: 80 }), 'http://stack.example:80');
    for (const host of ['0.0.0.0', '0', '::', '::0', '0:0:0:0:0:0:0:0'])
      assert.equal(openedAt({ host, port: 80 }), undefined, host);
    assert.equal(openedAt({ host: '127.0.0.1', port: 0 }), undefined);
  });
});
