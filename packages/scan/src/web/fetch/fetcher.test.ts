// Fetching over real sockets: answers, redirects and what they may hear, certificates.
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { it } from 'node:test';
import { fakeService } from '../../../../../tests/support/fake-service.ts';
import { a, aaaa, cname, reply } from '../../test/dns-server.ts';
import { failureOf, PUBLIC, redirects, startInternet, textOf } from '../../test/fetching.ts';
import { badCertificates, hello, makeCertificate, type WebScript } from '../../test/web-server.ts';
import { createFetcher, createNamedFetcher } from './fetcher.ts';

it('an answer comes with its status, its headers and where it came from', async () => {
  await using internet = await startInternet((_request, response) => {
    const lists = { Link: ['<a>', '<b>'], 'Set-Cookie': ['a=1', 'b=2'] };
    response.writeHead(418, { ETag: '"v1"', ...lists, ['__proto__']: 'polluted' }).end('short and stout');
  });
  const fetched = await internet.fetch('https://example.com/tea?x=1');
  const answer = { kind: 'answered', status: 418, url: 'https://example.com/tea?x=1', isTruncated: false };
  const headers = { etag: '"v1"', link: '<a>, <b>', 'set-cookie': 'a=1, b=2' };
  assert.partialDeepStrictEqual(fetched, { ...answer, headers });
  assert.equal(textOf(fetched), 'short and stout');
  assert.equal('headers' in fetched && Object.getPrototypeOf(fetched.headers), Object.prototype);
});

it('an answer is asked for with our name and the headers given, but those that are ours', async () => {
  await using internet = await startInternet((request, response) => response.end(JSON.stringify(request.headers)));
  const ours = { 'user-agent': 'someone else', Host: 'evil.test', 'accept-encoding': 'zstd', 'content-length': '10' };
  const headers = { 'if-none-match': '"v1"', ...ours, 'transfer-encoding': 'chunked' };
  const received = JSON.parse(textOf(await internet.fetch('http://example.com/', { headers })));
  const sent = { 'user-agent': 'StrataBot/test (+https://example.net/bot)', 'accept-encoding': 'gzip, br, deflate' };
  assert.partialDeepStrictEqual(received, { ...sent, 'if-none-match': '"v1"', host: 'example.com' });
  assert.ok(!('content-length' in received || 'transfer-encoding' in received));
});

it('an answer cannot be asked for with a header that HTTP cannot carry', async () => {
  await using internet = await startInternet(hello);
  for (const value of ['a\r\nx-evil: 1', '"\u{1f600}"', 'a\0b']) {
    const fetched = await internet.fetch('http://example.com/', { headers: { 'if-none-match': value } });
    assert.equal(failureOf(fetched), 'failed', value);
  }
  assert.deepEqual(internet.web.asked, []);
});

it('redirects are followed, relative and absolute, and reported in order', async () => {
  const locations = { '/1': '2#part', '/2': 'https://u:p@other.example.com/3', '/3': '//www.example.com/end' };
  await using internet = await startInternet(redirects(locations, hello));
  const fetched = await internet.fetch('http://example.com/1');
  assert.equal(textOf(fetched), 'hello');
  const urls = ['http://example.com/2', 'https://other.example.com/3', 'https://www.example.com/end'];
  const expected = { redirects: urls.map((url) => ({ status: 302, url })), url: 'https://www.example.com/end' };
  assert.partialDeepStrictEqual(fetched, expected);
  assert.equal(fetched.redirects.length, 3);
});

it('redirects are followed where they are written in UTF-8, or in Latin-1', async () => {
  for (const encoding of ['utf8', 'latin1'] as const) {
    await using internet = await startInternet((request, response) => {
      if (request.url !== '/') response.end('hello');
      else request.socket.end(Buffer.from('HTTP/1.1 302 Found\r\nlocation: /caf\u00e9\r\n\r\n', encoding));
    });
    const fetched = await internet.fetch('http://example.com/');
    assert.equal(fetched.redirects[0]?.url, 'http://example.com/caf%C3%A9', encoding);
  }
});

it('redirects that loop or never end are a failure', async () => {
  await using internet = await startInternet((request, response) => {
    const step = Number(request.url?.slice(2));
    const location = request.url?.startsWith('/l') ? '/l' : `/n${step + 1}`;
    response.writeHead(301, { location }).end();
  });
  for (const [path, maxRedirects, hops] of [['/l', 3, 1] as const, ['/n0', 3, 4] as const, ['/n0', 0, 1] as const]) {
    const fetched = await internet.fetch(`http://example.com${path}`, { maxRedirects });
    assert.deepEqual([failureOf(fetched), fetched.redirects.length], ['redirects', hops]);
  }
  assert.equal(internet.web.asked.length, 1 + 4 + 1);
});

