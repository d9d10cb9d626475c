// Visits of example.com at a scripted web server, with addresses from a table instead of DNS.
import type { Lookup } from '@strata/detect';
import { createAddressGuard } from '../address-guard.ts';
import { type HomePageParts, visitHomePage, type WebEvidence } from '../home-page.ts';
import { KeyedLimit } from '../keyed-limit.ts';
import { WebClient } from '../web-client.ts';
import { startWebServer, type WebScript, type WebServer, type WebServerOptions } from './web-server.ts';

export const PUBLIC = '93.184.216.34';

export interface VisitOptions extends WebServerOptions, Partial<Pick<HomePageParts, 'visitTimeoutMs' | 'keepSource'>> {
  /** By host; what is not listed does not exist. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly addressesOf?: (host: string) => readonly string[];
  readonly requestTimeoutMs?: number;
  readonly maxBodyBytes?: number;
  readonly trustedCa?: readonly string[];
  readonly signal?: AbortSignal;
}

export async function visited(
  script: WebScript,
  options: VisitOptions = {},
): Promise<WebEvidence & { readonly server: WebServer }> {
  await using server = await startWebServer(script, options);
  const addresses = options.addresses ?? { 'example.com': [PUBLIC], 'www.example.com': ['93.184.216.35'] };
  const client = new WebClient({
    userAgent: 'StrataBot/test (+https://example.net/bot)',
    trustedCa: options.trustedCa ?? [],
    dial: server.dial,
    maxBodyBytes: options.maxBodyBytes ?? 65_536,
  });
  const evidence = await visitHomePage(
    {
      client,
      guard: createAddressGuard(),
      addressesOf: async (host) => found(options.addressesOf?.(host) ?? addresses[host] ?? []),
      perAddress: new KeyedLimit(2),
      userAgent: 'StrataBot/test (+https://example.net/bot)',
      requestTimeoutMs: options.requestTimeoutMs ?? 3_000,
      visitTimeoutMs: options.visitTimeoutMs ?? 6_000,
      keepSource: options.keepSource ?? false,
    },
    'example.com',
    options.signal,
  );
  return { ...evidence, server };
}

function found(records: readonly string[]): Lookup<string> {
  return { status: records.length > 0 ? 'found' : 'nxdomain', records, aliases: [] };
}
