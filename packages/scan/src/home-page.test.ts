// Where a visit may lead: addresses, redirects, robots.txt, walls, and which of HTTPS and HTTP answers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PUBLIC, visited } from './test/visited.ts';
import { endlessRedirects, page, redirectTo, type WebScript, withoutRobots } from './test/web-server.ts';

describe('a visit', () => {
  it('reads the page over HTTPS, on one connection, at exactly the checked address', async () => {
    const { http, tls, server } = await visited(page('<title>Hello</title>', { 'x-powered-by': 'tests' }));
    const { status, url, page: found, headers } = http;
    const expected = ['found', 'https://example.com/', 'Hello', 'tests'];
    assert.deepEqual([status, url, found?.title, headers['x-powered-by']], expected);
    assert.deepEqual([tls.status, tls.isTrusted], ['found', true]);
    assert.deepEqual(server.asked, ['https example.com /robots.txt', 'https example.com /']);
    assert.equal(server.connections(), 1);
    for (const target of server.dialled) assert.deepEqual(target, { address: PUBLIC, port: 443 });
  });

  it("keeps the page's source, without what no database takes, only when told to", async () => {
    const script = page(`<title>S</title>\n<p class="a">\0${'x'.repeat(70_000)}`);
    const { http } = await visited(script, { keepSource: true, maxBodyBytes: 100_000 });
    assert.equal(http.page?.source?.length, 65_536);
    assert.ok(http.page?.source?.startsWith('<title>S</title>\n<p class="a">\ufffdxx'));
    assert.equal('source' in ((await visited(script)).http.page ?? {}), false);
  });

  for (const [what, options, ...expected] of [
    ['falls back to HTTP where nothing listens for HTTPS', { only: 'http' }, 'http://example.com/', 'found', 'refused'],
    ['needs no HTTP where HTTPS answers', { only: 'https' }, 'https://example.com/', 'found', 'found'],
    [
      'starts at www when the domain has no address itself',
      { addresses: { 'www.example.com': [PUBLIC] } },
      'https://www.example.com/',
      'found',
      'found',
    ],
    ['is skipped when neither has one', { addresses: {} }, 'https://www.example.com/', 'skipped', 'skipped'],
  ] as const)
    it(what, async () => {
      const { http, tls, server } = await visited(page('<title>Page</title>'), options);
      assert.deepEqual([http.url, http.status, tls.status], expected);
      assert.deepEqual([http.page?.title, server.dialled.length > 0], http.page ? ['Page', true] : [undefined, false]);
    });

  it('has a time limit as a whole, HTTPS and HTTP together', async () => {
    const startedAt = performance.now();
    const { http } = await visited(() => {}, { requestTimeoutMs: 20_000, visitTimeoutMs: 400 });
    assert.equal(http.status, 'timeout');
    assert.ok(performance.now() - startedAt < 4_000);
  });
});

describe('addresses', () => {
  for (const [addresses, dialled] of [
    [['10.0.0.1'], []],
    [['::1'], []],
    [['2606:4700::1111'], ['2606:4700::1111']],
    [['10.0.0.1', PUBLIC], [PUBLIC]],
  ] as const)
    it(`of ${addresses} are dialled: ${dialled.length > 0 ? dialled : 'none'}`, async () => {
      const { http, tls, server } = await visited(page(''), { addresses: { 'example.com': addresses } });
      const status = dialled.length > 0 ? 'found' : 'refused';
      assert.deepEqual([http.status, tls.status], [status, status]);
      assert.deepEqual([...new Set(server.dialled.map(({ address }) => address))], dialled);
      if (status === 'refused') assert.match(http.detail ?? '', /not dialled/);
    });

  it('a name that turns private between two hops is not followed (DNS rebinding)', async () => {
    let lookUps = 0;
    const { http, server } = await visited(redirectTo('/next'), {
      addresses: () => [lookUps++ === 0 ? PUBLIC : '127.0.0.1'],
    });
    assert.equal(http.status, 'refused');
    assert.deepEqual(http.redirects, ['https://example.com/']);
    assert.ok(server.dialled.every(({ address }) => address === PUBLIC));
  });
});

describe('redirects', () => {
  it('that do not end, or go in a circle, are cut off', async () => {
    const { http, server } = await visited(endlessRedirects());
    assert.equal(http.status, 'failed');
    assert.match(http.detail ?? '', /do not end/);
    assert.ok(server.asked.length <= 7, `${server.asked.length} requests`);
    assert.equal(server.asked.filter((each) => each.endsWith('/robots.txt')).length, 1);
    assert.equal((await visited(redirectTo('https://example.com/#again'))).http.status, 'failed');
  });

  it('to www are followed, with its own robots.txt', async () => {
    const moving: WebScript = ({ headers }, response) => {
      if (headers.host !== 'example.com') return void response.end('<title>W</title>');
      response.writeHead(301, { location: '//www.example.com/home' }).end();
    };
    const { http, server } = await visited(withoutRobots(moving));
    const expected = ['https://www.example.com/home', ['https://example.com/'], 'W'];
    assert.deepEqual([http.url, http.redirects, http.page?.title], expected);
    assert.ok(server.asked.includes('https www.example.com /robots.txt'));
  });

  for (const location of ['https://example.org/', 'http://localhost/admin', 'http://127.0.0.1/', 'http://[::1]/']) {
    it(`to ${location} are told and not visited`, async () => {
      const { http, server } = await visited(redirectTo(location));
      assert.deepEqual([http.status, http.statusCode, http.page], ['found', 302, null]);
      assert.deepEqual([http.url, http.redirects], [new URL(location).href, ['https://example.com/']]);
      assert.ok(server.asked.every((each) => each.startsWith('https example.com ')));
    });
  }

  for (const location of ['https://example.com:22/', 'http://www.example.com:6379/']) {
    it(`to ${location} are refused for the port`, async () => {
      const { http, server } = await visited(redirectTo(location));
      assert.equal(http.status, 'refused');
      assert.ok(server.dialled.every(({ port }) => port === 443));
    });
  }

  for (const location of ['ftp://example.com/', 'javascript:alert(1)', 'file:///etc/passwd', 'http://[', '']) {
    it(`to '${location}' are no redirects`, async () => {
      const { http } = await visited(redirectTo(location));
      assert.deepEqual([http.status, http.statusCode], ['found', 302]);
    });
  }
});
