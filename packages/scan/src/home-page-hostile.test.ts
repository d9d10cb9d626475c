// Web servers that flood, stall, lie about their packing, wall us off, or show certificates that nobody should trust.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { visited } from './test/visited.ts';
import { badCertificates, page, respond, type WebScript, withoutRobots } from './test/web-server.ts';

describe('bodies', () => {
  it('of 100 MB are read to the limit, and the rest is left', async () => {
    let sentBytes = 0;
    const pour: WebScript = (_request, response) => {
      const chunk = Buffer.alloc(65_536, '<p>x</p>');
      const write = () => {
        while (!response.destroyed && sentBytes < 100_000_000) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
        response.end();
      };
      response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Big</title>');
      write();
    };
    const { http } = await visited(withoutRobots(pour));
    assert.deepEqual([http.page?.title, http.page?.isTruncated], ['Big', true]);
    assert.ok(sentBytes < 50_000_000, `${sentBytes} bytes were taken`);
  });

  it('that come too slowly count for what came', async () => {
    const { http } = await visited(
      withoutRobots((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Slow</title>');
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      }),
      { requestTimeoutMs: 400 },
    );
    assert.deepEqual([http.page?.title, http.page?.isTruncated], ['Slow', true]);
  });

  for (const [what, type, body, title] of [
    ['invalid UTF-8', 'text/html', Buffer.from('<title>a\xffb</title>', 'latin1'), 'a\ufffdb'],
    ['windows-1252', 'text/html; charset=windows-1252', Buffer.from('<title>\x80</title>', 'latin1'), '€'],
    ['an unknown charset', 'text/html; charset="x-none"', Buffer.from('<title>é</title>'), 'é'],
    ['a picture', 'image/png', Buffer.from('<title>no</title>'), null],
  ] as const) {
    it(`of ${what} are read as what they are`, async () => {
      const { http } = await visited(respond(200, { 'content-type': type }, body));
      assert.equal(http.page?.title ?? null, title);
    });
  }
});

describe('headers', () => {
  it('are kept short, __proto__ is only a header, and of cookies only names are kept', async () => {
    const { http } = await visited(
      withoutRobots((_request, response) => {
        response.setHeader('set-cookie', ['sid=secret; Path=/', 'flag', '=nameless', 'sid=other']);
        response.setHeader('__proto__', 'polluted');
        response.setHeader('x-long', 'y'.repeat(5_000));
        response.end('ok');
      }),
    );
    assert.deepEqual(http.cookies, ['sid', 'flag']);
    assert.equal(JSON.stringify(http).includes('secret'), false);
    assert.equal(http.headers['set-cookie'], undefined);
    assert.equal(http.headers['x-long']?.length, 1_024);
    assert.equal(Object.getPrototypeOf(http.headers), Object.prototype);
  });
});

describe('walls and robots.txt', () => {
  for (const code of [401, 403, 429, 503]) {
    it(`a page of ${code} is a wall: blocked, with its headers, without its page`, async () => {
      const { http } = await visited(respond(code, { 'cf-ray': '1' }, '<title>No</title>'));
      const { status, statusCode, headers, page } = http;
      assert.deepEqual([status, statusCode, headers['cf-ray'], page], ['blocked', code, '1', null]);
    });
  }

  for (const [what, code, body, isWelcome] of [
    ['nothing', 404, '', true],
    ['an error of the server', 500, '', false],
    ['a ban on everyone', 200, 'User-agent: *\nDisallow: /', false],
    ['a ban on us', 200, 'User-agent: stratabot\nDisallow: /\n\nUser-agent: *\nAllow: /', false],
    ['a ban on another', 200, 'User-agent: otherbot\nDisallow: /', true],
    ['a ban on another path', 200, 'User-agent: *\nDisallow: /private', true],
    ['HTML', 200, '<!doctype html><title>Not robots</title>', true],
    ['a ban after much else', 200, `${'# pad\n'.repeat(5_000)}User-agent: *\nDisallow: /`, false],
    ['far too much', 200, 'Allow: /x\n'.repeat(500_000), true],
    ['bytes', 200, '\0\xff\xfe', true],
  ] as const) {
    it(`robots.txt with ${what} ${isWelcome ? 'lets us in' : 'keeps us out'}`, async () => {
      const { http, tls, server } = await visited((request, response) => {
        if (request.url === '/robots.txt') response.writeHead(code).end(body);
        else response.end('<title>In</title>');
      });
      assert.deepEqual([http.status, tls.status], [isWelcome ? 'found' : 'blocked', 'found']);
      assert.equal(server.asked.includes('https example.com /'), isWelcome);
    });
  }
});

describe('certificates', () => {
  for (const { what, code, make } of badCertificates) {
    it(`that are ${what} are evidence, and the page is read all the same`, async () => {
      const { http, tls } = await visited(page('<title>In</title>'), await make());
      assert.equal(http.page?.title, 'In');
      const issuer = { issuer: 'Test Trust', issuerCommonName: 'Test CA', protocol: 'TLSv1.3' };
      assert.partialDeepStrictEqual(tls, { status: 'found', isTrusted: false, problem: code, ...issuer });
      assert.match(tls.validTo ?? '', /^\d{4}-\d\d-\d\dT.*Z$/);
      assert.ok(tls.names.length > 0);
    });
  }
});
