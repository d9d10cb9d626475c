// A fetcher whose names and web are scripted: an internet of its own on loopback.
import assert from 'node:assert/strict';
import type { Answer } from 'dns-packet';
import type { Downloaded } from '../web/fetch/download.ts';
import { createFetcher, type FetcherOptions } from '../web/fetch/fetcher.ts';
import type { Fetched, FetchRequest } from '../web/fetch/web-walk.ts';
import { a, type DnsScript, startDnsServer, zone } from './dns-server.ts';
import { startWebServer, usualCertificate, type WebScript, type WebServerOptions } from './web-server.ts';

export const PUBLIC = '93.184.216.34';

export interface InternetOptions extends WebServerOptions {
  readonly records?: readonly Answer[];
  readonly dnsScript?: DnsScript;
  readonly fetcher?: Partial<FetcherOptions>;
}

export type Internet = Awaited<ReturnType<typeof startInternet>>;

const usualHosts = ['example.com', 'www.example.com', 'other.example.com', 'other.test'];
const usualRecords = usualHosts.map((name) => a(name, PUBLIC));

export async function startInternet(script: WebScript, options: InternetOptions = {}) {
  const web = await startWebServer(script, options);
  const dns = await startDnsServer(options.dnsScript ?? zone([...usualRecords, ...(options.records ?? [])]));
  const fetcher = createFetcher({
    userAgent: 'StrataBot/test (+https://example.net/bot)',
    trustedCa: [usualCertificate.cert],
    dial: web.dial,
    resolver: { upstreams: [dns], tryTimeoutMs: 15_000, totalTimeoutMs: 30_000 },
    ...options.fetcher,
  });
  return {
    fetcher,
    web,
    dns,
    fetch: (url: string, request: Partial<FetchRequest> = {}) =>
      fetcher.fetch(url, { maxBytes: 65_536, timeoutMs: 30_000, ...request }),
    async [Symbol.asyncDispose]() {
      await fetcher[Symbol.asyncDispose]();
      await web[Symbol.asyncDispose]();
      await dns[Symbol.asyncDispose]();
    },
  };
}

export async function fetchFrom(script: WebScript, request: Partial<FetchRequest> = {}): Promise<Fetched> {
  await using internet = await startInternet(script);
  return await internet.fetch('http://example.com/', request);
}

/** Why a fetch or a download failed; undefined when it did not. */
export const failureOf = (fetched: Fetched | Downloaded) => ('reason' in fetched ? fetched.reason : undefined);

/** Answers any request with what is written in `location`, the rest with `then`. */
export const redirects =
  (locations: Readonly<Record<string, string>>, then: WebScript): WebScript =>
  (request, response) => {
    const location = locations[request.url ?? ''];
    if (location === undefined) return then(request, response);
    response.writeHead(302, { location }).end();
  };

export function textOf(fetched: Fetched): string {
  assert.ok(fetched.kind === 'answered', 'detail' in fetched ? fetched.detail : '');
  return fetched.body.toString();
}
