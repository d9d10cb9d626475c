// Feeds on this machine for the bench: any path is a feed of twenty items, on as many loopback addresses as are asked for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportReady } from '../measure.ts';
import { rssOf } from './rss.ts';

const server = createServer(({ url = '' }, response) =>
  response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(rssOf(url, 20)),
).listen(0, '0.0.0.0');
await once(server, 'listening');
reportReady({ port: (server.address() as AddressInfo).port }, () => {
  server.closeAllConnections();
  server.close();
});
