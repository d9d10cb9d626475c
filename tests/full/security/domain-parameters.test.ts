// What a caller names as a domain is scanned on demand: an address, a local name or a URL is refused, and causes no lookup.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { useServicesWithResolver } from '../../support/both-services.ts';

describe('a domain', () => {
  const { services, resolver } = useServicesWithResolver();
  const questions: string[] = [];
  resolver.on('message', (message) => questions.push(message.toString('latin1')));

  it('that is valid causes lookups: otherwise the other cases would prove nothing', async () => {
    const url = `http://127.0.0.1:${services().stackPort}/stack/v1/domains/really.example`;
    const asked = new AbortController();
    const response = fetch(url, { headers: { 'x-stack-key': services().stackKey }, signal: asked.signal });
    response.catch(() => {});
    while (questions.length === 0) await once(resolver, 'message', { signal: AbortSignal.timeout(120_000) });
    asked.abort();
    assert.match(questions.join(), /really.example/);
  });

  for (const domain of [
    ...['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '169.254.169.254', '0.0.0.0', '[::1]', '::1'],
    ...['localhost', 'http://127.0.0.1/', 'user@127.0.0.1', '127.0.0.1:80', '127\u30020\u30020\u30021', '127.0.0.1.'],
    ...['a/../../etc/passwd', 'file:///etc/passwd', 'example.com\r\nhost: x', 'example.com%00.internal'],
    ...['db.corp.internal', 'metadata.google.internal', 'DB.Internal.', 'db。internal', 'printer.local', 'host.lan'],
    ...'x.home.arpa 10.in-addr.arpa 1.0.0.10.in-addr.arpa y.localhost x.corp x.home x.mail x.onion'.split(' '),
  ])
    it(`is not ${JSON.stringify(domain)}`, async () => {
      for (const route of ['domains', 'intelligence/risk', 'feeds/domain']) {
        const url = `http://127.0.0.1:${services().stackPort}/stack/v1/${route}/${encodeURIComponent(domain)}`;
        const response = await fetch(url, { headers: { 'x-stack-key': services().stackKey } });
        const body = await response.text();
        assert.equal(response.status, 400, `${route}: ${body}`);
        assert.equal(JSON.parse(body).code, 'invalid_domain', route);
      }
      assert.deepEqual(
        questions.filter((each) => !/really.example/.test(each)),
        [],
      );
    });
});
