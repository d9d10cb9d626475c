// Where a visit may lead: addresses, redirects, robots.txt, walls, and which of HTTPS and HTTP answers.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { PUBLIC, visited } from '../../test/visited.ts';
import { badCertificates, page, redirectTo, respond, type WebScript, withoutRobots } from '../../test/web-server.ts';

it('a visit reads the page over HTTPS, on one connection, at exactly the checked address', async () => {
  const headers = { 'x-powered-by': 'tests' };
  const { http, tls, server } = await visited(page('<title>Hello</title>', headers));
  const expected = { status: 'found', url: 'https://example.com/', page: { title: 'Hello' }, headers };
  assert.partialDeepStrictEqual(http, expected);
  assert.deepEqual([tls.status, tls.isTrusted], ['found', true]);
  assert.deepEqual(server.asked, ['https example.com /robots.txt', 'https example.com /']);
  assert.equal(server.connections(), 1);
  for (const target of server.dialled) assert.deepEqual(target, { address: PUBLIC, port: 443 });
});

it("a visit keeps the page's source, without characters that databases reject, only if configured", async () => {
  const script = page(`<title>S</title>\n<p class="a">\0${'x'.repeat(70_000)}`);
  const { http } = await visited(script, { keepSource: true, maxBodyBytes: 100_000 });
  assert.equal(http.page?.source, `<title>S</title>\n<p class="a">\ufffd${'x'.repeat(70_000)}`.slice(0, 65_536));
  assert.equal('source' in ((await visited(script)).http.page ?? {}), false);
});

type Start = [what: string, options: Parameters<typeof visited>[1], ...expected: string[]];
for (const [what, options, ...expected] of casesOf<Start[]>('scan', 'starts of a visit'))
  it(what, async () => {
    const { http, tls, server } = await visited(page('<title>Page</title>'), options);
    assert.deepEqual([http.url, http.status, tls.status], expected);
    assert.deepEqual([http.page?.title, server.dialled.length > 0], http.page ? ['Page', true] : [undefined, false]);
  });

it('a visit has one time limit for HTTPS and HTTP together', async () => {
  const startedAt = performance.now();
  const { http } = await visited(() => {}, { requestTimeoutMs: 20_000, visitTimeoutMs: 400 });
  assert.equal(http.status, 'timeout');
  assert.ok(performance.now() - startedAt < 15_000);
});

for (const [addresses, dialled] of casesOf<[string[], string[]][]>('scan', 'dialled'))
  it(`addresses: of ${addresses} are dialled: ${dialled.length > 0 ? dialled : 'none'}`, async () => {
    const { http, tls, server } = await visited(page(''), { addresses: { 'example.com': addresses } });
    const status = dialled.length > 0 ? 'found' : 'refused';
    assert.deepEqual([http.status, tls.status], [status, status]);
    assert.deepEqual([...new Set(server.dialled.map(({ address }) => address))], dialled);
    if (status === 'refused') assert.match(http.detail ?? '', /not dialled/);
  });

it('addresses: a name that becomes private between two hops is not followed (DNS rebinding)', async () => {
  let lookUps = 0;
  const addresses = () => [lookUps++ === 0 ? PUBLIC : '127.0.0.1'];
  const { http, server } = await visited(redirectTo('/next'), { addresses });
  assert.deepEqual([http.status, http.redirects], ['refused', ['https://example.com/']]);
  assert.ok(server.dialled.every(({ address }) => address === PUBLIC));
});

it('redirects that do not end, or go in a circle, are cut off', async () => {
  const { http, server } = await visited(redirectTo());
  assert.match(`${http.status} ${http.detail}`, /^failed too many redirects/);
  assert.ok(server.asked.length <= 7, `${server.asked.length} requests`);
  assert.equal(server.asked.filter((each) => each.endsWith('/robots.txt')).length, 1);
  assert.equal((await visited(redirectTo('https://example.com/#again'))).http.status, 'failed');
});

it('redirects to www are followed, with its own robots.txt', async () => {
  const moving: WebScript = ({ headers }, response) => {
    if (headers.host !== 'example.com') return void response.end('<title>W</title>');
    response.writeHead(301, { location: '//www.example.com/home' }).end();
  };
  const { http, server } = await visited(withoutRobots(moving));
  const expected = ['https://www.example.com/home', ['https://example.com/'], 'W'];
  assert.deepEqual([http.url, http.redirects, http.page?.title], expected);
  assert.ok(server.asked.includes('https www.example.com /robots.txt'));
});

