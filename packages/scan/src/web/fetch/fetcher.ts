// Fetches documents from the web: resolved by our own resolver, dialled only at permitted addresses, bounded in size and time.
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import tls from 'node:tls';
import { KeyedSemaphore } from '@strata/limits';
import { Resolver, type ResolverOptions } from '../../dns/resolver.ts';
import { createAddressGuard } from '../address-guard.ts';
import { readBody } from '../body-reader.ts';
import { addressesOf } from '../checked-address.ts';
import { Deadline } from '../deadline.ts';
import { isWeb } from '../redirect.ts';
import { hostOf, type Target } from '../web-request.ts';
import { type Downloaded, type DownloadRequest, download } from './download.ts';
import { FetchConnections } from './fetch-connections.ts';
import { type Fetched, type FetchRequest, stopped, type WalkDeps, walk } from './web-walk.ts';

export interface FetcherOptions {
  readonly resolver?: ResolverOptions;
  /** Private CIDRs that may be connected to. */
  readonly allowAddresses?: readonly string[];
  /**
   * Origins that the operator configured, such as `http://127.0.0.1:4000`: dialled at any address and port. Redirects from one to
   * another keep the trust; a redirect from any other origin is checked like every request.
   */
  readonly trustedOrigins?: readonly string[];
  /** Third-party origins that the operator configured: any port is permitted, but only addresses that any host may have. */
  readonly namedOrigins?: readonly string[];
  /** Ports from 1024 are permitted too: of receivers that users run. */
  readonly hasHighPorts?: boolean;
  /** Identifies the fetcher and how to opt out: `StrataBot/0.1 (+https://example.com/bot)`. */
  readonly userAgent: string;
  /** Root certificates in place of the built-in ones, PEM. */
  readonly trustedCa?: readonly string[];
  /** Maps a checked address to the address that is dialled: only the demo and tests redirect it. */
  readonly dial?: (target: Target) => Target;
  /** Concurrent requests per host, 2 by default; time in the queue does not count towards the time-out. */
  readonly perHost?: number;
  /** Concurrent connections including idle ones: 256 by default. */
  readonly maxSockets?: number;
  /** Lifetime of an idle connection: 4 s by default. */
  readonly idleMs?: number;
}

export interface Fetcher extends AsyncDisposable {
  fetch(url: string, request: FetchRequest): Promise<Fetched>;
  /**
   * Downloads into `file`. The bytes are written to `<file>.part`, with the identity of the document (ETag or Last-Modified) beside
   * it: a partial file of the same document is resumed with `Range` and `If-Range`, any other is restarted. The file appears by a
   * rename when it is complete.
   */
  download(url: string, file: string, request: DownloadRequest): Promise<Downloaded>;
}

/** Throws on invalid options. Disposing ends requests in progress as `aborted`. */
export function createFetcher(options: FetcherOptions): Fetcher {
  const perHost = options.perHost ?? 2;
  const maxSockets = options.maxSockets ?? 256;
  const maxIdle = Math.floor(maxSockets / 4);
  const resolver = new Resolver(options.resolver);
  const agents = new FetchConnections({ maxIdle, maxIdlePerHost: perHost, idleMs: options.idleMs });
  const files = new KeyedSemaphore(1);
  const inProgress = new Set<Deadline>();
  let isDisposed = false;
  const deps: WalkDeps = {
    agents,
    secureContext: tls.createSecureContext(options.trustedCa && { ca: [...options.trustedCa] }),
    guard: createAddressGuard(options.allowAddresses),
    addressesOf: (host, signal) => addressesOf((name, type) => resolver.query(name, type, { signal }), host),
    dial: options.dial ?? ((target) => target),
    perHost: new KeyedSemaphore(perHost),
    overall: new KeyedSemaphore(maxSockets - maxIdle),
    trustedOrigins: new Set(options.trustedOrigins?.map(readOrigin)),
    namedOrigins: new Set(options.namedOrigins?.map(readOrigin)),
    hasHighPorts: options.hasHighPorts ?? false,
    userAgent: options.userAgent,
  };

  async function withDeadline<T>(
    { timeoutMs, signal }: Pick<FetchRequest, 'timeoutMs' | 'signal'>,
    work: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    using deadline = new Deadline(timeoutMs, signal);
    if (isDisposed) deadline.stop();
    inProgress.add(deadline);
    try {
      return await work(deadline);
    } finally {
      inProgress.delete(deadline);
    }
  }

  return {
    fetch: (url, request) => withDeadline(request, (deadline) => fetchDocument(deps, url, request, deadline)),
    download: (url, file, request) =>
      withDeadline(request, async (deadline) => {
        const { signal } = deadline;
        try {
          // Two downloads into one file would corrupt its partial file.
          return await files.run(resolve(file), () => download(deps, url, file, { ...request, deadline }), { signal });
        } catch (error) {
          if (signal.aborted && error === signal.reason) return { ...stopped(deadline), redirects: [] };
          throw error;
        }
      }),
    async [Symbol.asyncDispose]() {
      if (isDisposed) return;
      isDisposed = true;
      for (const deadline of inProgress) deadline.stop();
      agents[Symbol.dispose]();
      await resolver[Symbol.asyncDispose]();
    },
  };
}

function fetchDocument(deps: WalkDeps, url: string, request: FetchRequest, deadline: Deadline): Promise<Fetched> {
  const { headers = {}, maxRedirects, maxBytes, method } = request;
  const body = method === 'POST' ? (request.body ?? '') : undefined;
  const walkRequest = { headers, acceptEncoding: 'gzip, br, deflate', body, maxRedirects, deadline };
  return walk<Fetched>(deps, url, walkRequest, async ({ response, ...answer }) => {
    const { body, isTruncated } = await readBody(response, maxBytes);
    // A time-out keeps the received bytes as a truncated body; an abort by the caller discards them.
    if (deadline.signal.aborted && !deadline.isLate) return { ...stopped(deadline), redirects: answer.redirects };
    return { kind: 'answered', ...answer, body, isTruncated };
  });
}

/**
 * A fetcher for third-party servers that the operator configured; `urls` are the URLs that it visits. Literal addresses and `localhost`
 * are dialled as given, because the operator wrote them. The address of a name is the third party's choice: it is dialled only if it
 * is public or allowed.
 */
export function createNamedFetcher(
  urls: readonly string[],
  options: Omit<FetcherOptions, 'trustedOrigins' | 'namedOrigins'>,
): Fetcher {
  const named = urls.map((url) => new URL(url));
  const literal = named.filter((url) => hostOf(url) === 'localhost' || isIP(hostOf(url)) !== 0);
  const originsOf = (of: readonly URL[]) => of.map(({ origin }) => origin);
  return createFetcher({ ...options, trustedOrigins: originsOf(literal), namedOrigins: originsOf(named) });
}

function readOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || !isWeb(url)) throw new Error(`'${text}' is not an origin such as http://127.0.0.1:4000`);
  return url.origin;
}
