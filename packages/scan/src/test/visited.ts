// Visits of example.com at a scripted web server, with addresses from a table instead of DNS.
import type { Lookup } from '@strata/detect';
import { createAddressGuard } from '../address-guard.ts';
import { type HomePage, visitHomePage } from '../home-page.ts';
import { KeyedLimit } from '../keyed-limit.ts';
import { type SiteEvidence, visitSite } from '../site.ts';
import { type SiteParts, SiteVisit } from '../site-visit.ts';
import { WebClient } from '../web-client.ts';
import {
  startWebServer,
  usualCertificate,
  type WebScript,
  type WebServer,
  type WebServerOptions,
} from './web-server.ts';

export const PUBLIC = '93.184.216.34';

export interface VisitOptions extends WebServerOptions, Partial<Pick<SiteParts, 'visitTimeoutMs' | 'keepSource'>> {
  /** By host; what is not listed does not exist. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly addressesOf?: (host: string) => readonly string[];
  readonly requestTimeoutMs?: number;
  readonly maxBodyBytes?: number;
  readonly trustedCa?: readonly string[];
  readonly signal?: AbortSignal;
}

/** What a visit of the home page brings. */
export async function visited(
  script: WebScript,
  options: VisitOptions = {},
): Promise<HomePage & { readonly server: WebServer }> {
  const { value, server } = await visiting(script, options, visitHomePage);
  return { ...value, server };
}

/** What `work` makes of a visit. */
export async function visiting<T>(
  script: WebScript,
  options: VisitOptions,
  work: (visit: SiteVisit) => Promise<T>,
): Promise<{ readonly value: T; readonly server: WebServer }> {
  await using server = await startWebServer(script, options);
  using visit = new SiteVisit(partsOf(server, options), 'example.com', options.signal);
  return { value: await work(visit), server };
}

/** What the web part of a probe finds, its policy host included. */
export async function visitedSite(
  script: WebScript,
  options: VisitOptions = {},
): Promise<{ readonly site: SiteEvidence; readonly server: WebServer }> {
  await using server = await startWebServer(script, options);
  const addresses = { 'example.com': [PUBLIC], 'mta-sts.example.com': ['93.184.216.36'] };
  const parts = partsOf(server, { addresses, trustedCa: [usualCertificate.cert], ...options });
  return { site: await visitSite(parts, 'example.com', { hasMtaSts: Promise.resolve(true) }), server };
}

function partsOf(server: WebServer, options: VisitOptions): SiteParts {
  const addresses = options.addresses ?? { 'example.com': [PUBLIC], 'www.example.com': ['93.184.216.35'] };
  const userAgent = 'StrataBot/test (+https://example.net/bot)';
  return {
    client: new WebClient({
      userAgent,
      trustedCa: options.trustedCa ?? [],
      dial: server.dial,
      maxBodyBytes: options.maxBodyBytes ?? 65_536,
    }),
    guard: createAddressGuard(),
    addressesOf: async (host) => found(options.addressesOf?.(host) ?? addresses[host] ?? []),
    perAddress: new KeyedLimit(2),
    userAgent,
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    visitTimeoutMs: options.visitTimeoutMs ?? 20_000,
    keepSource: options.keepSource ?? false,
  };
}

function found(records: readonly string[]): Lookup<string> {
  return { status: records.length > 0 ? 'found' : 'nxdomain', records, aliases: [] };
}
