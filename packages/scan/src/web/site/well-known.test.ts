// The web part of a probe: time limits of its parts, and where it stops.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf, stopTime } from '../../../../../tests/support/index.ts';
import { type VisitOptions, visiting } from '../../test/visited.ts';
import { redirectTo, respond, type WebScript, withoutRobots } from '../../test/web-server.ts';
import { visitSite } from './site.ts';
import type { SiteDeps } from './site-visit.ts';
import { fetchMtaSts, fetchSecurityTxt } from './well-known.ts';

async function visitedSite(script: WebScript, options: VisitOptions = {}) {
  const work = (_: unknown, parts: SiteDeps) => visitSite(parts, 'example.com', { hasMtaSts: Promise.resolve(true) });
  const { value: site, server } = await visiting(script, options, work);
  return { site, server };
}

it('a policy host that is silent takes no time from the home page', async (t) => {
  const pass = stopTime(t);
  const [asked, givenUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const script: WebScript = async ({ url, headers, socket }, response) => {
    if (headers.host === 'mta-sts.example.com') return asked.resolve(void socket.on('close', givenUp.resolve));
    if (url === '/robots.txt') await asked.promise;
    if (url === '/robots.txt' || url === '/') pass(400);
    // The last request starts when the policy host has had 800 ms: counted too, they would leave none of the 1,600.
    if (url === '/') await givenUp.promise;
    if (url === '/') response.writeHead(302, { location: '/home' });
    response.end(url === '/robots.txt' ? '' : '<title>Home</title>');
  };
  const { site } = await visitedSite(script, { visitTimeoutMs: 1_600, requestTimeoutMs: 800 });
  assert.equal(site.http.page?.title, 'Home', site.http.detail);
  assert.equal(site.files.mtaSts.status, 'timeout');
});

it('a site that answers 429 is asked for nothing more', async () => {
  const script: WebScript = ({ headers }, response) => {
    const status = headers.host === 'example.com' ? 429 : 200;
    response.writeHead(status, { 'content-type': 'text/plain' }).end('version: STSv1');
  };
  const { site, server } = await visitedSite(withoutRobots(script));
  const { securityTxt, mtaSts } = site.files;
  // Another host is not affected.
  assert.deepEqual([site.http.status, securityTxt.status, mtaSts.status], ['blocked', 'blocked', 'found']);
  assert.match(securityTxt.detail ?? '', /429/);
  assert.ok(!server.asked.some((request) => request.endsWith('security.txt')), server.asked.join());
});

it('a home page that is missing does not keep from asking for security.txt', async () => {
  const script: WebScript = ({ url }, response) => {
    const status = url?.endsWith('.txt') ? 200 : 404;
    response.writeHead(status, { 'content-type': 'text/plain' }).end('Contact: mailto:a@example.com');
  };
  const { site } = await visitedSite(withoutRobots(script));
  assert.deepEqual([site.http.statusCode, site.files.securityTxt.status], [404, 'found']);
});

const POLICY = 'version: STSv1\r\nmode: enforce\r\nmx: mx.example.com\r\nmax_age: 604800\r\n';
const CONTACT = 'Contact: mailto:security@example.com\nExpires: 2030-01-01T00:00:00Z\n';

const answer = (status: number, type: string | null, body = ''): WebScript =>
  respond(status, type === null ? {} : { 'content-type': type }, body);
const text = (body: string) => answer(200, 'text/plain; charset=utf-8', body);
async function fetched(fetchFile: typeof fetchMtaSts, script: WebScript, options: VisitOptions = {}) {
  const { value: file, server } = await visiting(script, options, fetchFile);
  return { file, server };
}
const securityTxt = (script: WebScript, options?: VisitOptions) => fetched(fetchSecurityTxt, script, options);
const mtaSts = (script: WebScript, options?: VisitOptions) => fetched(fetchMtaSts, script, options);

it('security.txt is read where it stands', async () => {
  const { file, server } = await securityTxt(text(CONTACT));
  const contentType = 'text/plain; charset=utf-8';
  assert.deepEqual(file, { status: 'found', statusCode: 200, contentType, text: CONTACT });
  assert.deepEqual(server.asked, ['https example.com /robots.txt', 'https example.com /.well-known/security.txt']);
  assert.equal(server.connections(), 1);
});

type Answered = readonly [
  what: string,
  code: number,
  type: string | null,
  body: string,
  status: string,
  policy?: string,
];
for (const [what, code, type, body, status, policyStatus = status] of casesOf<Answered[]>(
  'scan',
  'files answered with',
))
  it(`security.txt answered with ${what} is ${status}, and an MTA-STS policy ${policyStatus}`, async () => {
    const script = answer(code, type, body);
    const { file } = await securityTxt(script);
    assert.deepEqual([file.status, file.text], [status, '']);
    assert.equal((await mtaSts(script)).file.status, policyStatus);
  });

it('security.txt is asked for at www when the domain redirects there', async () => {
  const moving: WebScript = (request, response) => {
    if (request.headers.host !== 'example.com') text(CONTACT)(request, response);
    else response.writeHead(301, { location: `https://www.example.com${request.url}` }).end();
  };
  const { file, server } = await securityTxt(withoutRobots(moving));
  assert.equal(file.text, CONTACT);
  assert.equal(server.asked.at(-1), 'https www.example.com /.well-known/security.txt');
});

const ELSEWHERE = ['https://example.org/x', 'https://127.0.0.1/', 'http://www.example.com/x', 'file:///etc/passwd'];
for (const location of ELSEWHERE)
  it(`security.txt sent on to ${location} is not visited there`, async () => {
    const { file, server } = await securityTxt(redirectTo(location));
    assert.deepEqual([file.status, file.statusCode], ['skipped', 302]);
    assert.ok(server.asked.every((each) => each.startsWith('https example.com ')));
  });

it('security.txt that redirects on and on is given up', async () => {
  const { file, server } = await securityTxt(redirectTo());
  assert.deepEqual([file.status, server.asked.length], ['failed', 7]);
});

it('security.txt of more than 16 KiB counts by its beginning', async () => {
  const { file } = await securityTxt(text(CONTACT.repeat(1_000)));
  assert.deepEqual([file.status, file.text.length, file.detail], ['found', 16 * 1024, 'only its beginning']);
});

it('security.txt is not asked for where robots.txt says so', async () => {
  const { file, server } = await securityTxt((request, response) => {
    if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /.well-known/');
    else text(CONTACT)(request, response);
  });
  assert.deepEqual([file.status, server.asked.length], ['blocked', 1]);
});

it('security.txt is missing at a domain without address', async () => {
  const { file, server } = await securityTxt(text(CONTACT), { addresses: {} });
  assert.deepEqual([file.status, server.dialled], ['missing', []]);
});

it('an MTA-STS policy is read from its own host, whose certificate is trusted', async () => {
  const { file, server } = await mtaSts(text(POLICY));
  assert.deepEqual([file.status, file.text], ['found', POLICY]);
  assert.equal(server.asked.at(-1), 'https mta-sts.example.com /.well-known/mta-sts.txt');
});

it('an MTA-STS policy under an untrusted certificate is not used', async () => {
  const { file, server } = await mtaSts(text(POLICY), { trustedCa: [] });
  assert.deepEqual([file.status, file.detail, server.asked], ['failed', 'DEPTH_ZERO_SELF_SIGNED_CERT', []]);
});

for (const location of ['/policy.txt', 'https://www.example.com/mta-sts.txt', 'https://127.0.0.1/'])
  it(`an MTA-STS policy is not sought at ${location} where the server sends there`, async () => {
    const { file, server } = await mtaSts(redirectTo(location));
    assert.deepEqual([file.status, file.statusCode, server.asked.length], ['failed', 302, 2]);
  });

it('an MTA-STS policy of many exchanges is kept completely, and one of more than 16 KiB is not used', async () => {
  const policyOf = (exchanges: number) => `mx: a.example.com\n`.repeat(exchanges) + POLICY;
  assert.equal((await mtaSts(text(policyOf(800)))).file.text, policyOf(800));
  assert.equal((await mtaSts(text(policyOf(1_200)))).file.status, 'failed');
});
