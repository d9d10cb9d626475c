// A domain to its Evidence: asks DNS everything at once, then the networks and the home page. Failures are statuses.
import { randomBytes } from 'node:crypto';
import type { AddressEvidence, DnsEvidence, Evidence, Lookup, MxRecord } from '@strata/detect';
import { createAddressGuard } from './address-guard.ts';
import { without } from './answer.ts';
import { type AsnZones, CYMRU, lookUpNetwork } from './asn.ts';
import { type HomePageParts, visitHomePage, webSkipped } from './home-page.ts';
import { KeyedLimit } from './keyed-limit.ts';
import { Resolver, type ResolverOptions, type ResolverStats } from './resolver.ts';
import { type Target, WebClient } from './web-client.ts';

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
  readonly maxBodyBytes?: number;
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
      requestTimeoutMs: options.requestTimeoutMs ?? 8_000,
      maxBodyBytes: options.maxBodyBytes ?? 512 * 1024,
    }),
    guard: createAddressGuard(options.allowAddresses),
    addressesOf: (host) => addressesOf(resolver, host),
    perAddress: new KeyedLimit(options.perAddress ?? 2),
    userAgent: options.userAgent,
  };

  async function probe(domain: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Evidence> {
    signal?.throwIfAborted();
    const observedAt = now();
    const startedAt = performance.now();
    const ns = await resolver.query(domain, 'NS');
    // RFC 8020: below a name that does not exist there is nothing, so there is nothing more to ask.
    if (ns.status === 'nxdomain') {
      const dns = await everyLookup(domain, ns, options.probeLabels, async () => without('nxdomain'));
      return {
        domain,
        observedAt: observedAt.toISOString(),
        durationMs: sinceMs(startedAt),
        dns,
        addresses: [],
        ...webSkipped('the name does not exist'),
      };
    }
    const ask: Ask = (name, type) => resolver.query(name, type) as Promise<Lookup<never>>;
    const [dns, visited] = await Promise.all([
      everyLookup(domain, ns, options.probeLabels, ask),
      visitHomePage(web, domain, signal),
    ]);
    const addresses = await networksOf(dns);
    signal?.throwIfAborted();
    return { domain, observedAt: observedAt.toISOString(), durationMs: sinceMs(startedAt), dns, addresses, ...visited };
  }

  async function networksOf(dns: DnsEvidence): Promise<AddressEvidence[]> {
    const mail = dns.mx.records[0]?.exchange;
    const mailAddress = mail ? (await resolver.query(mail, 'A')).records[0] : undefined;
    const uses = [
      { use: 'web', address: dns.a.records[0] ?? dns.aaaa.records[0] },
      { use: 'www', address: dns.www.records[0] },
      { use: 'mail', address: mailAddress },
    ] as const;
    const found = uses.map(async ({ use, address }) =>
      address === undefined ? [] : [{ use, ...(await lookUpNetwork(resolver, address, zones)) }],
    );
    return (await Promise.all(found)).flat();
  }

  return {
    probe,
    stats: () => resolver.stats(),
    [Symbol.asyncDispose]: () => resolver[Symbol.asyncDispose](),
  };
}

type Ask = (name: string, type: 'A' | 'AAAA' | 'NS' | 'TXT' | 'MX' | 'SOA' | 'CAA' | 'DS') => Promise<Lookup<never>>;

/** Asks for every record of the profile at once; the resolver's own limits keep that polite. */
async function everyLookup(
  domain: string,
  ns: Lookup<string>,
  labels: readonly string[],
  ask: Ask,
): Promise<DnsEvidence> {
  const random = `strata-${randomBytes(6).toString('hex')}.${domain}`;
  const named = Promise.all(
    // A key is a TXT record, other names are hosts; either way the aliases come along.
    labels.map(
      async (label) => [label, await ask(`${label}.${domain}`, label.includes('_domainkey') ? 'TXT' : 'A')] as const,
    ),
  );
  const asked = {
    soa: ask(domain, 'SOA'),
    a: ask(domain, 'A'),
    aaaa: ask(domain, 'AAAA'),
    mx: ask(domain, 'MX'),
    txt: ask(domain, 'TXT'),
    caa: ask(domain, 'CAA'),
    ds: ask(domain, 'DS'),
    www: ask(`www.${domain}`, 'A'),
    dmarc: ask(`_dmarc.${domain}`, 'TXT'),
    mtaSts: ask(`_mta-sts.${domain}`, 'TXT'),
    tlsRpt: ask(`_smtp._tls.${domain}`, 'TXT'),
    bimi: ask(`default._bimi.${domain}`, 'TXT'),
    wildcardTxt: ask(random, 'TXT'),
    wildcardA: ask(random, 'A'),
  };
  const mx: Lookup<MxRecord> = await asked.mx;
  return {
    ns: { ...ns, records: [...ns.records].sort() },
    soa: await asked.soa,
    a: await asked.a,
    aaaa: await asked.aaaa,
    mx: { ...mx, records: [...mx.records].sort(byPreference) },
    txt: await asked.txt,
    caa: await asked.caa,
    ds: await asked.ds,
    www: await asked.www,
    dmarc: await asked.dmarc,
    mtaSts: await asked.mtaSts,
    tlsRpt: await asked.tlsRpt,
    bimi: await asked.bimi,
    named: Object.fromEntries(await named),
    wildcardTxt: await asked.wildcardTxt,
    wildcardA: await asked.wildcardA,
  };
}

function byPreference(a: MxRecord, b: MxRecord): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : a.exchange > b.exchange ? 1 : 0);
}

async function addressesOf(resolver: Resolver, host: string): Promise<Lookup<string>> {
  const v4 = await resolver.query(host, 'A');
  return v4.status === 'empty' ? resolver.query(host, 'AAAA') : v4;
}

function sinceMs(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