it('redirects without a target are answers, and to another scheme are forbidden', async () => {
  await using internet = await startInternet((request, response) => {
    const location = { '/broken': 'http://[', '/file': 'file:///etc/passwd' }[request.url ?? ''];
    response.writeHead(302, location ? { location } : {}).end('here');
  });
  for (const path of ['none', 'broken'])
    assert.equal(textOf(await internet.fetch(`http://example.com/${path}`)), 'here');
  assert.equal(failureOf(await internet.fetch('http://example.com/file')), 'forbidden');
});

it('redirects to another origin do not carry secrets, nor back to the first one after it', async () => {
  const received: Record<string, IncomingHttpHeaders> = {};
  const locations = { '/same': '/away', '/away': 'http://example.com/back', '/back': 'https://example.com/end' };
  await using internet = await startInternet((request, response) => {
    received[request.url ?? ''] = request.headers;
    redirects(locations, hello)(request, response);
  });
  const secrets = { apikey: 'k', authorization: 'Bearer t', 'x-api-key': 'x', cookie: 'c=1' };
  const portable = { accept: 'application/feed+json', 'if-none-match': '"v"' };
  await internet.fetch('https://example.com/same', { headers: { ...secrets, ...portable } });
  assert.partialDeepStrictEqual(received['/away'], { ...secrets, ...portable });
  for (const path of ['/back', '/end']) {
    assert.partialDeepStrictEqual(received[path], portable);
    for (const name of Object.keys(secrets)) assert.equal(received[path]?.[name], undefined, `${path} ${name}`);
  }
});

for (const { what, code, make } of badCertificates)
  it(`certificates that are ${what} end the fetch before anything is asked`, async () => {
    const { certificate, trustedCa } = await make();
    await using internet = await startInternet(hello, { certificate, fetcher: { trustedCa } });
    const fetched = await internet.fetch('https://example.com/');
    assert.deepEqual(fetched, { kind: 'failed', reason: 'failed', detail: code, redirects: [] });
    assert.deepEqual(internet.web.asked, []);
  });

it('certificates are compared with each host, though its address be one that a connection is kept to', async () => {
  const certificate = await makeCertificate(['other.test']);
  await using internet = await startInternet(hello, { certificate, fetcher: { trustedCa: [certificate.cert] } });
  assert.equal(textOf(await internet.fetch('https://other.test/')), 'hello');
  assert.equal((await internet.fetch('https://example.com/')).kind, 'failed');
  assert.equal(textOf(await internet.fetch('https://other.test./')), 'hello');
  assert.equal((await internet.fetch(`https://${PUBLIC}/`)).kind, 'failed');
});

/** Spellings of private addresses; the addresses themselves are in the guard's test. */
const PRIVATE_HOSTS = `127.0.0.1 127.1 2130706433 0x7f.0.0.1 0x7f000001 0177.0.0.1 017700000001 0.0.0.0 0 0x7f.1
  169.254.169.254 [::] [::1] [::ffff:127.0.0.1] [::ffff:a9fe:a9fe] [::127.0.0.1] [64:ff9b::7f00:1] 127.0.0.1.
  127%E3%80%820%E3%80%820%E3%80%821 %EF%BC%91%EF%BC%92%EF%BC%97.0.0.1 user@127.0.0.1 example.com@127.0.0.1
  127.0.0.1:80`.split(/\s+/);

it('private addresses are not dialled, however they are written, nor after a redirect to them', async () => {
  const locations = PRIVATE_HOSTS.map((host, i) => [`/${i}`, `http://${host}/secret`]);
  await using internet = await startInternet(redirects(Object.fromEntries(locations), hello));
  for (const [i, host] of PRIVATE_HOSTS.entries()) {
    assert.equal(failureOf(await internet.fetch(`http://${host}/`)), 'forbidden', host);
    const redirected = await internet.fetch(`http://example.com/${i}`);
    assert.deepEqual([failureOf(redirected), redirected.redirects.length], ['forbidden', 1], host);
  }
  assert.equal(internet.web.asked.length, PRIVATE_HOSTS.length);
  for (const target of internet.web.dialled) assert.deepEqual(target, { address: PUBLIC, port: 80 });
});

it('private addresses are not dialled by a name, an alias, or an IPv6 record', async () => {
  const inner = [a('named.test', '10.1.2.3'), a('inner.test', '169.254.169.254'), cname('alias.test', 'inner.test')];
  const records = [...inner, aaaa('six.test', '::1'), aaaa('mapped.test', '::ffff:10.0.0.1')];
  await using internet = await startInternet(redirects({ '/go': 'http://alias.test/' }, hello), { records });
  for (const host of ['named.test', 'alias.test', 'six.test', 'mapped.test', 'NAMED.test.'])
    assert.equal(failureOf(await internet.fetch(`https://${host}/`)), 'forbidden', host);
  assert.deepEqual(internet.web.dialled, []);
  assert.equal(failureOf(await internet.fetch('http://example.com/go')), 'forbidden');
  assert.equal(internet.web.dialled.length, 1);
});

