// A domain to its Evidence: asks DNS everything at once, then the networks and the home page. Failures are statuses.
import type { AddressEvidence, DnsEvidence, Evidence } from '@strata/detect';
import { createAddressGuard } from './address-guard.ts';
import { without } from './answer.ts';
import { type AsnZones, CYMRU, lookUpNetwork } from './asn.ts';
import { addressesOf } from './checked-address.ts';
import { type Ask, askEverything } from './dns-questions.ts';
import { type HomePageParts, visitHomePage, webSkipped } from './home-page.ts';
import { KeyedLimit } from './keyed-limit.ts';
import { Resolver, type ResolverOptions, type ResolverStats } from './resolver.ts';
import { WebClient } from './web-client.ts';
import type { Target } from './web-request.ts';

export interface ProberOptions {
  /** Labels that the rulebook asks for, relative to the domain: `autodiscover`, `selector1._domainkey`. */
  readonly probeLabels: readonly string[];
  readonly resolver?: ResolverOptions;
  readonly asnZones?: AsnZones;
  /** CIDRs that may be connected to although they are private. */
  readonly allowAddresses?: readonly string[];
  /** Who asks, and how to opt out: `StrataBot/0.1 (+https://example.com/bot)`. */
  readonly userAgent: string;
  /** Extra root certificates, PEM. */
  readonly trustedCa?: readonly string[];
  /** Where a checked address is really dialled: only the demo and tests send it elsewhere. */
  readonly dial?: (target: Target) => Target;
  readonly requestTimeoutMs?: number;
  /** For robots.txt, redirects and the page together, over HTTPS and HTTP: 12 s when left out. */
  readonly visitTimeoutMs?: number;
  readonly maxBodyBytes?: number;
  /** Whether up to 64 KiB of the page's source are kept with its evidence: only for community sets that read it. */
  readonly keepSource?: boolean;
  /** Visits at one address at once. */
  readonly perAddress?: number;
  readonly now?: () => Date;
}

export interface Prober extends AsyncDisposable {
  /** Never rejects for the domain's fault; rejects when `signal` aborts. `domain` is a registrable domain. */
  probe(domain: string, options?: { readonly signal?: AbortSignal }): Promise<Evidence>;
  stats(): ResolverStats;
}

export function createProber(options: ProberOptions): Prober {
  const resolver = new Resolver(options.resolver);
  const now = options.now ?? (() => new Date());
  const zones = options.asnZones ?? CYMRU;
  const web: HomePageParts = {
    client: new WebClient({
      userAgent: options.userAgent,
      trustedCa: options.trustedCa ?? [],
      dial: options.dial ?? ((target) => target),
      maxBodyBytes: options.maxBodyBytes ?? 512 * 1024,
    }),
    guard: createAddressGuard(options.allowAddresses),
    addressesOf: (host, signal) => addressesOf(resolver, host, signal),
    perAddress: new KeyedLimit(options.perAddress ?? 2),
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
    // One listener on the caller's signal, which may live as long as the process; the dozens of a probe are on its own.
    const own = new AbortController();
    const abort = () => own.abort(outer?.reason);
    outer?.addEventListener('abort', abort, { once: true });
    try {
      return await observe(domain, own.signal);
    } catch (error) {
      // One part failed: the others need not go on.
      own.abort(error);
      throw error;
    } finally {
      outer?.removeEventListener('abort', abort);
    }
  }

  async function observe(domain: string, signal: AbortSignal): Promise<Evidence> {
    const observedAt = now().toISOString();
    const startedAt = performance.now();
    const ask: Ask = (name, type) => resolver.query(name, type, { signal });
    const ns = await ask(domain, 'NS');
    // RFC 8020: below a name that does not exist there is nothing, so there is nothing more to ask.
    if (ns.status === 'nxdomain') {
      const dns = await askEverything(domain, ns, options.probeLabels, async () => without('nxdomain'));
      const visited = webSkipped('the name does not exist');
      return { domain, observedAt, durationMs: sinceMs(startedAt), dns, addresses: [], ...visited };
    }
    const [[dns, addresses], visited] = await Promise.all([
      askEverything(domain, ns, options.probeLabels, ask).then(
        async (dns) => [dns, await networksOf(dns, signal)] as const,
      ),
      visitHomePage(web, domain, signal),
    ]);
    signal.throwIfAborted();
    return { domain, observedAt, durationMs: sinceMs(startedAt), dns, addresses, ...visited };
  }

  async function networksOf(dns: DnsEvidence, signal: AbortSignal): Promise<AddressEvidence[]> {
    const mail = dns.mx.records[0]?.exchange;
    const mailAddress = mail ? (await resolver.query(mail, 'A', { signal })).records[0] : undefined;
    const uses = [
      { use: 'web', address: dns.a.records[0] ?? dns.aaaa.records[0] },
      { use: 'www', address: dns.www.records[0] },
      { use: 'mail', address: mailAddress },
    ] as const;
    const found = uses.map(async ({ use, address }) =>
      address === undefined ? [] : [{ use, ...(await lookUpNetwork(resolver, address, zones, { signal })) }],
    );
    return (await Promise.all(found)).flat();
  }

  return {
    probe,
    stats: () => resolver.stats(),
    [Symbol.asyncDispose]: () => resolver[Symbol.asyncDispose](),
  };
}

function sinceMs(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
