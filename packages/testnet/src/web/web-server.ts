// Every company's web site behind two listeners, selected by Host and SNI.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { ownerMintFor } from '../companies/owners.ts';
import type { Plan } from '../companies/plan-type.ts';
import { schemaTypeOf } from '../companies/sectors.ts';
import { softwareOf } from '../companies/software.ts';
import { SPECIAL_OCTETS } from '../dns/networks.ts';
import type { Feeds } from '../feeds/feeds.ts';
import { close, listen } from '../listening.ts';
import { holders } from '../providers/extras.ts';
import { siteServicesOf } from '../providers/site-services.ts';
import { type Mint, mintFor, randomFor } from '../random.ts';
import type { World } from '../world.ts';
import { forwarderOf, isDangling } from '../zone/zone-web.ts';
import type { Certificates } from './certificates.ts';
import { answerWellKnown, policyHost } from './well-known.ts';

interface WebServers extends AsyncDisposable {
  /** The loopback listener for an address of the simulated internet. */
  dial(to: { readonly address: string; readonly port: number }): { readonly address: string; readonly port: number };
}

interface WebOptions {
  readonly world: World;
  readonly companyOf: (host: string) => Plan | undefined;
  /** Companies that may share a certificate. */
  readonly neighbours: () => readonly string[];
  /** Hosts that receive a company's mail. */
  readonly exchangesOf: (plan: Plan) => readonly string[];
  readonly certificates: Certificates;
  /** Take precedence over the sites that they are on. */
  readonly feeds: Pick<Feeds, 'answer'>;
}

const LOOPBACK = '127.0.0.1';
/** Longer than any client should wait. */
const SLOW_MS = 30_000;
/** Redirect statuses, the usual one repeated. */
const REDIRECT_CODES = [301, 301, 302, 307, 308];
/** Number of other names on a shared certificate. */
const SHARED_NAMES = 12;

export async function startWebServers(options: WebOptions): Promise<WebServers> {
  const { companyOf, certificates } = options;
  const listener: RequestListener = (request, response) => {
    if (options.feeds.answer(request, response)) return;
    const host = (request.headers.host ?? '').split(':')[0]?.toLowerCase() ?? '';
    const isSecure = 'encrypted' in request.socket;
    const plan = companyOf(host);
    if (plan && isSecure && answerWellKnown(plan, { ...options, seed: options.world.seed, host }, request, response))
      return;
    serve(plan, { host, isSecure, world: options.world }, request, response);
  };
  const plain = createServer(listener);
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    const plan = companyOf(name.toLowerCase());
    // No site, no certificate: the handshake fails, as it does at an address without this name.
    if (!plan || !hasCertificate(plan)) return done(new Error('no site of this name'));
    const { authority, certificate: kind } = plan;
    const sharedWith = plan.situation.hasSharedCertificate ? neighboursOf(plan.domain, options) : [];
    const subject = name.toLowerCase() === policyHost(plan) ? policyHost(plan) : plan.domain;
    return void certificates.context(subject, { authority, kind, sharedWith }).then(
      (context) => done(null, context),
      (error: Error) => done(error),
    );
  };
  const secure = createSecureServer({ SNICallback }, listener);
  // The TLS version is negotiated before SNI is evaluated, so an old one needs a listener of its own.
  const secureOld = createSecureServer({ SNICallback, maxVersion: 'TLSv1.2' }, listener);
  for (const server of [secure, secureOld]) server.on('tlsClientError', () => {});
  const resetting = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.resetAndDestroy());
  });
  const servers: readonly Server[] = [plain, secure, secureOld, resetting];
  const [plainPort = 0, securePort = 0, oldPort = 0, resetPort = 0] = await Promise.all(
    servers.map((server) => listen(server)),
  );
  return {
    dial({ address, port }) {
      const last = Number(address.split('.')[3]);
      if (last === SPECIAL_OCTETS.refused) return { address: LOOPBACK, port: 1 };
      if (last === SPECIAL_OCTETS.reset) return { address: LOOPBACK, port: resetPort };
      if (last === SPECIAL_OCTETS.oldTls && port === 443) return { address: LOOPBACK, port: oldPort };
      return { address: LOOPBACK, port: port === 443 ? securePort : port === 80 ? plainPort : 1 };
    },
    async [Symbol.asyncDispose]() {
      for (const server of [plain, secure, secureOld]) server.closeAllConnections();
      await Promise.all(servers.map(close));
    },
  };
}

function hasCertificate({ state, site, situation }: Plan): boolean {
  return site !== 'http-only' && site !== 'holding' && (state !== 'parked' || situation.parking === 'name-servers');
}

function neighboursOf(domain: string, { world, neighbours }: WebOptions): string[] {
  const random = randomFor(world.seed, domain, 'neighbours');
  const all = neighbours();
  return all.length === 0 ? [] : [...new Set(Array.from({ length: SHARED_NAMES }, () => random.pick(all)))];
}

interface Visit {
  readonly host: string;
  readonly isSecure: boolean;
  readonly world: World;
}

