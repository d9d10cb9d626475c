// Fetching over real sockets: redirects and what they may hear, certificates, kept connections, places in line, giving up.
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { a } from './test/dns-server.ts';
import { type Internet, PUBLIC, redirects, startInternet } from './test/fetching.ts';
import { makeCertificate, usualCertificate, type WebScript } from './test/web-server.ts';

const hello: WebScript = (_request, response) => void response.end('hello');

function textOf(fetched: Awaited<ReturnType<Internet['fetch']>>): string {
  assert.equal(fetched.kind, 'answered', 'detail' in fetched ? fetched.detail : '');
  return fetched.kind === 'answered' ? fetched.body.toString() : '';
}

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
    assert.ok(fetched.kind === 'answered');
    assert.equal(fetched.status, 418);
    assert.equal(fetched.headers.etag, '"v1"');
    assert.equal(fetched.headers.link, '<a>, <b>');
    assert.equal(fetched.headers['set-cookie'], 'a=1, b=2');
    assert.equal(Object.getPrototypeOf(fetched.headers), Object.prototype);
    assert.equal(fetched.url, 'https://example.com/tea?x=1');
    assert.equal(fetched.body.toString(), 'short and stout');
    assert.equal(fetched.isTruncated, false);
  });

  it('is asked for with our name and the headers given, but those that are ours', async () => {
    await using internet = await startInternet((request, response) => response.end(JSON.stringify(request.headers)));
    const headers = {
      'if-none-match': '"v1"',
      'user-agent': 'someone else',
      host: 'evil.test',
      'accept-encoding': 'zstd',
      'content-length': '10',
      'transfer-encoding': 'chunked',
    };
    const heard = JSON.parse(textOf(await internet.fetch('http://example.com/', { headers }))) as IncomingHttpHeaders;
    assert.equal(heard['if-none-match'], '"v1"');
    assert.equal(heard['user-agent'], 'StrataBot/test (+https://example.net/bot)');
    assert.equal(heard.host, 'example.com');
    assert.equal(heard['accept-encoding'], 'gzip, br, deflate');
    assert.equal(heard['content-length'], undefined);
    assert.equal(heard['transfer-encoding'], undefined);
  });

  for (const value of ['a\r\nx-evil: 1', '"\u{1f600}"', 'a\0b'])
    it(`cannot be asked for with the header ${JSON.stringify(value)}`, async () => {
      await using internet = await startInternet(hello);
      const fetched = await internet.fetch('http://example.com/', { headers: { 'if-none-match': value } });
      assert.equal(fetched.kind === 'failed' && fetched.reason, 'failed');
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

  it('that loop, or go on for ever, are given up', async () => {
    await using internet = await startInternet((request, response) => {
      const step = Number(request.url?.slice(2));
      const location = request.url?.startsWith('/l') ? '/l' : `/n${step + 1}`;
      response.writeHead(301, { location }).end();
    });
    for (const [path, hops] of [
      ['/l', 1],
      ['/n0', 4],
    ] as const) {
      const fetched = await internet.fetch(`http://example.com${path}`, { maxRedirects: 3 });
      assert.equal(fetched.kind === 'failed' && fetched.reason, 'redirects');
      assert.equal(fetched.redirects.length, hops);
    }
    assert.equal(internet.web.asked.length, 1 + 4);
    assert.equal((await internet.fetch('http://example.com/n0', { maxRedirects: 0 })).redirects.length, 1);
  });

  it('without a place to go are answers, and to another scheme are forbidden', async () => {
    await using internet = await startInternet((request, response) => {
      if (request.url === '/none') response.writeHead(302).end('here');
      else if (request.url === '/broken') response.writeHead(302, { location: 'http://[' }).end('here');
      else response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    });
    for (const path of ['none', 'broken']) {
      const fetched = await internet.fetch(`http://example.com/${path}`);
      assert.equal(fetched.kind === 'answered' && fetched.status, 302);
    }
    const file = await internet.fetch('http://example.com/file');
    assert.equal(file.kind === 'failed' && file.reason, 'forbidden');
  });

  it('to another origin do not hear secrets, nor does the first one again after it', async () => {
    const heard: Record<string, IncomingHttpHeaders> = {};
    const locations = { '/same': '/away', '/away': 'http://example.com/back', '/back': 'https://example.com/end' };
    await using internet = await startInternet((request, response) => {
      heard[request.url ?? ''] = request.headers;
      redirects(locations, hello)(request, response);
    });
    const secrets = { apikey: 'k', authorization: 'Bearer t', 'x-api-key': 'x', cookie: 'c=1' };
    const headers = { ...secrets, accept: 'application/feed+json', 'if-none-match': '"v"' };
    await internet.fetch('https://example.com/same', { headers });
    for (const [name, value] of Object.entries(secrets)) {
      assert.equal(heard['/away']?.[name], value);
      assert.equal(heard['/back']?.[name], undefined);
      assert.equal(heard['/end']?.[name], undefined);
    }
    for (const path of ['/away', '/back', '/end']) {
      assert.equal(heard[path]?.accept, 'application/feed+json');
      assert.equal(heard[path]?.['if-none-match'], '"v"');
    }
  });
});

