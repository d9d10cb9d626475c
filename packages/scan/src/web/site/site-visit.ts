// A visit of one domain's web hosts: each is resolved, checked and asked for its robots.txt, all within one time limit.
import type { TlsEvidence } from '@strata/detect';
import type { KeyedSemaphore } from '@strata/limits';
import { type AddressDeps, checkAddress } from '../checked-address.ts';
import { type Answered, type EvidenceOptions, isBlockedStatus } from './response-evidence.ts';
import { robotsRules } from './robots.ts';
import { Connections, type GetOptions, type Visit, type WebClient } from './web-client.ts';

/** Hosts are resolved by the resolver of the probe. */
export interface SiteDeps extends AddressDeps, EvidenceOptions {
  readonly client: WebClient;
  readonly perAddress: KeyedSemaphore;
  readonly userAgent: string;
  readonly requestTimeoutMs: number;
  /** For all lookups and requests of one visit, without the time in the queue for an address. */
  readonly visitTimeoutMs: number;
}

export interface Failure {
  readonly status: 'refused' | 'failed' | 'timeout' | 'skipped' | 'blocked';
  readonly detail: string;
}

export interface PageOptions extends Pick<GetOptions, 'accept' | 'maxBodyBytes' | 'isVerified'> {
  /** Called for each handshake. */
  readonly onTls?: (tls: TlsEvidence) => void;
}

const STATUS_OF = { unresolved: 'skipped', forbidden: 'refused', timeout: 'timeout', failed: 'failed' } as const;

/** Disposing closes its connections. */
export class SiteVisit implements Disposable {
  readonly domain: string;
  readonly signal: AbortSignal | undefined;
  readonly keepSource: boolean;
  readonly #deps: SiteDeps;
  readonly #connections = new Connections();
  readonly #robotsRules = new Map<string, (url: URL) => boolean>();
  /** Origins that were unreachable or blocked the visit: not requested again. */
  readonly #failures = new Map<string, Failure>();
  #leftMs: number;

  constructor(deps: SiteDeps, domain: string, signal: AbortSignal | undefined) {
    this.domain = domain;
    this.signal = signal;
    this.keepSource = deps.keepSource;
    this.#deps = deps;
    this.#leftMs = deps.visitTimeoutMs;
  }

  /**
   * The answer for one URL, if its host may be dialled and its robots.txt allows it. Rejects only if the signal aborts.
   */
  async page(url: URL, options: PageOptions = {}): Promise<Answered | Failure> {
    const known = this.#failures.get(url.origin);
    if (known !== undefined) return known;
    const answer = await this.#visit(url, options);
    this.signal?.throwIfAborted();
    if ('kind' in answer) {
      if (isBlockedStatus(answer))
        this.#failures.set(url.origin, { status: 'blocked', detail: `not requested after a ${answer.statusCode}` });
    } else if (answer.status !== 'blocked') this.#failures.set(url.origin, answer);
    return answer;
  }

  async #visit(url: URL, options: PageOptions): Promise<Answered | Failure> {
    if (!['', '80', '443'].includes(url.port))
      return { status: 'refused', detail: 'only ports 80 and 443 are visited' };
    const checked = await this.#checkedAddress(url.hostname);
    if (typeof checked !== 'string') return checked;
    let isAllowedByRobots = this.#robotsRules.get(url.origin);
    if (!isAllowedByRobots) {
      const { accept: _accept, maxBodyBytes: _limit, ...robotsOptions } = options;
      const robots = await this.#get(new URL('/robots.txt', url), checked, robotsOptions);
      if (robots.kind === 'failed' && robots.reason !== 'failed')
        return { status: robots.reason, detail: robots.detail };
      isAllowedByRobots = robotsRules(robots, url.origin, this.#deps.userAgent);
      this.#robotsRules.set(url.origin, isAllowedByRobots);
    }
    if (!isAllowedByRobots(url)) return { status: 'blocked', detail: 'robots.txt forbids the visit' };
    const answer = await this.#get(url, checked, options);
    return answer.kind === 'answered' ? answer : { status: answer.reason, detail: answer.detail };
  }

  async #checkedAddress(host: string): Promise<string | Failure> {
    const startedAt = performance.now();
    const checked = await checkAddress(this.#deps, host, this.signal);
    this.#leftMs -= performance.now() - startedAt;
    if (checked.kind === 'allowed') return checked.address;
    return { status: STATUS_OF[checked.reason], detail: checked.detail };
  }

  async #get(url: URL, address: string, { onTls, ...wanted }: PageOptions): Promise<Visit> {
    const { perAddress, client, requestTimeoutMs } = this.#deps;
    const signal = this.signal;
    return perAddress.run(
      address,
      async () => {
        const timeoutMs = Math.min(requestTimeoutMs, this.#leftMs);
        if (timeoutMs <= 0) return outOfTime;
        const startedAt = performance.now();
        const visit = await client.get(url, address, { ...wanted, timeoutMs, connections: this.#connections, signal });
        this.#leftMs -= performance.now() - startedAt;
        if (visit.tls) onTls?.(visit.tls);
        return visit;
      },
      { signal },
    );
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }
}

const outOfTime: Visit = {
  kind: 'failed',
  reason: 'timeout',
  detail: 'no time left for the visit',
  tls: undefined,
};