const redirects = ['https://example.com/'];
const reported = (url: string) => ({ status: 'found', statusCode: 302, page: null, url, redirects });
for (const [what, expectedOf, locations] of [
  ['reported', reported, ['https://example.org/', 'http://localhost/admin', 'http://127.0.0.1/', 'http://[::1]/']],
  ['refused', () => ({ status: 'refused' }), ['https://example.com:22/', 'http://www.example.com:6379/']],
  ['no redirects', () => ({ status: 'found', statusCode: 302 }), ['ftp://example.com/', 'file:///x', 'http://[', '']],
] as const)
  it(`redirects to ${locations.join(', ')} are ${what}, and not visited`, async () => {
    for (const location of locations) {
      const { http, server } = await visited(redirectTo(location));
      assert.partialDeepStrictEqual(http, expectedOf(location));
      const outside = server.asked.filter((each) => !each.startsWith('https example.com '));
      assert.deepEqual(outside, []);
    }
  });

it('bodies that are too long or come too slowly count for what came', async () => {
  const slow: WebScript = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Big</title>');
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  };
  for (const script of [page('<title>Big</title>'.padEnd(100_000)), withoutRobots(slow)]) {
    const { http } = await visited(script, { requestTimeoutMs: 400 });
    assert.deepEqual([http.page?.title, http.page?.isTruncated], ['Big', true]);
  }
});

for (const [what, type, body, title] of [
  ['invalid UTF-8', 'text/html', Buffer.from('<title>a\xffb</title>', 'latin1'), 'a\ufffdb'],
  ['windows-1252', 'text/html; charset=windows-1252', Buffer.from('<title>\x80</title>', 'latin1'), '€'],
  ['an unknown charset', 'text/html; charset="x-none"', Buffer.from('<title>é</title>'), 'é'],
  ['a picture', 'image/png', Buffer.from('<title>no</title>'), null],
] as const)
  it(`bodies of ${what} are read as what they are`, async () => {
    const { http } = await visited(respond(200, { 'content-type': type }, body));
    assert.equal(http.page?.title ?? null, title);
  });

it('headers are kept short, __proto__ is only a header, and of cookies only names are kept', async () => {
  const cookies = ['sid=secret; Path=/', 'flag', '=nameless', 'sid=other'];
  const headers = { 'set-cookie': cookies, ['__proto__']: 'polluted', 'x-long': 'y'.repeat(5_000) };
  const { http } = await visited(respond(200, headers, 'ok'));
  assert.deepEqual([http.cookies, http.headers['set-cookie']], [['sid', 'flag'], undefined]);
  assert.equal(JSON.stringify(http).includes('secret'), false);
  assert.equal(http.headers['x-long']?.length, 1_024);
  assert.equal(Object.getPrototypeOf(http.headers), Object.prototype);
});

for (const code of [401, 403, 429, 503])
  it(`a page of ${code} is a wall: blocked, with its headers, without its page`, async () => {
    const { http } = await visited(respond(code, { 'cf-ray': '1' }, '<title>No</title>'));
    const wall = { status: 'blocked', statusCode: code, headers: { 'cf-ray': '1' }, page: null };
    assert.partialDeepStrictEqual(http, wall);
  });

type Robots = readonly [
  what: string,
  code: number,
  padding: readonly [string, number],
  body: string,
  isWelcome: boolean,
];
for (const [what, code, [padding, times], body, isWelcome] of casesOf<Robots[]>('scan', 'robots'))
  it(`robots.txt with ${what} ${isWelcome ? 'lets us in' : 'keeps us out'}`, async () => {
    const { http, tls, server } = await visited((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(code).end(padding.repeat(times) + body);
      else response.end('<title>In</title>');
    });
    assert.deepEqual([http.status, tls.status], [isWelcome ? 'found' : 'blocked', 'found']);
    assert.equal(server.asked.includes('https example.com /'), isWelcome);
  });

for (const { what, code, make } of badCertificates)
  it(`certificates that are ${what} are evidence, and the page is read all the same`, async () => {
    const { http, tls } = await visited(page('<title>In</title>'), await make());
    assert.equal(http.page?.title, 'In');
    const issuer = { issuer: 'Test Trust', issuerCommonName: 'Test CA', protocol: 'TLSv1.3' };
    assert.partialDeepStrictEqual(tls, { status: 'found', isTrusted: false, problem: code, ...issuer });
    assert.match(`${tls.names} ${tls.validTo}`, /^[*.,a-z]+ \d{4}-\d\d-\d\dT.*Z$/);
  });
