// The web part of a probe: robots.txt, then the home page, following redirects as long as they stay with the domain.
import { type HttpEvidence, registrableDomain, type TlsEvidence } from '@strata/detect';
import { tlsNone } from './certificate.ts';
import { type AddressParts, checkAddress } from './checked-address.ts';
import type { KeyedLimit } from './keyed-limit.ts';
import { isWeb, redirectTarget } from './redirect.ts';
import { type Answered, type EvidenceOptions, evidenceOf } from './response-evidence.ts';
import { welcomeOf } from './robots.ts';
import { Connections, type Visit, type WebClient } from './web-client.ts';

/** Hosts are looked up by the resolver that the rest of the probe uses. */
export interface HomePageParts extends AddressParts, EvidenceOptions {
  readonly client: WebClient;
  readonly perAddress: KeyedLimit;
  readonly userAgent: string;
  readonly requestTimeoutMs: number;
  /** For all look-ups and requests of one visit; standing in line for an address is not counted. */
  readonly visitTimeoutMs: number;
}

export interface WebEvidence {
  readonly http: HttpEvidence;
  readonly tls: TlsEvidence;
}

const MAX_REDIRECTS = 5;

const nothing = { url: null, redirects: [], statusCode: null, headers: {}, cookies: [], page: null } as const;

export function webSkipped(detail: string): WebEvidence {
  return { http: { status: 'skipped', ...nothing, detail }, tls: tlsNone('skipped') };
}

/**
 * Visits `https://{domain}/`, then `http://` when that cannot be reached; `www` when the domain itself has no address.
 * Rejects only when `signal` aborts.
 */
export async function visitHomePage(parts: HomePageParts, domain: string, signal?: AbortSignal): Promise<WebEvidence> {
  using connections = new Connections();
  const visit = new HomePageVisit(parts, domain, connections, signal);
  const apex = await visitHost(visit, domain);
  return apex.http.status === 'skipped' && apex.http.redirects.length === 0 ? visitHost(visit, `www.${domain}`) : apex;
}

async function visitHost(visit: HomePageVisit, host: string): Promise<WebEvidence> {
  const secure = await visit.follow(new URL(`https://${host}/`));
  const { status, statusCode, redirects } = secure.http;
  if (statusCode !== null || status === 'blocked' || status === 'skipped' || redirects.length > 0) return secure;
  const plain = await visit.follow(new URL(`http://${host}/`));
  if (plain.http.status !== 'found' && plain.http.status !== 'blocked') return secure;
  // A plain site that sends on to HTTPS elsewhere brings its own handshake; otherwise the failed one is what we know.
  return { http: plain.http, tls: plain.tls.status === 'found' ? plain.tls : secure.tls };
}

interface Failure {
  readonly status: 'refused' | 'failed' | 'timeout' | 'skipped' | 'blocked';
  readonly detail: string;
}

const STATUS_OF = { unresolved: 'skipped', forbidden: 'refused', timeout: 'timeout', failed: 'failed' } as const;

class HomePageVisit {
  readonly #parts: HomePageParts;
  readonly #domain: string;
  readonly #connections: Connections;
  readonly #signal: AbortSignal | undefined;
  readonly #welcomes = new Map<string, (url: URL) => boolean>();
  #leftMs: number;
  #tls = tlsNone('skipped');

  constructor(parts: HomePageParts, domain: string, connections: Connections, signal: AbortSignal | undefined) {
    this.#parts = parts;
    this.#domain = domain;
    this.#connections = connections;
    this.#signal = signal;
    this.#leftMs = parts.visitTimeoutMs;
  }

  async follow(start: URL): Promise<WebEvidence> {
    this.#tls = tlsNone('skipped');
    const redirects: string[] = [];
    let url = start;
    for (;;) {
      const answer = await this.#page(url);
      this.#signal?.throwIfAborted();
      if (!('kind' in answer)) return this.#failed(answer, url, redirects);
      const next = redirectTarget(answer.statusCode, answer.headers.location, url);
      if (!next || !isWeb(next)) return this.#ended(evidenceOf(answer, { url, redirects }, this.#parts));
      redirects.push(url.href);
      // To another owner's domain: where it leads is the finding; that site is not ours to visit in this scan.
      if (registrableDomain(next.hostname) !== this.#domain)
        return this.#ended({ ...evidenceOf(answer, { url: next, redirects }, this.#parts), page: null });
      if (redirects.includes(next.href) || redirects.length > MAX_REDIRECTS) {
        const detail = 'the redirects do not end';
        return this.#ended({ ...evidenceOf(answer, { url, redirects }, this.#parts), status: 'failed', detail });
      }
      url = next;
    }
  }

  #ended(http: HttpEvidence): WebEvidence {
    return { http, tls: this.#tls };
  }

  #failed({ status, detail }: Failure, url: URL, redirects: readonly string[]): WebEvidence {
    const isUnseen = this.#tls.status !== 'found' && url.protocol === 'https:';
    return {
      http: { status, ...nothing, url: url.href, redirects, detail },
      tls: isUnseen ? tlsNone(status === 'blocked' ? 'failed' : status) : this.#tls,
    };
  }

  /** The answer for one URL, when its host may be dialled and its robots.txt does not keep us out. */
  async #page(url: URL): Promise<Answered | Failure> {
    if (!['', '80', '443'].includes(url.port))
      return { status: 'refused', detail: 'only ports 80 and 443 are visited' };
    const checked = await this.#checkedAddress(url.hostname);
    if (typeof checked !== 'string') return checked;
    let isWelcome = this.#welcomes.get(url.origin);
    if (!isWelcome) {
      const robots = await this.#get(new URL('/robots.txt', url), checked);
      if (robots.kind === 'failed' && robots.reason !== 'failed')
        return { status: robots.reason, detail: robots.detail };
      isWelcome = welcomeOf(robots, url.origin, this.#parts.userAgent);
      this.#welcomes.set(url.origin, isWelcome);
    }
    if (!isWelcome(url)) return { status: 'blocked', detail: 'robots.txt keeps robots out' };
    const answer = await this.#get(url, checked);
    return answer.kind === 'answered' ? answer : { status: answer.reason, detail: answer.detail };
  }

  async #checkedAddress(host: string): Promise<string | Failure> {
    const startedAt = performance.now();
    const checked = await checkAddress(this.#parts, host, this.#signal);
    this.#leftMs -= performance.now() - startedAt;
    if (checked.kind === 'allowed') return checked.address;
    return { status: STATUS_OF[checked.reason], detail: checked.detail };
  }

  async #get(url: URL, address: string): Promise<Visit> {
    const { perAddress, client, requestTimeoutMs } = this.#parts;
    const signal = this.#signal;
    return perAddress.run(
      address,
      async () => {
        const timeoutMs = Math.min(requestTimeoutMs, this.#leftMs);
        if (timeoutMs <= 0) return outOfTime;
        const startedAt = performance.now();
        const visit = await client.get(url, address, { timeoutMs, connections: this.#connections, signal });
        this.#leftMs -= performance.now() - startedAt;
        if (visit.tls && this.#tls.status !== 'found') this.#tls = visit.tls;
        return visit;
      },
      { signal },
    );
  }
}

const outOfTime: Visit = {
  kind: 'failed',
  reason: 'timeout',
  detail: 'no time left for the visit',
  tls: undefined,
};
