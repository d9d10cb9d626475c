// Collects the Evidence of a domain: DNS queries and the home page concurrently, then the networks. Failures are statuses.
import type { Evidence, Lookup } from '@strata/detect';
import { KeyedSemaphore } from '@strata/limits';
import { askOnce, skipIfUnresponsive } from '../dns/ask.ts';
import { noRecords } from '../dns/message/answer.ts';
import { Resolver, type ResolverOptions, type ResolverStats } from '../dns/resolver.ts';
import { askApex, validationOf } from '../dns/validation.ts';
import { createAddressGuard } from '../web/address-guard.ts';
import { addressesOf } from '../web/checked-address.ts';
import { siteSkipped, visitSite } from '../web/site/site.ts';
import type { SiteDeps } from '../web/site/site-visit.ts';
import { WebClient } from '../web/site/web-client.ts';
import type { Target } from '../web/web-request.ts';
import { NetworkFinder } from './asn.ts';
import { askDmarcParents, askReportConsents } from './dmarc-questions.ts';
import { type IdleAfter, probeLabelsOf, queryDomain } from './dns-questions.ts';
import { askNetworks } from './networks.ts';
import { askSpfPolicies } from './spf-policies.ts';

export interface ProberOptions {
  /** Labels that the rulebook needs, relative to the domain: `autodiscover`, `selector1._domainkey`. */
  readonly probeLabels: readonly string[];
  /** Those that need no question after the answer about the exchanges; none if omitted. */
  readonly idleAfter?: IdleAfter;
  readonly resolver?: ResolverOptions;
  /** Private CIDRs that probes may connect to, and whose name servers they may use. */
  readonly allowAddresses?: readonly string[];
  /** Identifies the scanner and how to opt out: `StrataBot/0.1 (+https://example.com/bot)`. */
  readonly userAgent: string;
  /** Root certificates in place of the built-in ones, PEM. */
  readonly trustedCa?: readonly string[];
  /** Maps a checked address to the address that is dialled: only the demo and tests redirect it. */
  readonly dial?: (target: Target) => Target;
  readonly requestTimeoutMs?: number;
  /** For robots.txt, redirects, the page and security.txt together, and again for the MTA-STS policy: 12 s by default. */
  readonly visitTimeoutMs?: number;
  readonly maxBodyBytes?: number;
  /** Keeps up to 64 KiB of the page's source with its evidence, for community sets that match on it. */
  readonly keepSource?: boolean;
  /** Concurrent visits of one address. */
  readonly perAddress?: number;
  readonly now?: () => Date;
}

export interface Prober extends AsyncDisposable {
  /** Never rejects because of the domain; rejects if `signal` aborts. `domain` is a registrable domain. */
  probe(domain: string, options?: { readonly signal?: AbortSignal }): Promise<Evidence>;
  stats(): ResolverStats;
}

export function createProber(options: ProberOptions): Prober {
  const resolver = new Resolver(options.resolver);
  const now = options.now ?? (() => new Date());
  const labels = probeLabelsOf(options.probeLabels, options.idleAfter);
  const networks = new NetworkFinder(resolver);
  const web: Omit<SiteDeps, 'addressesOf'> = {
    client: new WebClient({
      userAgent: options.userAgent,
      ...(options.trustedCa && { trustedCa: options.trustedCa }),
      dial: options.dial ?? ((target) => target),
      maxBodyBytes: options.maxBodyBytes ?? 512 * 1024,
    }),
    guard: createAddressGuard(options.allowAddresses),
    perAddress: new KeyedSemaphore(options.perAddress ?? 2),
    userAgent: options.userAgent,
    keepSource: options.keepSource ?? false,
    requestTimeoutMs: options.requestTimeoutMs ?? 8_000,
    visitTimeoutMs: options.visitTimeoutMs ?? 12_000,
  };

  async function probe(
    domain: string,
    { signal: outer }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Evidence> {
    outer?.throwIfAborted();
    // One listener on the caller's signal, which may live as long as the process; the probe uses its own signal dozens of times.
    const own = new AbortController();
    const abort = () => own.abort(outer?.reason);
    outer?.addEventListener('abort', abort, { once: true });
    try {
      return await observe(domain, own.signal);
    } catch (error) {
      // One part failed: cancels the other parts.
      own.abort(error);
      throw error;
    } finally {
      outer?.removeEventListener('abort', abort);
    }
  }

  async function observe(domain: string, signal: AbortSignal): Promise<Evidence> {
    const observedAt = now().toISOString();
    const startedAt = performance.now();
    const apex = await askApex(resolver, domain, { signal });
    // RFC 8020: no name exists below a name that does not exist, so no other query is needed.
    if (apex.ns.status === 'nxdomain') {
      const dns = await queryDomain(domain, apex.ns, labels, async () => noRecords('nxdomain'));
      const policies = { spf: {}, dmarcParents: {}, reportConsents: {}, validation: 'unknown' } as const;
      const visited = siteSkipped('the name does not exist');
      return { domain, observedAt, durationMs: sinceMs(startedAt), dns, addresses: [], ...visited, policies };
    }
    const once = askOnce(resolver, { uncheckedBelow: apex.isUnchecked ? domain : undefined, signal });
    const ask = await skipIfUnresponsive(once, domain, apex.ns);
    const networkOf = (address: string) => networks.find(address, { signal });
    const site = { ...web, addressesOf: (host: string) => addressesOf(ask, host) };
    const hasMtaSts = ask(`_mta-sts.${domain}`, 'TXT').then(isMtaSts);
    // One Promise.all: with sequential awaits an abort would leave unhandled rejections.
    const [[dns, addresses], visited, spf, dmarcParents, reportConsents, validation] = await Promise.all([
      queryDomain(domain, apex.ns, labels, ask).then(
        async (dns) => [dns, await askNetworks(domain, dns, { ask, networkOf })] as const,
      ),
      visitSite(site, domain, { hasMtaSts, signal }),
      ask(domain, 'TXT').then(({ records }) => askSpfPolicies(records, ask)),
      askDmarcParents(domain, ask),
      ask(`_dmarc.${domain}`, 'TXT').then(({ records }) => askReportConsents(domain, records, ask)),
      ask(domain, 'DS').then((ds) => validationOf(resolver, domain, { apex, ds, signal })),
    ]);
    signal.throwIfAborted();
    const policies = { spf, dmarcParents, reportConsents, validation };
    return { domain, observedAt, durationMs: sinceMs(startedAt), dns, addresses, ...visited, policies };
  }

  return {
    probe,
    stats: () => resolver.stats(),
    [Symbol.asyncDispose]: () => resolver[Symbol.asyncDispose](),
  };
}

/** Whether a policy is announced (RFC 8461 §3.1); the posture evaluates the number of records. */
function isMtaSts({ records }: Lookup<string>): boolean {
  return records.some((record) => record.startsWith('v=STSv1'));
}

function sinceMs(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
