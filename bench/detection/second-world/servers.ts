// The second world on loopback: its resolver over real DNS sockets, and its sites over HTTP and TLS.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Target } from '@strata/scan';
import { Certificates, startDnsServer } from '@strata/testnet';
import type { SecondWorld } from './world.ts';

export interface WorldServers extends AsyncDisposable {
  readonly resolver: Target;
  readonly dial: (target: Target) => Target;
  readonly caPem: string;
}

const LOOPBACK = '127.0.0.1';

export async function serveWorld({ answer, companyOf }: SecondWorld): Promise<WorldServers> {
  const certificates = await Certificates.create({
    of: (issuer) => {
      const [organisation = '', commonName = '', country = ''] = issuer.split('|');
      return { organisation, commonName, country };
    },
  });
  const listener: RequestListener = ({ headers, url }, response) => {
    const company = companyOf((headers.host ?? '').split(':')[0] ?? '');
    if (!company || company.quirks.isDown) return void response.destroy();
    if (url !== '/') return void response.writeHead(404).end();
    const { headers: own, html } = company.page;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...own }).end(html);
  };
  const secure = createSecureServer(
    {
      SNICallback: (name, done) => {
        const company = companyOf(name);
        if (!company?.issuer || company.quirks.isDown) return done(new Error('no site of this name'));
        const options = { authority: company.issuer, kind: 'good', sharedWith: [] } as const;
        certificates.context(company.domain, options).then((context) => done(null, context), done);
      },
    },
    listener,
  );
  secure.on('tlsClientError', () => {});
  const plain = createServer(listener);
  await using stack = new AsyncDisposableStack();
  const portOf = async (server: Server & { closeAllConnections(): void }) => {
    server.listen(0, LOOPBACK);
    await once(server, 'listening');
    stack.defer(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return (server.address() as AddressInfo).port;
  };
  const ports = { 80: await portOf(plain), 443: await portOf(secure) };
  const dns = stack.use(await startDnsServer({ address: LOOPBACK, port: 0, isRecursive: true }, answer));
  const owned = stack.move();
  return {
    resolver: { address: dns.address, port: dns.port },
    dial: ({ port }) => ({ address: LOOPBACK, port: port === 443 ? ports[443] : ports[80] }),
    caPem: certificates.rootPem,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
