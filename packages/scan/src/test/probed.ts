// Probes of example.com over a scripted name server and a scripted web server.
import type { Answer } from 'dns-packet';
import { createProber, type ProberOptions } from '../probe/prober.ts';
import { a, cname, type DnsScript, mx, ns, soa, startDnsServer, txt } from './dns-server.ts';
import { startWebServer, usualCertificate, type WebScript } from './web-server.ts';

export const ADDRESS = '93.184.216.34';
export const records: readonly Answer[] = [
  ns('example.com', 'ns2.example.net'),
  ns('example.com', 'ns1.example.net'),
  soa('example.com'),
  a('example.com', ADDRESS),
  mx('example.com', 'b.mx.test', 20),
  mx('example.com', 'a.mx.test', 10),
  a('a.mx.test', '1.1.1.1'),
  txt('example.com', 'v=spf1 -all'),
  { type: 'CAA', name: 'example.com', ttl: 60, data: { flags: 0, tag: 'issue', value: 'ca.test' } },
  cname('www.example.com', 'edge.test'),
  a('edge.test', '93.184.216.35'),
  txt('_dmarc.example.com', 'v=DMARC1; p=reject'),
  cname('s1._domainkey.example.com', 's1.keys.test'),
  cname('autodiscover.example.com', 'auto.test'),
  a('auto.test', '1.1.1.2'),
  txt('34.216.184.93.origin.asn.cymru.com', '15133 | 93.184.216.0/24 | EU | ripencc | 2008-06-02'),
  txt('as15133.asn.cymru.com', '15133 | US | arin | 2007-03-19 | EDGECAST, US'),
];

/** What a probe brings, three of the rulebook's labels asked for. */
export async function probed(
  dnsScript: DnsScript,
  webScript: WebScript,
  options: Partial<ProberOptions> & { readonly signal?: AbortSignal } = {},
) {
  const { signal, ...proberOptions } = options;
  await using dns = await startDnsServer(dnsScript);
  await using web = await startWebServer(webScript);
  await using prober = createProber({
    probeLabels: ['s1._domainkey', 's2._domainkey', 'autodiscover'],
    userAgent: 'StrataBot/test',
    trustedCa: [usualCertificate.cert],
    dial: web.dial,
    requestTimeoutMs: 20_000,
    visitTimeoutMs: 30_000,
    now: () => new Date('2026-01-02T03:04:05Z'),
    ...proberOptions,
    resolver: { tryTimeoutMs: 15_000, totalTimeoutMs: 30_000, ...proberOptions.resolver, upstreams: [dns] },
  });
  return { evidence: await prober.probe('example.com', signal ? { signal } : {}), dns, web };
}