describe('certificates', () => {
  const ofOther = makeCertificate(['other.test']);
  for (const [what, making, isTrusted, code] of [
    ['self-signed', makeCertificate(['example.com']), false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired', makeCertificate(['example.com'], { fromDays: -9, toDays: -2 }), true, 'CERT_HAS_EXPIRED'],
    ['not yet valid', makeCertificate(['example.com'], { fromDays: 3 }), true, 'CERT_NOT_YET_VALID'],
    ["another name's", ofOther, true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const) {
    it(`that are ${what} end the fetch before anything is asked`, async () => {
      const certificate = await making;
      const trustedCa = isTrusted ? [certificate.cert] : [];
      await using internet = await startInternet(hello, { certificate, fetcher: { trustedCa } });
      const fetched = await internet.fetch('https://example.com/');
      assert.deepEqual(fetched, { kind: 'failed', reason: 'failed', detail: code, redirects: [] });
      assert.deepEqual(internet.web.asked, []);
    });
  }

  it('are compared with each host, though its address be one that a connection is kept to', async () => {
    const certificate = await ofOther;
    await using internet = await startInternet(hello, { certificate, fetcher: { trustedCa: [certificate.cert] } });
    assert.equal(textOf(await internet.fetch('https://other.test/')), 'hello');
    assert.equal((await internet.fetch('https://example.com/')).kind, 'failed');
    assert.equal(textOf(await internet.fetch('https://other.test./')), 'hello');
    assert.equal((await internet.fetch(`https://${PUBLIC}/`)).kind, 'failed');
  });
});

describe('connections', () => {
  it('are kept for the next fetch, over HTTPS and HTTP', async () => {
    await using internet = await startInternet(hello);
    for (let i = 0; i < 5; i++) {
      assert.equal(textOf(await internet.fetch(`https://example.com/${i}`)), 'hello');
      assert.equal(textOf(await internet.fetch(`http://example.com/${i}`)), 'hello');
    }
    assert.equal(internet.web.connections(), 2);
  });

  it('that the server closed meanwhile are replaced, all of them', async () => {
    let answered = 0;
    await using internet = await startInternet((request, response) => {
      // The first two answers leave connections behind that close at the next request.
      if (answered++ < 2) return void setTimeout(() => response.end('first'), 50);
      const { socket } = request as unknown as { socket: { destroy(): void; isOld?: boolean } };
      if (internet.web.connections() <= 2) socket.destroy();
      else response.end('again');
    });
    await Promise.all([1, 2].map((i) => internet.fetch(`http://example.com/${i}`)));
    assert.equal(internet.web.connections(), 2);
    assert.equal(textOf(await internet.fetch('http://example.com/3')), 'again');
    assert.equal(internet.web.connections(), 3);
  });

  it('that break under their first request are a failure', async () => {
    await using internet = await startInternet((request) => request.socket.destroy());
    const fetched = await internet.fetch('http://example.com/');
    assert.equal(fetched.kind === 'failed' && fetched.reason, 'failed');
    assert.equal(internet.web.asked.length, 1);
  });

  it('stay few over 2,000 fetches from 50 hosts, and none is left', async () => {
    const hosts = Array.from({ length: 50 }, (_, i) => `host${i}.test`);
    let [open, most] = [0, 0];
    const seen = new Set<unknown>();
    const internet = await startInternet(
      ({ socket, url }, response) => {
        if (!seen.has(socket)) {
          seen.add(socket);
          open += 1;
          most = Math.max(most, open);
          socket.once('close', () => {
            open -= 1;
          });
        }
        if (url?.endsWith('7')) response.writeHead(302, { location: '/moved' });
        response.end('x'.repeat(2_000));
      },
      { records: hosts.map((host, i) => a(host, `93.184.217.${i}`)), fetcher: { maxSockets: 24 } },
    );
    const caller = new AbortController();
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const fetches = Array.from({ length: 2_000 }, (_, i) =>
      internet.fetch(`http://${hosts[i % 50]}/${i}`, { signal: caller.signal }),
    );
    for (const fetched of await Promise.all(fetches)) assert.equal(textOf(fetched).length, 2_000);
    assert.ok(most > 4 && most <= 24, `${most} connections at once`);
    await internet.fetcher[Symbol.asyncDispose]();
    for (let i = 0; i < 100 && open > 0; i++) await sleep(10);
    assert.equal(open, 0);
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
    await internet[Symbol.asyncDispose]();
  });
});

describe('places in line', () => {
  it('are as many as perHost for a host, and waiting for one counts towards no time-out', async () => {
    const running = { example: 0, other: 0, most: 0 };
    await using internet = await startInternet(
      ({ headers }, response) => {
        const host = headers.host === 'example.com' ? 'example' : 'other';
        running[host] += 1;
        running.most = Math.max(running.most, running.example);
        setTimeout(() => {
          running[host] -= 1;
          response.end('done');
        }, 150);
      },
      { fetcher: { perHost: 3 } },
    );
    const urls = [...Array<string>(15).fill('http://example.com/'), 'http://other.test/'];
    const startedAt = performance.now();
    const ended = urls.map(async (url) => {
      assert.equal(textOf(await internet.fetch(url, { timeoutMs: 600 })), 'done');
      return performance.now() - startedAt;
    });
    const times = await Promise.all(ended);
    assert.equal(running.most, 3);
    assert.ok((times[14] ?? 0) > 740, `the last waited ${times[14]} ms`);
    assert.ok((times[15] ?? Infinity) < 700, 'another host does not wait');
  });
});

describe('giving up', () => {
  const aborted = { kind: 'failed', reason: 'aborted', detail: 'given up by the caller', redirects: [] };

  it('works before the start, in line, in a look-up, before an answer and in a body, and leaves no place taken', async () => {
    const held: ServerResponse[] = [];
    await using internet = await startInternet(
      (request, response) => {
        held.push(response);
        if (request.url === '/body') response.write('begun');
        if (request.url === '/quick') response.end('hello');
      },
      {
        dnsScript: () => [],
        fetcher: { perHost: 1, allowAddresses: ['10.0.0.0/8'] },
      },
    );
    assert.deepEqual(await internet.fetch('http://10.0.0.1/', { signal: AbortSignal.abort() }), aborted);
    const first = new AbortController();
    const second = new AbortController();
    const holding = internet.fetch('http://10.0.0.1/silent', { signal: first.signal });
    const waiting = internet.fetch('http://10.0.0.1/never', { signal: second.signal });
    const asking = internet.fetch('http://example.com/', { signal: second.signal });
    const reading = internet.fetch('http://10.0.0.2/body', { signal: second.signal });
    await sleep(150);
    assert.equal(held.length, 2);
    const startedAt = performance.now();
    second.abort();
    assert.deepEqual(await Promise.all([waiting, asking, reading]), [aborted, aborted, aborted]);
    first.abort();
    assert.deepEqual(await holding, aborted);
    assert.ok(performance.now() - startedAt < 300);
    assert.equal(textOf(await internet.fetch('http://10.0.0.1/quick')), 'hello');
    assert.equal(textOf(await internet.fetch('http://10.0.0.2/quick')), 'hello');
    assert.equal(internet.web.asked.includes('http 10.0.0.1 /never'), false);
  });

  it('is done for all by disposing the fetcher, which then asks nothing', async () => {
    await using internet = await startInternet(() => {});
    const pending = [1, 2, 3, 4].map((i) => internet.fetch(`https://example.com/${i}`));
    await sleep(100);
    await internet.fetcher[Symbol.asyncDispose]();
    for (const fetched of await Promise.all(pending)) assert.deepEqual(fetched, aborted);
    assert.deepEqual(await internet.fetch('https://example.com/late'), aborted);
  });

  it('on a silent server, a silent resolver, or a chain of slow redirects happens in time', async () => {
    await using internet = await startInternet(({ url }, response) => {
      if (url === '/silent') return;
      setTimeout(() => response.writeHead(302, { location: `${url}x` }).end(), 100);
    });
    await using mute = await startInternet(hello, { dnsScript: () => [] });
    const startedAt = performance.now();
    const late = await Promise.all([
      internet.fetch('http://example.com/silent', { timeoutMs: 250 }),
      internet.fetch('http://other.test/slow', { timeoutMs: 250 }),
      mute.fetch('http://example.com/', { timeoutMs: 250 }),
    ]);
    assert.ok(performance.now() - startedAt < 900);
    for (const fetched of late) assert.equal(fetched.kind === 'failed' && fetched.reason, 'timeout');
  });

  it('on a port where nothing listens is at once', async () => {
    await using internet = await startInternet(hello, { only: 'https', certificate: usualCertificate });
    const fetched = await internet.fetch('http://example.com/');
    assert.equal(fetched.kind === 'failed' && fetched.reason, 'refused');
  });
});
