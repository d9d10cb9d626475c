// The web part of a probe as a whole: what its parts may cost each other, and where it stops asking.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Lookup } from '@strata/detect';
import { createAddressGuard } from './address-guard.ts';
import { KeyedLimit } from './keyed-limit.ts';
import { type SiteEvidence, visitSite } from './site.ts';
import { startWebServer, usualCertificate, type WebScript, type WebServer, withoutRobots } from './test/web-server.ts';
import { WebClient } from './web-client.ts';

const ADDRESSES: Readonly<Record<string, string>> = {
  'example.com': '93.184.216.34',
  'mta-sts.example.com': '93.184.216.36',
};
const USER_AGENT = 'StrataBot/test (+https://example.net/bot)';

async function visited(
  script: WebScript,
  { visitTimeoutMs = 6_000, requestTimeoutMs = 3_000 } = {},
): Promise<{ readonly site: SiteEvidence; readonly server: WebServer }> {
  await using server = await startWebServer(script);
  const addressesOf = async (host: string): Promise<Lookup<string>> => {
    const address = ADDRESSES[host];
    return { status: address ? 'found' : 'nxdomain', records: address ? [address] : [], aliases: [] };
  };
  const trustedCa = [usualCertificate.cert];
  const parts = {
    client: new WebClient({ userAgent: USER_AGENT, trustedCa, dial: server.dial, maxBodyBytes: 65_536 }),
    guard: createAddressGuard(),
    addressesOf,
    perAddress: new KeyedLimit(2),
    userAgent: USER_AGENT,
    requestTimeoutMs,
    visitTimeoutMs,
    keepSource: false,
  };
  return { site: await visitSite(parts, 'example.com', { hasMtaSts: Promise.resolve(true) }), server };
}

it('a policy host that is silent takes no time from the home page', async () => {
  const { site } = await visited(
    (request, response) => {
      if (request.headers.host === 'mta-sts.example.com') return;
      // Three requests of 600 ms: were the 1,100 of the other host counted too, too little would be left for the last.
      setTimeout(() => {
        if (request.url === '/') response.writeHead(302, { location: '/home' });
        response.end(request.url === '/robots.txt' ? '' : '<title>Home</title>');
      }, 600);
    },
    { visitTimeoutMs: 2_400, requestTimeoutMs: 1_100 },
  );
  assert.equal(site.http.page?.title, 'Home', site.http.detail);
  assert.equal(site.files.mtaSts.status, 'timeout');
});

for (const status of [401, 403, 429, 503]) {
  it(`a site that answers ${status} is asked for nothing more`, async () => {
    const { site, server } = await visited(
      withoutRobots((request, response) => {
        const isWalled = request.headers.host === 'example.com';
        response.writeHead(isWalled ? status : 200, { 'content-type': 'text/plain' }).end('version: STSv1');
      }),
    );
    assert.equal(site.http.status, 'blocked');
    assert.equal(site.files.securityTxt.status, 'blocked');
    assert.match(site.files.securityTxt.detail ?? '', new RegExp(String(status)));
    assert.equal(site.files.mtaSts.status, 'found', 'another host is another matter');
    assert.ok(
      server.asked.every((request) => !request.endsWith('security.txt')),
      server.asked.join(),
    );
  });
}

it('a home page that is missing does not keep from asking for security.txt', async () => {
  const { site } = await visited(
    withoutRobots((request, response) => {
      const isFile = request.url?.endsWith('.txt');
      response.writeHead(isFile ? 200 : 404, { 'content-type': 'text/plain' }).end('Contact: mailto:a@example.com');
    }),
  );
  assert.equal(site.http.statusCode, 404);
  assert.equal(site.files.securityTxt.status, 'found');
});
