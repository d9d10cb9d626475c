// Feeds on this machine for the bench: any path is a feed of twenty items with ETag, on as many loopback addresses as are asked for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportReady } from '../measure.ts';
import { rssOf } from '../rss.ts';

const server = createServer((request, response) => {
  const etag = `"${request.url}"`;
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/rss+xml', etag }).end(rssOf(request.url ?? '', 20));
});
server.listen(0, '0.0.0.0');
await once(server, 'listening');
reportReady({ port: (server.address() as AddressInfo).port }, async () => {
  server.closeAllConnections();
  server.close();
});
