// DNS providers: the name servers and the SOA of a customer's zone.
import type { NetworkId, NetworkRef } from '../dns/networks.ts';
import type { Mint } from '../random.ts';

export interface DnsTemplate {
  readonly id: string;
  readonly weight: number;
  /** Suffixes of the provider's name server hosts. */
  readonly zones: readonly string[];
  readonly ns: (mint: Mint) => string[];
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

const numbered = (list: readonly number[], name: (n: number) => string) => list.map(name);
const fixed =
  (...hosts: readonly string[]) =>
  () => [...hosts];

export const dnsProviders: readonly DnsTemplate[] = [
  {
    id: 'cloudflare',
    network: 'cloudflare',
    isOwnNetwork: true,
    weight: 240,
    zones: ['ns.cloudflare.com'],
    ns: (m) => {
      const first = m.number('cf-ns', 0, 18);
      return [`${NAMES[first] ?? 'ada'}.ns.cloudflare.com`, `${NAMES[first + 1] ?? 'bob'}.ns.cloudflare.com`];
    },
    rname: () => 'dns.cloudflare.com',
    hasVanity: true,
  },
  {
    id: 'godaddy',
    network: 'godaddy',
    weight: 130,
    zones: ['domaincontrol.com'],
    ns: (m) => {
      const n = m.number('gd-ns', 1, 38) * 2 - 1;
      return [n, n + 1].map((i) => `ns${String(i).padStart(2, '0')}.domaincontrol.com`);
    },
    rname: () => 'dns.jomax.net',
  },
  {
    id: 'amazon-route-53',
    network: 'amazon',
    weight: 110,
    zones: Array.from({ length: 64 }, (_, i) => String(i).padStart(2, '0')).flatMap((n) =>
      ['com', 'net', 'org', 'co.uk'].map((tld) => `awsdns-${n}.${tld}`),
    ),
    ns: (m) =>
      ['com', 'net', 'org', 'co.uk'].map(
        (tld, i) =>
          `ns-${m.number(`r53-${tld}`, i * 512, i * 512 + 511)}.awsdns-${String(m.number(`r53z-${tld}`, 0, 63)).padStart(2, '0')}.${tld}`,
      ),
    rname: () => 'awsdns-hostmaster.amazon.com',
    hasVanity: true,
  },
  {
    id: 'ionos',
    network: 'ionos',
    weight: 55,
    zones: ['ui-dns.com', 'ui-dns.de', 'ui-dns.org', 'ui-dns.biz'],
    ns: (m) => ['com', 'de', 'org', 'biz'].map((tld) => `ns${m.number('ui', 1000, 1120)}.ui-dns.${tld}`),
    rname: () => 'hostmaster.1and1.com',
  },
  {
    id: 'namecheap',
    weight: 48,
    zones: ['registrar-servers.com'],
    ns: fixed('dns1.registrar-servers.com', 'dns2.registrar-servers.com'),
    rname: () => 'hostmaster.registrar-servers.com',
  },
  {
    id: 'ovhcloud',
    network: 'ovhcloud',
    weight: 42,
    zones: ['ovh.net'],
    ns: (m) => ['dns', 'ns'].map((p) => `${p}${m.number('ovh-ns', 10, 19)}.ovh.net`),
    rname: () => 'tech.ovh.net',
  },
  {
    id: 'google-cloud-dns',
    network: 'google',
    weight: 38,
    zones: ['googledomains.com'],
    ns: (m) => {
      const letter = 'abcde'.charAt(m.number('gcd', 0, 4));
      return numbered([1, 2, 3, 4], (n) => `ns-cloud-${letter}${n}.googledomains.com`);
    },
    rname: () => 'cloud-dns-hostmaster.google.com',
    hasVanity: true,
  },
  {
    id: 'azure-dns',
    network: 'microsoft',
    weight: 34,
    zones: ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info'],
    ns: (m) => {
      const pool = String(m.number('az-ns', 1, 9)).padStart(2, '0');
      return ['com', 'net', 'org', 'info'].map((tld, i) => `ns${i + 1}-${pool}.azure-dns.${tld}`);
    },
    rname: () => 'azuredns-hostmaster.microsoft.com',
  },
  {
    id: 'hostinger',
    weight: 32,
    // Hostinger's regular name servers, despite their name.
    zones: ['dns-parking.com'],
    ns: fixed('ns1.dns-parking.com', 'ns2.dns-parking.com'),
    rname: () => 'dns.hostinger.com',
  },
  {
    id: 'ns1',
    network: 'ns1',
    isOwnNetwork: true,
    weight: 22,
    zones: ['nsone.net'],
    ns: (m) => numbered([1, 2, 3, 4], (n) => `dns${n}.p0${m.number('ns1', 1, 9)}.nsone.net`),
    rname: () => 'hostmaster.nsone.net',
    hasVanity: true,
  },
  {
    id: 'akamai-edge-dns',
    network: 'akamai',
    isOwnNetwork: true,
    weight: 22,
    zones: ['akam.net'],
    ns: (m) => {
      const n = m.number('akam', 60, 260);
      return [
        `a1-${n}.akam.net`,
        `a9-${(n % 60) + 3}.akam.net`,
        `a13-${(n % 50) + 5}.akam.net`,
        `a22-${(n % 40) + 7}.akam.net`,
      ];
    },
    rname: () => 'hostmaster.akamai.com',
  },
  {
    id: 'digitalocean',
    network: 'cloudflare',
    weight: 20,
    zones: ['digitalocean.com'],
    ns: fixed('ns1.digitalocean.com', 'ns2.digitalocean.com', 'ns3.digitalocean.com'),
    rname: (m) => `hostmaster.${m.domain}`,
  },
  {
    id: 'gandi',
    network: 'gandi',
    weight: 18,
    zones: ['gandi.net'],
    ns: (m) => ['a', 'b', 'c'].map((x) => `ns-${m.number(`gandi-${x}`, 1, 240)}-${x}.gandi.net`),
    rname: () => 'hostmaster.gandi.net',
  },
  {
    id: 'hetzner',
    network: 'hetzner',
    weight: 17,
    zones: ['ns.hetzner.com', 'ns.hetzner.de'],
    ns: fixed('hydrogen.ns.hetzner.com', 'oxygen.ns.hetzner.com', 'helium.ns.hetzner.de'),
    rname: () => 'dns.hetzner.com',
  },
  {
    id: 'wix',
    weight: 16,
    zones: ['wixdns.net'],
    ns: (m) => {
      const n = m.number('wixns', 0, 7) * 2;
      return [`ns${n}.wixdns.net`, `ns${n + 1}.wixdns.net`];
    },
    rname: () => 'support.wix.com',
  },
  {
    id: 'csc',
    weight: 14,
    zones: ['cscdns.net'],
    ns: fixed('dns1.cscdns.net', 'dns2.cscdns.net'),
    rname: () => 'hostmaster.cscdns.net',
  },
  {
    id: 'ultradns',
    network: 'ultradns',
    isOwnNetwork: true,
    weight: 14,
    zones: ['ultradns.com', 'ultradns.net', 'ultradns.org', 'ultradns.biz'],
    ns: (m) => ['com', 'net', 'org', 'biz'].map((tld) => `pdns${m.number('udns', 1, 210)}.ultradns.${tld}`),
    rname: (m) => `hostmaster.${m.domain}`,
    hasVanity: true,
  },
  {
    id: 'markmonitor',
    weight: 12,
    zones: ['markmonitor.com'],
    ns: fixed('ns1.markmonitor.com', 'ns3.markmonitor.com', 'ns5.markmonitor.com', 'ns7.markmonitor.com'),
    rname: () => 'hostmaster.markmonitor.com',
  },
  {
    id: 'dnsimple',
    network: 'telekom',
    weight: 12,
    zones: ['dnsimple.com', 'dnsimple-edge.net', 'dnsimple-edge.org'],
    ns: fixed('ns1.dnsimple.com', 'ns2.dnsimple-edge.net', 'ns3.dnsimple.com', 'ns4.dnsimple-edge.org'),
    rname: () => 'admin.dnsimple.com',
    hasVanity: true,
  },
  {
    id: 'linode',
    network: 'akamai',
    weight: 11,
    zones: ['linode.com'],
    ns: (_) => numbered([1, 2, 3, 4, 5], (n) => `ns${n}.linode.com`),
    rname: (m) => `admin.${m.domain}`,
  },
  {
    id: 'vercel',
    weight: 11,
    zones: ['vercel-dns.com'],
    ns: fixed('ns1.vercel-dns.com', 'ns2.vercel-dns.com'),
    rname: () => 'hostmaster.vercel-dns.com',
  },
  {
    id: 'wordpress-com',
    weight: 9,
    zones: ['wordpress.com'],
    ns: fixed('ns1.wordpress.com', 'ns2.wordpress.com', 'ns3.wordpress.com'),
    rname: (m) => `hostmaster.${m.domain}`,
  },
  {
    id: 'dyn',
    network: 'dyn',
    isOwnNetwork: true,
    weight: 8,
    zones: ['dynect.net'],
    ns: (m) => numbered([1, 2, 3, 4], (n) => `ns${n}.p${m.number('dyn', 1, 43)}.dynect.net`),
    rname: (m) => `hostmaster.${m.domain}`,
    hasVanity: true,
  },
  {
    id: 'dnspod',
    weight: 8,
    zones: ['dnspod.net'],
    ns: fixed('f1g1ns1.dnspod.net', 'f1g1ns2.dnspod.net'),
    rname: () => 'freednsadmin.dnspod.com',
  },
  {
    id: 'he-dns',
    weight: 7,
    zones: ['he.net'],
    ns: (_) => numbered([1, 2, 3, 4, 5], (n) => `ns${n}.he.net`),
    rname: () => 'hostmaster.he.net',
  },
  {
    id: 'cloudns',
    weight: 7,
    zones: ['cloudns.net'],
    ns: (_) => numbered([31, 32, 33, 34], (n) => `pns${n}.cloudns.net`),
    rname: () => 'support.cloudns.net',
  },
  {
    id: 'scaleway',
    weight: 6,
    zones: ['dom.scw.cloud'],
    ns: fixed('ns0.dom.scw.cloud', 'ns1.dom.scw.cloud'),
    rname: () => 'support.scaleway.com',
  },
  {
    id: 'vultr',
    weight: 5,
    zones: ['vultr.com'],
    ns: fixed('ns1.vultr.com', 'ns2.vultr.com'),
    rname: () => 'dnsadm.choopa.com',
  },
  {
    id: 'bunny',
    weight: 5,
    zones: ['bunny.net'],
    ns: fixed('kiki.bunny.net', 'coco.bunny.net'),
    rname: () => 'hostmaster.bunny.net',
  },
  {
    id: 'gcore',
    weight: 4,
    zones: ['gcorelabs.net', 'gcdn.services'],
    ns: fixed('ns1.gcorelabs.net', 'ns2.gcdn.services'),
    rname: () => 'support.gcore.com',
  },
];

/** Domain sellers and parking services: their name servers mark the domain as parked. */
export const parkingProviders: readonly (DnsTemplate & {
  readonly network: NetworkId;
})[] = [
  {
    id: 'sedo',
    weight: 30,
    network: 'sedo',
    zones: ['sedoparking.com'],
    ns: fixed('ns1.sedoparking.com', 'ns2.sedoparking.com'),
    rname: () => 'hostmaster.sedo.de',
  },
  {
    id: 'afternic',
    weight: 30,
    network: 'amazon-accelerator',
    zones: ['afternic.com'],
    ns: fixed('ns1.afternic.com', 'ns2.afternic.com'),
    rname: () => 'dns.jomax.net',
  },
  {
    id: 'bodis',
    weight: 15,
    network: 'bodis',
    zones: ['bodis.com'],
    ns: fixed('ns1.bodis.com', 'ns2.bodis.com'),
    rname: () => 'dnsadmin.bodis.com',
  },
  {
    id: 'parkingcrew',
    weight: 15,
    network: 'parkingcrew',
    zones: ['parkingcrew.net'],
    ns: fixed('ns1.parkingcrew.net', 'ns2.parkingcrew.net'),
    rname: () => 'hostmaster.parkingcrew.net',
  },
  {
    id: 'dan',
    weight: 10,
    network: 'amazon-accelerator',
    zones: ['dan.com'],
    ns: fixed('ns1.dan.com', 'ns2.dan.com'),
    rname: () => 'hostmaster.dan.com',
  },
];
