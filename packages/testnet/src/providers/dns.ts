// DNS providers: the name servers and the SOA of a customer's zone.
import type { NetworkRef } from '../dns/networks.ts';
import type { Mint } from '../random.ts';

export interface DnsTemplate {
  readonly id: string;
  readonly weight: number;
  /** Suffixes of the provider's name server hosts. */
  readonly zones: readonly string[];
  readonly ns: (mint: Mint) => readonly string[];
  /** SOA RNAME, which identifies the provider even if the NS names are the customer's own. */
  readonly rname: (mint: Mint) => string;
  /** Supports vanity name servers. */
  readonly hasVanity?: true;
  /** The network of its servers. */
  readonly network?: NetworkRef;
  /** The network contains no customers' servers: an address in it identifies the provider. */
  readonly isOwnNetwork?: true;
}

const NAMES =
  'ada amir bella cass clyde dana elias fay gene hera ivan jill kurt lara mark nina owen pam quinn rosa'.split(' ');

type Names = (mint: Mint) => readonly string[];

/** Name servers, listed in a text or by customer; the suffixes of listed ones are their parents. */
function provider(
  id: string,
  weight: number,
  servers: string | { readonly zones: readonly string[]; readonly ns: Names },
  rname: string | DnsTemplate['rname'],
  more: Pick<DnsTemplate, 'network' | 'isOwnNetwork' | 'hasVanity'> = {},
): DnsTemplate {
  return {
    ...{ id, weight, ...(typeof servers === 'string' ? listed(servers.split(' ')) : servers) },
    rname: typeof rname === 'string' ? () => rname : rname,
    ...more,
  };
}

function listed(hosts: readonly string[]) {
  return { zones: [...new Set(hosts.map((host) => host.slice(host.indexOf('.') + 1)))], ns: () => hosts };
}

const at = (zones: string, ns: Names) => ({ zones: zones.split(' '), ns });
const padded = (n: number) => String(n).padStart(2, '0');
const hostmaster = (m: Mint) => `hostmaster.${m.domain}`;
const AWS_TLDS = ['com', 'net', 'org', 'co.uk'];

