// A publisher on loopback that sends hostile feeds and advisories.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';

export type Hostility = (response: ServerResponse, at: { readonly origin: string }) => void;

const XML = { 'content-type': 'application/rss+xml' };
const JSON_TYPE = { 'content-type': 'application/json' };
const MEGABYTE = 1 << 20;

/** Writes as long as the other side reads, and no more than it must hold. */
function flood(into: Writable, chunk: Buffer, maxBytes = Number.POSITIVE_INFINITY): void {
  let written = 0;
  const more = () => {
    while (written < maxBytes && !into.destroyed) {
      written += chunk.length;
      if (!into.write(chunk)) return void into.once('drain', more);
    }
    if (!into.destroyed) into.end();
  };
  more();
}

/** By what they do; each could be the answer to any question. */
export const HOSTILITIES = {
  endless(response) {
    response.writeHead(200, XML).write('<?xml version="1.0"?><rss version="2.0"><channel><title>x');
    flood(response, Buffer.alloc(MEGABYTE, 'x'));
  },
  /** A byte a second, without end. */
  drip(response) {
    response.writeHead(200, XML);
    const dripping = setInterval(() => response.write(' '), 1_000);
    response.once('close', () => clearInterval(dripping));
  },
  /** Two gigabytes in two megabytes. */
  bomb(response) {
    response.writeHead(200, { ...XML, 'content-encoding': 'gzip' });
    const gzip = createGzip({ level: 9 });
    gzip.on('error', () => {}).pipe(response);
    response.once('close', () => gzip.destroy());
    flood(gzip, Buffer.alloc(MEGABYTE, '<'), 2_048 * MEGABYTE);
  },
  loop: (response, { origin }) => response.writeHead(302, { location: `${origin}/again/${Math.random()}` }).end(),
  /** Redirects to forbidden targets: a private network, and a cloud's metadata service. */
  private: (response) => response.writeHead(301, { location: 'http://10.0.0.1/feed' }).end(),
  metadata: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  laughs(response) {
    const levels = Array.from({ length: 20 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
    const type = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 "ha">${levels}]>`;
    response.writeHead(200, XML).end(`${type}<rss><channel><title>&l20;</title></channel>`);
  },
  picture: (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(100_000, 0x89)),
  /** Deeper than any stack, and longer than any feed. */
  deep(response) {
    response.writeHead(200, JSON_TYPE).write('{"version":"https://jsonfeed.org/version/1.1","items":');
    flood(response, Buffer.alloc(MEGABYTE, '['), 80 * MEGABYTE);
  },
  garbled: (response) =>
    response.writeHead(200, XML).end(Buffer.concat([Buffer.from('<rss><channel>'), Buffer.alloc(50_000, 0xfe)])),
  broken(response) {
    response.writeHead(200, { ...XML, 'content-length': '100000' }).write('<?xml version="1.0"?><rss>');
    setTimeout(() => response.destroy(), 50);
  },
} satisfies Readonly<Record<string, Hostility>>;

export type Publisher = Awaited<ReturnType<typeof startPublisher>>;

/** Rejects with EACCES where this process may not listen at the port. Does `answer` until that is replaced. */
export async function startPublisher(answer: Hostility, { address = '127.0.0.1', port = 0 } = {}) {
  const publisher = { answer };
  const server = createServer((_request, response) => {
    response.on('error', () => {});
    publisher.answer(response, { origin });
  });
  server.listen(port, address);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  const origin: string = `http://${address}${bound === 80 ? '' : `:${bound}`}`;
  return Object.assign(publisher, {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