function serve(plan: Plan | undefined, visit: Visit, request: IncomingMessage, response: ServerResponse): void {
  if (!plan || plan.state === 'nonexistent' || plan.state === 'broken') return void response.writeHead(404).end();
  if (plan.state === 'parked') return void forSale(plan, visit.world, response);
  if (plan.site === 'holding') return void hold(plan, response);
  if (plan.site === 'slow') return void setTimeout(() => response.end(), SLOW_MS).unref();
  const mint = mintFor(visit.world.seed, plan.domain);
  const headers = headersOf(plan, visit.world);
  if (request.url === '/robots.txt') {
    return void response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /private/\n');
  }
  const code = REDIRECT_CODES[mint.number('moved', 0, REDIRECT_CODES.length - 1)] ?? 301;
  const moved = (location: string) => void response.writeHead(code, { ...headers, location }).end();
  if (plan.site === 'wall')
    return void response
      .writeHead(403, {
        ...headers,
        ...(plan.cdn === 'cloudflare' ? { 'cf-mitigated': 'challenge' } : {}),
        'content-type': 'text/html',
      })
      .end('<title>Just a moment</title>');
  if (plan.site === 'redirects' && plan.redirectsTo) return void moved(`https://${plan.redirectsTo}/`);
  if (plan.site !== 'http-only' && !visit.isSecure) return void moved(`https://${visit.host}/`);
  const isForwarded = forwarderOf(plan, visit.world) !== null;
  if (visit.host === plan.domain && isForwarded)
    return void response.writeHead(301, { location: `https://www.${plan.domain}/` }).end();
  const goesToWww = mint.number('apex-www', 0, 2) === 0 && !isDangling(plan);
  if (visit.host === plan.domain && goesToWww) {
    return void moved(`${visit.isSecure ? 'https' : 'http'}://www.${plan.domain}/`);
  }
  const icon = iconOf(plan, visit.world);
  if (icon !== null && request.url === icon.path)
    return void response.writeHead(200, { ...headers, 'content-type': 'image/svg+xml' }).end(icon.svg);
  response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(pageOf(plan, visit.world));
}

/** A name for sale: the seller's page, or a redirect to its offer. */
function forSale({ domain, parking, situation }: Plan, { seed, templates }: World, response: ServerResponse): void {
  const seller = templates.parking.of(parking);
  if (situation.parking === 'redirect')
    return void response.writeHead(302, { location: seller.offer(mintFor(seed, domain)) }).end();
  const asset = situation.parking === 'page' ? tagOf(seller.asset) : '';
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .end(`<title>${domain} is for sale</title>${asset}<p>Buy this domain.</p>`);
}

/** The registrar's page while there is no site. */
function hold({ dns }: Plan, response: ServerResponse): void {
  const holder = holders.get(dns[0] ?? '');
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .end(`<title>${holder?.title}</title>${holder ? tagOf(holder.asset) : ''}<p>Come back soon.</p>`);
}

function headersOf(plan: Plan, world: World): Record<string, string | string[]> {
  const { templates } = world;
  const mint = mintFor(world.seed, plan.domain);
  const cdn = plan.cdn ? templates.cdn.of(plan.cdn) : null;
  const hosting = plan.hosting === 'self' ? null : templates.hosting.of(plan.hosting);
  const platform = templates.platform.of(plan.platform);
  const software = softwareOf(plan, world);
  const ofServices = siteServicesOf(plan.siteServices).flatMap((each) => each.cookies ?? []);
  const cookies = [...(platform.cookies ?? []), ...ofServices, ...(cdn?.cookies?.(mint) ?? [])].map(
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

function pageOf(plan: Plan, world: World): string {
  const { seed, templates } = world;
  const mint = mintFor(seed, plan.domain);
  const { generator, assets, htmlAttributes, body } = templates.platform.of(plan.platform);
  const { widgets, hasForeignAsset } = plan.situation;
  const owner = ownerMintFor(seed, plan.domain);
  const loaded = widgets.map((id) => templates.widget.of(id).asset(owner));
  const measured = widgets.includes('google-analytics')
    ? `<script>gtag('config', 'G-${owner.code('ga4', 10).toUpperCase()}')</script>\n`
    : '';
  const foreign = hasForeignAsset ? ['https://partner-of-ours.example/wp-content/uploads/2025/03/logo.png'] : [];
  const services = siteServicesOf(plan.siteServices).flatMap(({ asset }) => asset?.(owner) ?? []);
  const tags = [...assets(mint), ...loaded, ...services, ...foreign].map(tagOf);
  const type = schemaTypeOf(plan.domain);
  const about = type
    ? `<script type="application/ld+json">{"@context":"https://schema.org","@type":"${type}","name":"${mint.brand}"}</script>\n`
    : '';
  return `<!doctype html>
<html lang="en" ${htmlAttributes?.(mint) ?? ''}>
<head><meta charset="utf-8"><title>${mint.brand}</title>${generator ? `<meta name="generator" content="${generator(mint)}">` : ''}
${iconOf(plan, world)?.path === '/icon.svg' ? '<link rel="icon" href="/icon.svg">\n' : ''}${about}${measured}${tags.join('\n')}</head>
<body><h1>${mint.brand}</h1><p>Welcome.</p>${body?.(mint) ?? ''}</body></html>
`;
}

/** A third of the sites keep the icon of their software, some have none; the rest have one of their own, or of their owner. */
function iconOf({ domain, platform }: Plan, { seed }: World): { readonly path: string; readonly svg: string } | null {
  const kind = mintFor(seed, domain).number('icon', 0, 8);
  if (kind === 0) return null;
  const svg = (mint: Mint) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#${mint.hex('icon', 6)}"/></svg>`;
  if (kind < 4) return { path: '/favicon.ico', svg: svg(mintFor(seed, platform)) };
  return { path: '/icon.svg', svg: svg(ownerMintFor(seed, domain)) };
}

function tagOf(url: string): string {
  if (url.includes('.css') || url.includes('/css')) return `<link rel="stylesheet" href="${url}">`;
  return url.endsWith('.png') ? `<img src="${url}" alt="">` : `<script src="${url}"></script>`;
}