export const dnsProviders: readonly DnsTemplate[] = [
  provider(
    'cloudflare',
    240,
    at('ns.cloudflare.com', (m) => {
      const first = m.number('cf-ns', 0, 18);
      return [`${NAMES[first] ?? 'ada'}.ns.cloudflare.com`, `${NAMES[first + 1] ?? 'bob'}.ns.cloudflare.com`];
    }),
    'dns.cloudflare.com',
    { network: 'cloudflare', isOwnNetwork: true, hasVanity: true },
  ),
  provider(
    'godaddy',
    130,
    at('domaincontrol.com', (m) => {
      const n = m.number('gd-ns', 1, 38) * 2 - 1;
      return [n, n + 1].map((i) => `ns${padded(i)}.domaincontrol.com`);
    }),
    'dns.jomax.net',
    { network: 'godaddy' },
  ),
  provider(
    'amazon-route-53',
    110,
    {
      zones: Array.from({ length: 64 }, (_, n) => AWS_TLDS.map((tld) => `awsdns-${padded(n)}.${tld}`)).flat(),
      ns: (m) =>
        AWS_TLDS.map((tld, i) => {
          const zone = `awsdns-${padded(m.number(`r53z-${tld}`, 0, 63))}.${tld}`;
          return `ns-${m.number(`r53-${tld}`, i * 512, i * 512 + 511)}.${zone}`;
        }),
    },
    'awsdns-hostmaster.amazon.com',
    { network: 'amazon', hasVanity: true },
  ),
  provider(
    'ionos',
    55,
    at('ui-dns.com ui-dns.de ui-dns.org ui-dns.biz', (m) =>
      ['com', 'de', 'org', 'biz'].map((tld) => `ns${m.number('ui', 1000, 1120)}.ui-dns.${tld}`),
    ),
    'hostmaster.1and1.com',
    { network: 'ionos' },
  ),
  provider(
    'namecheap',
    48,
    'dns1.registrar-servers.com dns2.registrar-servers.com',
    'hostmaster.registrar-servers.com',
  ),
  provider(
    'ovhcloud',
    42,
    at('ovh.net', (m) => ['dns', 'ns'].map((p) => `${p}${m.number('ovh-ns', 10, 19)}.ovh.net`)),
    'tech.ovh.net',
    { network: 'ovhcloud' },
  ),
  provider(
    'google-cloud-dns',
    38,
    at('googledomains.com', (m) => {
      const letter = 'abcde'.charAt(m.number('gcd', 0, 4));
      return [1, 2, 3, 4].map((n) => `ns-cloud-${letter}${n}.googledomains.com`);
    }),
    'cloud-dns-hostmaster.google.com',
    { network: 'google', hasVanity: true },
  ),
  provider(
    'azure-dns',
    34,
    at('azure-dns.com azure-dns.net azure-dns.org azure-dns.info', (m) => {
      const pool = padded(m.number('az-ns', 1, 9));
      return ['com', 'net', 'org', 'info'].map((tld, i) => `ns${i + 1}-${pool}.azure-dns.${tld}`);
    }),
    'azuredns-hostmaster.microsoft.com',
    { network: 'microsoft' },
  ),
  // Hostinger's regular name servers, despite their name.
  provider('hostinger', 32, 'ns1.dns-parking.com ns2.dns-parking.com', 'dns.hostinger.com'),
  provider(
    'ns1',
    22,
    at('nsone.net', (m) => [1, 2, 3, 4].map((n) => `dns${n}.p0${m.number('ns1', 1, 9)}.nsone.net`)),
    'hostmaster.nsone.net',
    { network: 'ns1', isOwnNetwork: true, hasVanity: true },
  ),
  provider(
    'akamai-edge-dns',
    22,
    at('akam.net', (m) => {
      const n = m.number('akam', 60, 260);
      return [`a1-${n}`, `a9-${(n % 60) + 3}`, `a13-${(n % 50) + 5}`, `a22-${(n % 40) + 7}`].map(
        (a) => `${a}.akam.net`,
      );
    }),
    'hostmaster.akamai.com',
    { network: 'akamai', isOwnNetwork: true },
  ),
  provider('digitalocean', 20, 'ns1.digitalocean.com ns2.digitalocean.com ns3.digitalocean.com', hostmaster, {
    network: 'cloudflare',
  }),
  provider(
    'gandi',
    18,
    at('gandi.net', (m) => ['a', 'b', 'c'].map((x) => `ns-${m.number(`gandi-${x}`, 1, 240)}-${x}.gandi.net`)),
    'hostmaster.gandi.net',
    { network: 'gandi' },
  ),
  provider('hetzner', 17, 'hydrogen.ns.hetzner.com oxygen.ns.hetzner.com helium.ns.hetzner.de', 'dns.hetzner.com', {
    network: 'hetzner',
  }),
  provider(
    'wix',
    16,
    at('wixdns.net', (m) => {
      const n = m.number('wixns', 0, 7) * 2;
      return [`ns${n}.wixdns.net`, `ns${n + 1}.wixdns.net`];
    }),
    'support.wix.com',
  ),
  provider('csc', 14, 'dns1.cscdns.net dns2.cscdns.net', 'hostmaster.cscdns.net'),
  provider(
    'ultradns',
    14,
    at('ultradns.com ultradns.net ultradns.org ultradns.biz', (m) =>
      ['com', 'net', 'org', 'biz'].map((tld) => `pdns${m.number('udns', 1, 210)}.ultradns.${tld}`),
    ),
    hostmaster,
    { network: 'ultradns', isOwnNetwork: true, hasVanity: true },
  ),
  provider(
    'markmonitor',
    12,
    'ns1.markmonitor.com ns3.markmonitor.com ns5.markmonitor.com ns7.markmonitor.com',
    'hostmaster.markmonitor.com',
  ),
  provider(
    'dnsimple',
    12,
    'ns1.dnsimple.com ns2.dnsimple-edge.net ns3.dnsimple.com ns4.dnsimple-edge.org',
    'admin.dnsimple.com',
    { network: 'telekom', hasVanity: true },
  ),
  provider(
    'linode',
    11,
    'ns1.linode.com ns2.linode.com ns3.linode.com ns4.linode.com ns5.linode.com',
    (m) => `admin.${m.domain}`,
    { network: 'akamai' },
  ),
  provider('vercel', 11, 'ns1.vercel-dns.com ns2.vercel-dns.com', 'hostmaster.vercel-dns.com'),
  provider('wordpress-com', 9, 'ns1.wordpress.com ns2.wordpress.com ns3.wordpress.com', hostmaster),
  provider(
    'dyn',
    8,
    at('dynect.net', (m) => [1, 2, 3, 4].map((n) => `ns${n}.p${m.number('dyn', 1, 43)}.dynect.net`)),
    hostmaster,
    { network: 'dyn', isOwnNetwork: true, hasVanity: true },
  ),
  provider('dnspod', 8, 'f1g1ns1.dnspod.net f1g1ns2.dnspod.net', 'freednsadmin.dnspod.com'),
  provider('he-dns', 7, 'ns1.he.net ns2.he.net ns3.he.net ns4.he.net ns5.he.net', 'hostmaster.he.net'),
  provider(
    'cloudns',
    7,
    'pns31.cloudns.net pns32.cloudns.net pns33.cloudns.net pns34.cloudns.net',
    'support.cloudns.net',
  ),
  provider('scaleway', 6, 'ns0.dom.scw.cloud ns1.dom.scw.cloud', 'support.scaleway.com'),
  provider('vultr', 5, 'ns1.vultr.com ns2.vultr.com', 'dnsadm.choopa.com'),
  provider('bunny', 5, 'kiki.bunny.net coco.bunny.net', 'hostmaster.bunny.net'),
  provider('gcore', 4, 'ns1.gcorelabs.net ns2.gcdn.services', 'support.gcore.com'),
];

const seller = (id: string, weight: number, network: string, servers: string, rname: string) => ({
  ...provider(id, weight, servers, rname),
  network,
});

/** Domain sellers and parking services: their name servers mark the domain as parked. */
export const parkingProviders = [
  seller('sedo', 30, 'sedo', 'ns1.sedoparking.com ns2.sedoparking.com', 'hostmaster.sedo.de'),
  seller('afternic', 30, 'amazon-accelerator', 'ns1.afternic.com ns2.afternic.com', 'dns.jomax.net'),
  seller('bodis', 15, 'bodis', 'ns1.bodis.com ns2.bodis.com', 'dnsadmin.bodis.com'),
  seller('parkingcrew', 15, 'parkingcrew', 'ns1.parkingcrew.net ns2.parkingcrew.net', 'hostmaster.parkingcrew.net'),
  seller('dan', 10, 'amazon-accelerator', 'ns1.dan.com ns2.dan.com', 'hostmaster.dan.com'),
];
