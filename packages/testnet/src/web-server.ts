// Every company's web site behind two listeners, told apart by Host and SNI.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Certificates } from './certificates.ts';
import type { Feeds } from './feeds/feeds.ts';
import { SPECIAL_OCTETS } from './networks.ts';
import type { Plan } from './plan.ts';
import { templates } from './providers/index.ts';
import { mintFor } from './random.ts';
import { softwareOf } from './software.ts';
import { answerWellKnown, policyHost } from './well-known.ts';

export interface WebServers extends AsyncDisposable {
  /** The loopback listener that stands for an address of the simulated internet. */
  dial(to: { readonly address: string; readonly port: number }): { readonly address: string; readonly port: number };
}

export interface WebOptions {
  readonly seed: string;
  readonly companyOf: (host: string) => Plan | undefined;
  /** Where a company's mail is received. */
  readonly exchangesOf: (plan: Plan) => readonly string[];
  readonly certificates: Certificates;
  /** Answer before the sites that they are on. */
  readonly feeds: Pick<Feeds, 'answer'>;
}

const LOOPBACK = '127.0.0.1';
/** Longer than any client should wait. */
const SLOW_MS = 30_000;

export async function startWebServers(options: WebOptions): Promise<WebServers> {
  const { companyOf, certificates } = options;
  const listener: RequestListener = (request, response) => {
    if (options.feeds.answer(request, response)) return;
    const host = (request.headers.host ?? '').split(':')[0]?.toLowerCase() ?? '';
    const isSecure = 'encrypted' in request.socket;
    const plan = companyOf(host);
    if (plan && isSecure && answerWellKnown(plan, { ...options, host }, request, response)) return;
    serve(plan, { host, isSecure, seed: options.seed }, request, response);
  };
  const plain = createServer(listener);
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    const plan = companyOf(name.toLowerCase());
    // No site, no certificate: the handshake fails, as it does at an address that serves others.
    if (!plan || plan.site === 'http-only') return done(new Error('no site of this name'));
    const subject = name.toLowerCase() === policyHost(plan) ? policyHost(plan) : plan.domain;
    return void certificates.context(subject, plan.authority, plan.certificate).then(
      (context) => done(null, context),
      (error: Error) => done(error),
    );
  };
  const secure = createSecureServer({ SNICallback }, listener);
  // The version is agreed before the name is looked at, so an old one needs a listener of its own.
  const secureOld = createSecureServer({ SNICallback, maxVersion: 'TLSv1.2' }, listener);
  for (const server of [secure, secureOld]) server.on('tlsClientError', () => {});
  const resetting = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.resetAndDestroy());
  });
  const servers: readonly Server[] = [plain, secure, secureOld, resetting];
  const [plainPort = 0, securePort = 0, oldPort = 0, resetPort = 0] = await Promise.all(servers.map(listen));
  return {
    dial({ address, port }) {
      const last = Number(address.split('.')[3]);
      if (last === SPECIAL_OCTETS.refused) return { address: LOOPBACK, port: 1 };
      if (last === SPECIAL_OCTETS.reset) return { address: LOOPBACK, port: resetPort };
      if (last === SPECIAL_OCTETS.oldTls && port === 443) return { address: LOOPBACK, port: oldPort };
      return { address: LOOPBACK, port: port === 443 ? securePort : port === 80 ? plainPort : 1 };
    },
    async [Symbol.asyncDispose]() {
      plain.closeAllConnections();
      secure.closeAllConnections();
      secureOld.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, () => resolve((server.address() as AddressInfo).port));
  });
}

interface Visit {
  readonly host: string;
  readonly isSecure: boolean;
  readonly seed: string;
}

function serve(plan: Plan | undefined, visit: Visit, request: IncomingMessage, response: ServerResponse): void {
  if (!plan || plan.state === 'nonexistent' || plan.state === 'broken') return void response.writeHead(404).end();
  if (plan.state === 'parked') {
    return void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<title>${plan.domain} is for sale</title><p>Buy this domain.</p>`);
  }
  if (plan.site === 'slow') return void setTimeout(() => response.end(), SLOW_MS).unref();
  const mint = mintFor(visit.seed, plan.domain);
  const headers = headersOf(plan, visit.seed);
  if (request.url === '/robots.txt') {
    return void response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /private/\n');
  }
  const moved = (location: string) => void response.writeHead(301, { ...headers, location }).end();
  if (plan.site === 'wall')
    return void response
      .writeHead(403, { ...headers, 'content-type': 'text/html' })
      .end('<title>Just a moment</title>');
  if (plan.site === 'redirects' && plan.redirectsTo) return void moved(`https://${plan.redirectsTo}/`);
  if (plan.site !== 'http-only' && !visit.isSecure) return void moved(`https://${visit.host}/`);
  if (visit.host === plan.domain && mint.number('apex-www', 0, 2) === 0) {
    return void moved(`${visit.isSecure ? 'https' : 'http'}://www.${plan.domain}/`);
  }
  response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(pageOf(plan, visit.seed));
}

function headersOf(plan: Plan, seed: string): Record<string, string | string[]> {
  const mint = mintFor(seed, plan.domain);
  const cdn = plan.cdn ? templates.cdn.of(plan.cdn) : null;
  const hosting = plan.hosting === 'self' ? null : templates.hosting.of(plan.hosting);
  const platform = templates.platform.of(plan.platform);
  const software = softwareOf(plan, seed);
  const cookies = [...(platform.cookies ?? []), ...(cdn?.cookies?.(mint) ?? [])].map(
    (name) => `${name}=${mint.hex(name, 16)}; Path=/`,
  );
  return {
    server: software.server,
    ...software.headers,
    ...platform.headers,
    ...hosting?.headers?.(mint),
    ...cdn?.headers(mint),
    ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}),
  };
}

function pageOf(plan: Plan, seed: string): string {
  const mint = mintFor(seed, plan.domain);
  const { generator, assets, htmlAttributes, body } = templates.platform.of(plan.platform);
  const tags = assets(mint).map((url) =>
    url.endsWith('.css')
      ? `<link rel="stylesheet" href="${url}">`
      : url.endsWith('.png')
        ? `<img src="${url}" alt="">`
        : `<script src="${url}"></script>`,
  );
  return `<!doctype html>
<html lang="en" ${htmlAttributes?.(mint) ?? ''}>
<head><meta charset="utf-8"><title>${mint.brand}</title>${generator ? `<meta name="generator" content="${generator(mint)}">` : ''}
${tags.join('\n')}</head>
<body><h1>${mint.brand}</h1><p>Welcome.</p>${body?.(mint) ?? ''}</body></html>
`;
}
