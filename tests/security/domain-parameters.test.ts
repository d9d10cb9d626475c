// What a caller names as a domain is scanned on demand: an address, a local name or a URL is none, and nothing is asked about it.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type BothServices, startBothServices } from './both-services.ts';

let services: BothServices;
const questions: string[] = [];
const resolver = createSocket('udp4', (message) => questions.push(message.toString('latin1')));
before(async () => {
  resolver.bind(0, '127.0.0.1');
  await once(resolver, 'listening');
  services = await startBothServices({
    STRATA_ON_DEMAND: 'on',
    STRATA_RESOLVERS: `127.0.0.1:${resolver.address().port}`,
  });
});
after(async () => {
  await services?.[Symbol.asyncDispose]();
  resolver.close();
});

describe('a domain', () => {
  for (const domain of [
    ...['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '169.254.169.254', '0.0.0.0', '[::1]', '::1'],
    ...['localhost', 'http://127.0.0.1/', 'user@127.0.0.1', '127.0.0.1:80', '127\u30020\u30020\u30021', '127.0.0.1.'],
    ...['a/../../etc/passwd', 'file:///etc/passwd', 'example.com\r\nhost: x', 'example.com%00.internal'],
  ])
    it(`is not ${JSON.stringify(domain)}`, async () => {
      const before = questions.length;
      for (const route of ['domains', 'intelligence/risk', 'feeds/domain']) {
        const url = `http://127.0.0.1:${services.stackPort}/stack/v1/${route}/${encodeURIComponent(domain)}`;
        const response = await fetch(url, { headers: { 'x-stack-key': services.stackKey } });
        assert.equal(response.status, 400, `${route}: ${await response.text()}`);
      }
      assert.equal(questions.length, before, 'DNS was asked');
    });
});