it('private addresses are not dialled by a name that changes its address between look-up and connection', async () => {
  let questions = 0;
  await using internet = await startInternet(hello, {
    dnsScript: (q) => [reply(q, { answers: [a(q.name, questions++ === 0 ? PUBLIC : '127.0.0.1', 0)] })],
  });
  assert.deepEqual([(await internet.fetch('http://rebind.test/')).kind, questions], ['answered', 1]);
  assert.equal(failureOf(await internet.fetch('http://rebind.test/')), 'forbidden');
  assert.deepEqual(internet.web.dialled, [{ address: PUBLIC, port: 80 }]);
});

it('a URL of another port or scheme, or that is not a URL, is forbidden', async () => {
  const urls = `http://example.com:8080/ http://example.com:22/ https://example.com:6379/ ftp://example.com/ nonsense
    file:///etc/passwd javascript:alert(1) data:text/plain,hi gopher://example.com/ //example.com/ http:// http://[::1`;
  await using internet = await startInternet(hello);
  for (const url of ['', ...urls.split(/\s+/), `http://example.com/${'x'.repeat(100_000)}`])
    assert.equal(failureOf(await internet.fetch(url)), 'forbidden', url);
  assert.deepEqual([internet.web.dialled, internet.dns.asked], [[], []]);
  await using high = await startInternet(hello, { fetcher: { hasHighPorts: true } });
  const fetched = await high.fetch('http://example.com:22/');
  assert.match(fetched.kind === 'failed' ? fetched.detail : '', /^only ports 80, 443 and from 1024 are/);
});

it('a URL of a name without address is unresolved', async () => {
  await using internet = await startInternet(hello);
  for (const host of ['nowhere.test', 'a..b', `${'x'.repeat(64)}.test`])
    assert.equal(failureOf(await internet.fetch(`http://${host}/`)), 'unresolved', host);
});

it('a URL loses its credentials and its fragment', async () => {
  await using internet = await startInternet((request, response) => response.end(JSON.stringify(request.headers)));
  const fetched = await internet.fetch('http://user:secret@example.com/feed#top');
  assert.partialDeepStrictEqual(fetched, { url: 'http://example.com/feed' });
  assert.doesNotMatch(textOf(fetched), /authorization/);
});

it('a trusted origin is dialled at its port and at localhost', async () => {
  await using ours = await fakeService(hello);
  const named = ours.base.replace('127.0.0.1', 'localhost');
  await using fetcher = createFetcher({ userAgent: 'test', trustedOrigins: [`${ours.base}/path`, named] });
  const fetch = (url: string) => fetcher.fetch(url, { maxBytes: 100, timeoutMs: 2_000 });
  for (const origin of [ours.base, named]) assert.equal(textOf(await fetch(`${origin}/feed`)), 'hello');
  const port = Number(new URL(ours.base).port);
  assert.equal(failureOf(await fetch(`http://127.0.0.1:${port + 1}/`)), 'forbidden');
});

it('a server that the operator named is posted to at its port; its name leads to nothing private, nor does a redirect', async () => {
  const script: WebScript = (request, response) =>
    request.pipe(response.writeHead(request.url === '/to' ? 307 : 200, { location: '/' }));
  await using ours = await fakeService(script);
  const { port } = new URL(ours.base);
  await using names = await startInternet(hello, { records: [a('private.test', '127.0.0.1')] });
  const named = [ours.base, `http://localhost:${port}`, `http://private.test:${port}`];
  await using fetcher = createNamedFetcher(named, { userAgent: 'test', resolver: { upstreams: [names.dns] } });
  const post = (url: string) => fetcher.fetch(url, { method: 'POST', body: 'größer', maxBytes: 99, timeoutMs: 20_000 });
  for (const url of named.slice(0, 2)) assert.equal(textOf(await post(url)), 'größer');
  assert.equal(failureOf(await post(named[2] ?? '')), 'forbidden');
  assert.equal(failureOf(await post(`${ours.base}/to`)), 'redirects');
});

it('a trusted origin does not redirect to other private addresses, and no other origin redirects to it', async () => {
  const locations = { '/in': 'http://127.0.0.1/', '/out': 'http://example.com/back' };
  await using ours = await fakeService(redirects(locations, hello));
  await using internet = await startInternet(redirects({ '/back': `${ours.base}/` }, hello), {
    fetcher: { trustedOrigins: [ours.base] },
  });
  for (const url of [`${ours.base}/in`, `${ours.base}/out`, 'http://example.com/back'])
    assert.equal(failureOf(await internet.fetch(url)), 'forbidden', url);
  assert.deepEqual(internet.web.asked, ['http example.com /back', 'http example.com /back']);
  assert.equal((await internet.fetch(`${ours.base}/`)).kind, 'answered');
});

it('a trusted origin that is not an origin is refused when the fetcher is made', () => {
  for (const origin of ['', '127.0.0.1:4000', 'ftp://127.0.0.1'])
    assert.throws(() => createFetcher({ userAgent: 'test', trustedOrigins: [origin] }), /is not an origin/);
});
