// Visits of example.com at a scripted web server, with addresses from a table instead of DNS.

import { KeyedSemaphore } from '@strata/limits';
import { createAddressGuard } from '../web/address-guard.ts';
import { visitHomePage } from '../web/site/home-page.ts';
import { type SiteDeps, SiteVisit } from '../web/site/site-visit.ts';
import { WebClient } from '../web/site/web-client.ts';
import { startWebServer, usualCertificate, type WebScript, type WebServerOptions } from './web-server.ts';

export const PUBLIC = '93.184.216.34';
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'example.com': [PUBLIC],
  'www.example.com': ['93.184.216.35'],
  'mta-sts.example.com': ['93.184.216.36'],
};

type SiteOptions = Partial<Pick<SiteDeps, 'requestTimeoutMs' | 'visitTimeoutMs' | 'keepSource'>>;
export interface VisitOptions extends WebServerOptions, SiteOptions {
  /** By host; what is not listed does not exist. */
  readonly addresses?: Readonly<Record<string, readonly string[]>> | ((host: string) => readonly string[]);
  readonly maxBodyBytes?: number;
  readonly trustedCa?: readonly string[];
}

export async function visiting<T>(
  script: WebScript,
  options: VisitOptions,
  work: (visit: SiteVisit, parts: SiteDeps) => Promise<T>,
) {
  await using server = await startWebServer(script, options);
  const { addresses = HOSTS, trustedCa = [usualCertificate.cert], maxBodyBytes = 65_536, ...given } = options;
  const userAgent = 'StrataBot/test (+https://example.net/bot)';
  const parts: SiteDeps = {
    client: new WebClient({ userAgent, trustedCa, dial: server.dial, maxBodyBytes }),
    guard: createAddressGuard(),
    addressesOf: async (host) => {
      const records = (typeof addresses === 'function' ? addresses(host) : addresses[host]) ?? [];
      return { status: records.length > 0 ? 'found' : 'nxdomain', records, aliases: [] };
    },
    perAddress: new KeyedSemaphore(2),
    userAgent,
    requestTimeoutMs: 10_000,
    visitTimeoutMs: 20_000,
    keepSource: false,
    ...given,
  };
  using visit = new SiteVisit(parts, 'example.com', undefined);
  return { value: await work(visit, parts), server };
}

export async function visited(script: WebScript, options: VisitOptions = {}) {
  const { value, server } = await visiting(script, options, visitHomePage);
  return { ...value, server };
}
