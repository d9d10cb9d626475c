// Web servers that flood, stall, lie about their packing, wall us off, or show certificates that nobody should trust.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { visited } from './test/visited.ts';
import { makeCertificate, page, usualCertificate, type WebScript, withoutRobots } from './test/web-server.ts';

const packed = (encoding: string, body: Buffer): WebScript =>
  withoutRobots((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(body),
  );
const HTML = Buffer.from('<title>Packed</title>');
const ZEROS = Buffer.alloc(64 * 1024 * 1024, 0x20);

describe('bodies', () => {
  it('of 100 MB are read to the limit, and the rest is left', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(65_536, '<p>x</p>');
    const { http } = await visited(
      withoutRobots((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Big</title>');
        const pour = () => {
          while (!response.destroyed && sent < 100_000_000) {
            sent += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', pour);
          }
          response.end();
        };
        pour();
      }),
    );
    assert.equal(http.page?.title, 'Big');
    assert.equal(http.page?.isTruncated, true);
    assert.ok(sent < 50_000_000, `${sent} bytes were taken`);
  });

  for (const [encoding, bomb] of [
    ['gzip', gzipSync(ZEROS)],
    ['br', brotliCompressSync(ZEROS.subarray(0, 16 * 1024 * 1024))],
    ['zstd', zstdCompressSync(ZEROS)],
  ] as const) {
    it(`packed as ${encoding} bombs are unpacked to the limit only`, async () => {
      const before = process.memoryUsage().rss;
      const { http } = await visited(packed(encoding, bomb));
      assert.equal(http.status, 'found');
      assert.equal(http.page?.isTruncated, true);
      assert.ok(process.memoryUsage().rss - before < 200 * 2 ** 20);
    });
  }

  for (const [encoding, body] of [
    ['gzip', gzipSync(HTML)],
    [' GZIP', gzipSync(HTML)],
    ['br', brotliCompressSync(HTML)],
    ['identity', HTML],
    ['made-up', HTML],
  ] as const) {
    it(`in the encoding '${encoding}' are read`, async () => {
      const { http } = await visited(packed(encoding, body));
      assert.equal(http.page?.title, 'Packed');
      assert.equal(http.page?.isTruncated, false);
    });
  }

  for (const [what, encoding, body] of [
    ['not packed at all', 'gzip', HTML],
    ['packed otherwise', 'br', gzipSync(HTML)],
    ['cut short', 'gzip', gzipSync(randomBytes(4_000)).subarray(0, 2_000)],
    ['garbage', 'br', Buffer.alloc(1_000, 'garbage')],
  ] as const) {
    it(`that say ${encoding} and are ${what} are an empty or cut page`, async () => {
      const { http } = await visited(packed(encoding, body));
      assert.equal(http.status, 'found');
      assert.equal(http.page?.isTruncated, true);
    });
  }

  it('that come too slowly count for what came', async () => {
    const { http } = await visited(
      withoutRobots((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<title>Slow</title>');
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      }),
      { requestTimeoutMs: 400 },
    );
    assert.equal(http.page?.title, 'Slow');
    assert.equal(http.page?.isTruncated, true);
  });

  it('that break off count for what came', async () => {
    const { http } = await visited(
      withoutRobots((request, response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': 9_999 });
        response.write('<title>Cut</title>', () => request.socket.destroy());
      }),
    );
    assert.equal(http.page?.title, 'Cut');
    assert.equal(http.page?.isTruncated, true);
  });

  for (const [what, type, body, title] of [
    ['invalid UTF-8', 'text/html', Buffer.from('<title>a\xffb</title>', 'latin1'), 'a\ufffdb'],
    ['windows-1252', 'text/html; charset=windows-1252', Buffer.from('<title>\x80</title>', 'latin1'), '€'],
    ['an unknown charset', 'text/html; charset="x-none"', Buffer.from('<title>é</title>'), 'é'],
    ['a picture', 'image/png', Buffer.from('<title>no</title>'), null],
  ] as const) {
    it(`of ${what} are read as what they are`, async () => {
      const { http } = await visited(
        withoutRobots((_request, response) => void response.writeHead(200, { 'content-type': type }).end(body)),
      );
      assert.equal(http.page?.title ?? null, title);
    });
  }
});

describe('headers', () => {
  it('beyond all measure are a failure', async () => {
    const { http } = await visited(
      withoutRobots((_request, response) => void response.writeHead(200, { 'x-bomb': 'x'.repeat(200_000) }).end()),
    );
    assert.equal(http.status, 'failed');
    assert.equal(http.statusCode, null);
  });

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
      const { http } = await visited(
        withoutRobots(
          (_request, response) => void response.writeHead(code, { 'cf-ray': '1' }).end('<title>No</title>'),
        ),
      );
      assert.equal(http.status, 'blocked');
      assert.equal(http.statusCode, code);
      assert.equal(http.headers['cf-ray'], '1');
      assert.equal(http.page, null);
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
      assert.equal(http.status, isWelcome ? 'found' : 'blocked');
      assert.equal(server.asked.includes('https example.com /'), isWelcome);
      assert.equal(tls.status, 'found');
    });
  }
});

describe('certificates', () => {
  for (const [what, making, isTrusted, problem] of [
    ['self-signed', Promise.resolve(usualCertificate), false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired', makeCertificate(['example.com'], { fromDays: -9, toDays: -2 }), true, 'CERT_HAS_EXPIRED'],
    ['not yet valid', makeCertificate(['example.com'], { fromDays: 3 }), true, 'CERT_NOT_YET_VALID'],
    ["another name's", makeCertificate(['other.test']), true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const) {
    it(`that are ${what} are evidence, and the page is read all the same`, async () => {
      const certificate = await making;
      const { http, tls } = await visited(page('<title>In</title>'), {
        certificate,
        trustedCa: isTrusted ? [certificate.cert] : [],
      });
      assert.equal(http.page?.title, 'In');
      assert.equal(tls.status, 'found');
      assert.equal(tls.isTrusted, false);
      assert.equal(tls.problem, problem);
      assert.equal(tls.issuer, 'Test Trust');
      assert.equal(tls.issuerCommonName, 'Test CA');
      assert.equal(tls.protocol, 'TLSv1.3');
      assert.match(tls.validTo ?? '', /^\d{4}-\d\d-\d\dT.*Z$/);
      assert.equal(tls.names.length > 0, true);
    });
  }
});
