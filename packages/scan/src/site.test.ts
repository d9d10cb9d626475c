// The web part of a probe as a whole: what its parts may cost each other, and where it stops asking.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { visitSite } from './site.ts';
import { type VisitOptions, visiting } from './test/visited.ts';
import { type WebScript, withoutRobots } from './test/web-server.ts';

/** The evidence of the web part of a probe, its policy host included. */
async function visitedSite(script: WebScript, options: VisitOptions = {}) {
  const { value: site, server } = await visiting(script, options, (_, parts) =>
    visitSite(parts, 'example.com', { hasMtaSts: Promise.resolve(true) }),
  );
  return { site, server };
}

it('a policy host that is silent takes no time from the home page', async () => {
  const { promise: givenUp, resolve } = Promise.withResolvers<void>();
  const { site } = await visitedSite(
    async (request, response) => {
      if (request.headers.host === 'mta-sts.example.com') return void request.socket.on('close', resolve);
      if (request.url === '/robots.txt') await new Promise((done) => setTimeout(done, 400));
      // The last request starts when the policy host has had 800 ms: counted too, they would leave none of the 1,600.
      if (request.url === '/') await givenUp;
      if (request.url === '/') response.writeHead(302, { location: '/home' });
      response.end(request.url === '/robots.txt' ? '' : '<title>Home</title>');
    },
    { visitTimeoutMs: 1_600, requestTimeoutMs: 800 },
  );
  assert.equal(site.http.page?.title, 'Home', site.http.detail);
  assert.equal(site.files.mtaSts.status, 'timeout');
});

it('a site that answers 429 is asked for nothing more', async () => {
  const { site, server } = await visitedSite(
    withoutRobots(({ headers }, response) => {
      const status = headers.host === 'example.com' ? 429 : 200;
      response.writeHead(status, { 'content-type': 'text/plain' }).end('version: STSv1');
    }),
  );
  assert.deepEqual([site.http.status, site.files.securityTxt.status], ['blocked', 'blocked']);
  assert.match(site.files.securityTxt.detail ?? '', /429/);
  assert.equal(site.files.mtaSts.status, 'found', 'another host is not affected');
  assert.ok(!server.asked.some((request) => request.endsWith('security.txt')), server.asked.join());
});

it('a home page that is missing does not keep from asking for security.txt', async () => {
  const { site } = await visitedSite(
    withoutRobots(({ url }, response) => {
      const status = url?.endsWith('.txt') ? 200 : 404;
      response.writeHead(status, { 'content-type': 'text/plain' }).end('Contact: mailto:a@example.com');
    }),
  );
  assert.deepEqual([site.http.statusCode, site.files.securityTxt.status], [404, 'found']);
});
