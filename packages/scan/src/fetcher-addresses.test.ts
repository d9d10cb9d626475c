// Where a fetch may lead: never to a private address, however it is written, named, or redirected to.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFetcher } from './fetcher.ts';
import { a, aaaa, cname, reply } from './test/dns-server.ts';
import { failureOf, PUBLIC, redirects, startInternet, textOf } from './test/fetching.ts';
import { hello, startWebServer, type WebScript } from './test/web-server.ts';

/** Spellings of private addresses; the addresses themselves are in the guard's test. */
const PRIVATE_HOSTS = `127.0.0.1 127.1 2130706433 0x7f.0.0.1 0x7f000001 0177.0.0.1 017700000001 0.0.0.0 0 0x7f.1
  169.254.169.254 [::] [::1] [::ffff:127.0.0.1] [::ffff:a9fe:a9fe] [::127.0.0.1] [64:ff9b::7f00:1] 127.0.0.1.
  127%E3%80%820%E3%80%820%E3%80%821 %EF%BC%91%EF%BC%92%EF%BC%97.0.0.1 user@127.0.0.1 example.com@127.0.0.1
  127.0.0.1:80`.split(/\s+/);

describe('private addresses', () => {
  it('are not dialled, however they are written, nor after a redirect to them', async () => {
    const locations = PRIVATE_HOSTS.map((host, i) => [`/${i}`, `http://${host}/secret`]);
    await using internet = await startInternet(redirects(Object.fromEntries(locations), hello));
    for (const [i, host] of PRIVATE_HOSTS.entries()) {
      assert.equal(failureOf(await internet.fetch(`http://${host}/`)), 'forbidden', host);
      const redirected = await internet.fetch(`http://example.com/${i}`);
      assert.equal(failureOf(redirected), 'forbidden', host);
      assert.equal(redirected.redirects.length, 1);
    }
    assert.equal(internet.web.asked.length, PRIVATE_HOSTS.length);
    for (const target of internet.web.dialled) assert.deepEqual(target, { address: PUBLIC, port: 80 });
  });

  it('are not dialled by a name, an alias, or an IPv6 record', async () => {
    await using internet = await startInternet(redirects({ '/go': 'http://alias.test/' }, hello), {
      records: [
        a('named.test', '10.1.2.3'),
        cname('alias.test', 'inner.test'),
        a('inner.test', '169.254.169.254'),
        aaaa('six.test', '::1'),
        aaaa('mapped.test', '::ffff:10.0.0.1'),
      ],
    });
    for (const host of ['named.test', 'alias.test', 'six.test', 'mapped.test', 'NAMED.test.']) {
      assert.equal(failureOf(await internet.fetch(`https://${host}/`)), 'forbidden', host);
    }
    assert.deepEqual(internet.web.dialled, []);
    assert.equal(failureOf(await internet.fetch('http://example.com/go')), 'forbidden');
    assert.equal(internet.web.dialled.length, 1);
  });

  it('are not dialled by a name that changes its address between look-up and connection', async () => {
    let questions = 0;
    await using internet = await startInternet(hello, {
      dnsScript: (q) => [reply(q, { answers: [a(q.name, questions++ === 0 ? PUBLIC : '127.0.0.1', 0)] })],
    });
    assert.equal((await internet.fetch('http://rebind.test/')).kind, 'answered');
    assert.equal(questions, 1);
    assert.deepEqual(internet.web.dialled, [{ address: PUBLIC, port: 80 }]);
    assert.equal(failureOf(await internet.fetch('http://rebind.test/')), 'forbidden');
    assert.equal(internet.web.dialled.length, 1);
  });

  it('are dialled where the operator lists their range', async () => {
    await using internet = await startInternet(hello, { fetcher: { allowAddresses: ['10.0.0.0/8'] } });
    assert.equal((await internet.fetch('http://10.1.2.3/')).kind, 'answered');
    assert.equal((await internet.fetch('http://192.168.0.1/')).kind, 'failed');
  });
});

describe('a URL', () => {
  it('of another port or scheme, or that is not a URL, is forbidden', async () => {
    const urls = `http://example.com:8080/ http://example.com:22/ https://example.com:6379/ ftp://example.com/ nonsense
      file:///etc/passwd javascript:alert(1) data:text/plain,hi gopher://example.com/ //example.com/ http:// http://[::1`;
    await using internet = await startInternet(hello);
    for (const url of ['', ...urls.split(/\s+/), `http://example.com/${'x'.repeat(100_000)}`])
      assert.equal(failureOf(await internet.fetch(url)), 'forbidden', url);
    assert.deepEqual([internet.web.dialled, internet.dns.asked], [[], []]);
  });

  it('of a name without address is unresolved', async () => {
    await using internet = await startInternet(hello);
    for (const host of ['nowhere.test', 'a..b', `${'x'.repeat(64)}.test`]) {
      assert.equal(failureOf(await internet.fetch(`http://${host}/`)), 'unresolved', host);
    }
  });

  it('loses its credentials and its fragment', async () => {
    await using internet = await startInternet((request, response) => response.end(JSON.stringify(request.headers)));
    const fetched = await internet.fetch('http://user:secret@example.com/feed#top');
    assert.equal('url' in fetched && fetched.url, 'http://example.com/feed');
    assert.doesNotMatch(textOf(fetched), /authorization/);
  });
});

describe('a trusted origin', () => {
  /** A web server that is reached at its own address, without `dial`. */
  async function startOrigin(script: WebScript) {
    const server = await startWebServer(script, { only: 'http' });
    const { address, port } = server.dial({ address: '127.0.0.1', port: 80 });
    return { origin: `http://${address}:${port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }

  it('is dialled as it stands, at its port and at localhost', async () => {
    await using ours = await startOrigin(hello);
    const named = ours.origin.replace('127.0.0.1', 'localhost');
    await using fetcher = createFetcher({ userAgent: 'test', trustedOrigins: [`${ours.origin}/path`, named] });
    const fetch = (url: string) => fetcher.fetch(url, { maxBytes: 100, timeoutMs: 2_000 });
    for (const origin of [ours.origin, named]) assert.equal(textOf(await fetch(`${origin}/feed`)), 'hello');
    const port = Number(new URL(ours.origin).port);
    assert.equal(failureOf(await fetch(`http://127.0.0.1:${port + 1}/`)), 'forbidden');
  });

  it('does not lead to other private places, and nobody else leads to it', async () => {
    await using ours = await startOrigin(
      redirects({ '/in': 'http://127.0.0.1/', '/out': 'http://example.com/back' }, hello),
    );
    await using internet = await startInternet(redirects({ '/back': `${ours.origin}/` }, hello), {
      fetcher: { trustedOrigins: [ours.origin] },
    });
    for (const url of [`${ours.origin}/in`, `${ours.origin}/out`, 'http://example.com/back']) {
      assert.equal(failureOf(await internet.fetch(url)), 'forbidden', url);
    }
    assert.deepEqual(internet.web.asked, ['http example.com /back', 'http example.com /back']);
    assert.equal((await internet.fetch(`${ours.origin}/`)).kind, 'answered');
  });

  it('that is not an origin is refused when the fetcher is made', () => {
    for (const origin of ['', '127.0.0.1:4000', 'ftp://127.0.0.1'])
      assert.throws(() => createFetcher({ userAgent: 'test', trustedOrigins: [origin] }), /is not an origin/);
  });
});
