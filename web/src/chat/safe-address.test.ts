import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { safeAddress } from './safe-address.ts';

describe('a link of a stranger', () => {
  for (const url of ['https://example.com/a?b#c', 'http://example.com', 'mailto:a@example.com', 'HTTPS://EXAMPLE.COM'])
    it(`may lead to ${url}`, () => assert.equal(safeAddress(url), url));
  for (const url of [
    ...['', '/v1/models', '#a', '?chat=1', 'example.com', '//example.com'],
    ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)'],
    ...['java\nscript:alert(1)', '\u0001javascript:x'],
    ...['data:text/html,hi', 'vbscript:x', 'file:///etc/passwd', 'blob:https://example.com/1', 'tel:1', 'intent:x'],
  ])
    it(`does not lead to ${JSON.stringify(url)}`, () => assert.equal(safeAddress(url), ''));
});
