// Fetching over real sockets: answers, redirects and what they may hear, certificates.
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, it } from 'node:test';
import { failureOf, PUBLIC, redirects, startInternet, textOf } from './test/fetching.ts';
import { badCertificates, hello, makeCertificate } from './test/web-server.ts';

describe('an answer', () => {
  it('comes with its status, its headers and where it came from', async () => {
    await using internet = await startInternet((_request, response) => {
      response.setHeader('ETag', '"v1"');
      response.setHeader('Link', ['<a>', '<b>']);
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.setHeader('__proto__', 'polluted');
      response.writeHead(418).end('short and stout');
    });
    const fetched = await internet.fetch('https://example.com/tea?x=1');
    assert.partialDeepStrictEqual(fetched, {
      kind: 'answered',
      status: 418,
      headers: { etag: '"v1"', link: '<a>, <b>', 'set-cookie': 'a=1, b=2' },
      url: 'https://example.com/tea?x=1',
      isTruncated: false,
    });
    assert.equal(textOf(fetched), 'short and stout');
    assert.equal('headers' in fetched && Object.getPrototypeOf(fetched.headers), Object.prototype);
  });

  it('is asked for with our name and the headers given, but those that are ours', async () => {
    await using internet = await startInternet((request, response) => response.end(JSON.stringify(request.headers)));
    const headers = {
      'if-none-match': '"v1"',
      'user-agent': 'someone else',
      Host: 'evil.test',
      'accept-encoding': 'zstd',
      'content-length': '10',
      'transfer-encoding': 'chunked',
    };
    const received = JSON.parse(textOf(await internet.fetch('http://example.com/', { headers })));
    assert.partialDeepStrictEqual(received, {
      'if-none-match': '"v1"',
      'user-agent': 'StrataBot/test (+https://example.net/bot)',
      host: 'example.com',
      'accept-encoding': 'gzip, br, deflate',
    });
    assert.ok(!('content-length' in received || 'transfer-encoding' in received));
  });

  it('cannot be asked for with a header that HTTP cannot carry', async () => {
    await using internet = await startInternet(hello);
    for (const value of ['a\r\nx-evil: 1', '"\u{1f600}"', 'a\0b']) {
      const fetched = await internet.fetch('http://example.com/', { headers: { 'if-none-match': value } });
      assert.equal(failureOf(fetched), 'failed', value);
    }
    assert.deepEqual(internet.web.asked, []);
  });
});

describe('redirects', () => {
  it('are followed, relative and absolute, and told in order', async () => {
    const locations = { '/1': '2#part', '/2': 'https://u:p@other.example.com/3', '/3': '//www.example.com/end' };
    await using internet = await startInternet(redirects(locations, hello));
    const fetched = await internet.fetch('http://example.com/1');
    assert.equal(textOf(fetched), 'hello');
    assert.deepEqual(fetched.redirects, [
      { status: 302, url: 'http://example.com/2' },
      { status: 302, url: 'https://other.example.com/3' },
      { status: 302, url: 'https://www.example.com/end' },
    ]);
    assert.equal(fetched.kind === 'answered' && fetched.url, 'https://www.example.com/end');
  });

  it('are followed where they are written in UTF-8, or in Latin-1', async () => {
    for (const encoding of ['utf8', 'latin1'] as const) {
      await using internet = await startInternet((request, response) => {
        if (request.url !== '/') response.end('hello');
        else request.socket.end(Buffer.from('HTTP/1.1 302 Found\r\nlocation: /caf\u00e9\r\n\r\n', encoding));
      });
      const fetched = await internet.fetch('http://example.com/');
      assert.equal(fetched.redirects[0]?.url, 'http://example.com/caf%C3%A9', encoding);
    }
  });

  it('that loop, or go on for ever, are given up', async () => {
    await using internet = await startInternet((request, response) => {
      const step = Number(request.url?.slice(2));
      const location = request.url?.startsWith('/l') ? '/l' : `/n${step + 1}`;
      response.writeHead(301, { location }).end();
    });
    for (const [path, maxRedirects, hops] of [
      ['/l', 3, 1],
      ['/n0', 3, 4],
      ['/n0', 0, 1],
    ] as const) {
      const fetched = await internet.fetch(`http://example.com${path}`, { maxRedirects });
      assert.deepEqual([failureOf(fetched), fetched.redirects.length], ['redirects', hops]);
    }
    assert.equal(internet.web.asked.length, 1 + 4 + 1);
  });

  it('without a target are answers, and to another scheme are forbidden', async () => {
    await using internet = await startInternet((request, response) => {
      const location = { '/broken': 'http://[', '/file': 'file:///etc/passwd' }[request.url ?? ''];
      response.writeHead(302, location ? { location } : {}).end('here');
    });
    for (const path of ['none', 'broken'])
      assert.equal(textOf(await internet.fetch(`http://example.com/${path}`)), 'here');
    assert.equal(failureOf(await internet.fetch('http://example.com/file')), 'forbidden');
  });

  it('to another origin do not carry secrets, nor back to the first one after it', async () => {
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
});

describe('certificates', () => {
  for (const { what, code, make } of badCertificates) {
    it(`that are ${what} end the fetch before anything is asked`, async () => {
      const { certificate, trustedCa } = await make();
      await using internet = await startInternet(hello, { certificate, fetcher: { trustedCa } });
      const fetched = await internet.fetch('https://example.com/');
      assert.deepEqual(fetched, { kind: 'failed', reason: 'failed', detail: code, redirects: [] });
      assert.deepEqual(internet.web.asked, []);
    });
  }

  it('are compared with each host, though its address be one that a connection is kept to', async () => {
    const certificate = await makeCertificate(['other.test']);
    await using internet = await startInternet(hello, { certificate, fetcher: { trustedCa: [certificate.cert] } });
    assert.equal(textOf(await internet.fetch('https://other.test/')), 'hello');
    assert.equal((await internet.fetch('https://example.com/')).kind, 'failed');
    assert.equal(textOf(await internet.fetch('https://other.test./')), 'hello');
    assert.equal((await internet.fetch(`https://${PUBLIC}/`)).kind, 'failed');
  });
});
