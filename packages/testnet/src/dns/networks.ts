// Which network announces which addresses: real AS numbers with some of their public prefixes, and addresses chosen
// from them.
import { hashOf } from '../random.ts';

export interface Network {
  readonly asn: number;
  /** As in the registry: handle, country. */
  readonly name: string;
  readonly country: string;
  readonly registry: 'arin' | 'ripencc' | 'apnic' | 'lacnic' | 'afrinic';
  readonly allocated: string;
  readonly v4: readonly string[];
  readonly v6?: string;
}

type Row = readonly [
  asn: number,
  name: string,
  country: string,
  registry: Network['registry'],
  allocated: string,
  v4: string,
  v6?: string,
];

// One row per network; several may share an AS number (Amazon's CDN and its servers).
const ROWS = {
  google: [15169, 'GOOGLE - Google LLC', 'US', 'arin', '2000-03-30', '142.250.0.0/15 172.217.0.0/16', '2a00:1450::/32'],
  'google-cloud': [
    396982,
    'GOOGLE-CLOUD-PLATFORM - Google LLC',
    'US',
    'arin',
    '2018-10-16',
    '34.64.0.0/11 35.192.0.0/12',
    '2600:1900::/28',
  ],
  amazon: [
    16509,
    'AMAZON-02 - Amazon.com, Inc.',
    'US',
    'arin',
    '2000-05-04',
    '52.32.0.0/12 3.64.0.0/12',
    '2600:1f00::/24',
  ],
  'amazon-east': [14618, 'AMAZON-AES - Amazon.com, Inc.', 'US', 'arin', '2005-11-04', '54.80.0.0/13 3.208.0.0/12'],
  'amazon-edge': [
    16509,
    'AMAZON-02 - Amazon.com, Inc.',
    'US',
    'arin',
    '2000-05-04',
    '13.224.0.0/14 18.64.0.0/14',
    '2600:9000::/28',
  ],
  'amazon-accelerator': [
    16509,
    'AMAZON-02 - Amazon.com, Inc.',
    'US',
    'arin',
    '2000-05-04',
    '75.2.0.0/17 3.33.128.0/17',
  ],
  vercel: [16509, 'AMAZON-02 - Amazon.com, Inc.', 'US', 'arin', '2000-05-04', '76.76.21.0/24'],
  microsoft: [
    8075,
    'MICROSOFT-CORP-MSN-AS-BLOCK - Microsoft Corporation',
    'US',
    'arin',
    '1997-03-31',
    '20.40.0.0/14 40.112.0.0/13',
    '2603:1000::/24',
  ],
  'microsoft-mail': [
    8075,
    'MICROSOFT-CORP-MSN-AS-BLOCK - Microsoft Corporation',
    'US',
    'arin',
    '1997-03-31',
    '52.96.0.0/14 40.92.0.0/15',
    '2a01:111::/32',
  ],
  'microsoft-edge': [
    8075,
    'MICROSOFT-CORP-MSN-AS-BLOCK - Microsoft Corporation',
    'US',
    'arin',
    '1997-03-31',
    '13.107.246.0/24 13.107.213.0/24',
    '2620:1ec::/36',
  ],
  cloudflare: [
    13335,
    'CLOUDFLARENET - Cloudflare, Inc.',
    'US',
    'arin',
    '2010-07-14',
    '104.16.0.0/13 172.64.0.0/14',
    '2606:4700::/32',
  ],
  shopify: [13335, 'CLOUDFLARENET - Cloudflare, Inc.', 'US', 'arin', '2010-07-14', '23.227.38.0/24'],
  kinsta: [13335, 'CLOUDFLARENET - Cloudflare, Inc.', 'US', 'arin', '2010-07-14', '162.159.134.0/24'],
  hubspot: [209242, 'CLOUDFLARESPECTRUM - Cloudflare, Inc.', 'US', 'arin', '2019-01-24', '199.60.103.0/24'],
  fastly: [
    54113,
    'FASTLY - Fastly, Inc.',
    'US',
    'arin',
    '2011-09-27',
    '151.101.0.0/16 199.232.0.0/16',
    '2a04:4e40::/32',
  ],
  'github-pages': [54113, 'FASTLY - Fastly, Inc.', 'US', 'arin', '2011-09-27', '185.199.108.0/22', '2606:50c0::/32'],
  pantheon: [54113, 'FASTLY - Fastly, Inc.', 'US', 'arin', '2011-09-27', '23.185.0.0/24'],
  akamai: [
    20940,
    'AKAMAI-ASN1 - Akamai International B.V.',
    'NL',
    'ripencc',
    '2001-06-11',
    '2.16.0.0/13 23.32.0.0/13',
    '2a02:26f0::/32',
  ],
  bunny: [
    200325,
    'BUNNYCDN - BUNNYWAY, informacijske storitve d.o.o.',
    'SI',
    'ripencc',
    '2018-04-11',
    '185.93.1.0/24 109.61.83.0/24',
  ],
  keycdn: [44239, 'PROINITY - proinity GmbH', 'CH', 'ripencc', '2014-08-28', '185.172.148.0/22'],
  imperva: [
    19551,
    'INCAPSULA - Incapsula Inc',
    'US',
    'arin',
    '2010-09-17',
    '45.60.0.0/16 107.154.0.0/16',
    '2a02:e980::/29',
  ],
  sucuri: [30148, 'SUCURI-SEC - Sucuri', 'US', 'arin', '2012-11-15', '192.124.249.0/24 192.88.134.0/23'],
  stackpath: [20446, 'STACKPATH-CDN - StackPath, LLC.', 'US', 'arin', '2001-08-03', '151.139.0.0/17'],
  digitalocean: [
    14061,
    'DIGITALOCEAN-ASN - DigitalOcean, LLC',
    'US',
    'arin',
    '2012-09-25',
    '164.90.0.0/16 159.65.0.0/16',
    '2a03:b0c0::/32',
  ],
  hetzner: [
    24940,
    'HETZNER-AS - Hetzner Online GmbH',
    'DE',
    'ripencc',
    '2002-06-03',
    '88.198.0.0/16 49.12.0.0/16',
    '2a01:4f8::/32',
  ],
  ovhcloud: [16276, 'OVH - OVH SAS', 'FR', 'ripencc', '2001-02-15', '51.68.0.0/16 54.36.0.0/16', '2001:41d0::/32'],
  linode: [
    63949,
    'AKAMAI-LINODE-AP - Akamai Connected Cloud',
    'US',
    'arin',
    '2014-06-05',
    '172.104.0.0/15 45.79.0.0/16',
    '2a01:7e00::/32',
  ],
  vultr: [
    20473,
    'AS-VULTR - The Constant Company, LLC',
    'US',
    'arin',
    '2001-05-30',
    '45.76.0.0/16 108.61.0.0/16',
    '2001:19f0::/32',
  ],
  scaleway: [12876, 'ONLINE S.A.S.', 'FR', 'ripencc', '1999-06-15', '51.15.0.0/16 163.172.0.0/16', '2001:bc8::/32'],
  ionos: [8560, 'IONOS-AS - IONOS SE', 'DE', 'ripencc', '1998-02-19', '217.160.0.0/16 82.165.0.0/16', '2001:8d8::/32'],
  godaddy: [
    26496,
    'AS-26496-GO-DADDY-COM-LLC - GoDaddy.com, LLC',
    'US',
    'arin',
    '2002-10-01',
    '160.153.0.0/16 68.178.128.0/17',
  ],
  hostinger: [
    47583,
    'AS-HOSTINGER - Hostinger International Limited',
    'CY',
    'ripencc',
    '2008-09-23',
    '153.92.0.0/20 185.201.8.0/22',
    '2a02:4780::/32',
  ],
  namecheap: [22612, 'NAMECHEAP-NET - Namecheap, Inc.', 'US', 'arin', '2011-02-17', '198.54.112.0/20 162.0.208.0/20'],
  gandi: [29169, 'GANDI-AS - GANDI SAS', 'FR', 'ripencc', '2003-07-02', '217.70.176.0/20', '2001:4b98::/32'],
  squarespace: [
    53831,
    'SQUARESPACE - Squarespace, Inc.',
    'US',
    'arin',
    '2011-03-15',
    '198.185.159.0/24 198.49.23.0/24',
  ],
  wix: [58182, 'WIX_COM - Wix.com Ltd.', 'IL', 'ripencc', '2012-02-22', '185.230.60.0/22'],
  automattic: [2635, 'AUTOMATTIC - Automattic, Inc', 'US', 'arin', '2012-10-02', '192.0.64.0/18', '2a04:fa80::/29'],
  render: [397273, 'RENDER - Render', 'US', 'arin', '2019-05-14', '216.24.57.0/24'],
  zoho: [2639, 'ZOHO-AS - ZOHO', 'US', 'arin', '1993-03-11', '136.143.184.0/21'],
  proton: [62371, 'PROTON - Proton AG', 'CH', 'ripencc', '2014-03-10', '185.70.40.0/22', '2a0d:f740::/29'],
  fastmail: [29838, 'AMC - Fastmail Pty Ltd', 'US', 'arin', '2003-07-28', '103.168.172.0/24'],
  yandex: [13238, 'YANDEX - YANDEX LLC', 'RU', 'ripencc', '1999-11-01', '77.88.0.0/18', '2a02:6b8::/32'],
  apple: [714, 'APPLE-ENGINEERING - Apple Inc.', 'US', 'arin', '1990-12-06', '17.56.0.0/16'],
  rackspace: [33070, 'RMH-14 - Rackspace Hosting', 'US', 'arin', '2004-08-31', '173.203.0.0/16 146.20.160.0/19'],
  proofpoint: [
    22843,
    'PROOFPOINT-ASN-US-EAST - Proofpoint, Inc.',
    'US',
    'arin',
    '2009-04-28',
    '67.231.144.0/20 148.163.128.0/19',
  ],
  mimecast: [
    30031,
    'MIMECAST-US - Mimecast North America Inc',
    'US',
    'arin',
    '2008-08-14',
    '205.139.110.0/24 207.211.30.0/23',
  ],
  barracuda: [15324, 'BARRACUDA-NETWORKS - Barracuda Networks, Inc.', 'US', 'arin', '2014-04-11', '209.222.80.0/21'],
  cisco: [
    16417,
    'IRONPORT-SYSTEMS-INC - Cisco Systems Ironport Division',
    'US',
    'arin',
    '2000-04-26',
    '68.232.128.0/19',
  ],
  hornetsecurity: [24679, 'SSERV-AS - Hornetsecurity GmbH', 'DE', 'ripencc', '2002-04-10', '94.100.128.0/20'],
  symantec: [26282, 'MESSAGELABS-INC - MessageLabs Inc.', 'US', 'arin', '2002-08-12', '67.219.240.0/20'],
  sendgrid: [11377, 'SENDGRID - SendGrid, Inc.', 'US', 'arin', '2009-09-14', '167.89.0.0/17'],
  mailchimp: [
    14782,
    'THEROCKETSCIENCEGROUP - The Rocket Science Group, LLC',
    'US',
    'arin',
    '2008-12-16',
    '205.201.128.0/20',
  ],
  ns1: [62597, 'NSONE - NSONE Inc', 'US', 'arin', '2013-05-30', '198.51.44.0/22', '2620:4d:4000::/48'],
  ultradns: [12008, 'ULTRADNS - NeuStar, Inc.', 'US', 'arin', '1999-03-05', '156.154.64.0/22', '2001:502:f3ff::/48'],
  dyn: [33517, 'DYNDNS - Oracle Corporation', 'US', 'arin', '2004-10-19', '208.78.68.0/22'],
  sedo: [47846, 'SEDO-AS - SEDO GmbH', 'DE', 'ripencc', '2008-10-13', '91.195.240.0/23'],
  bodis: [395082, 'BODIS-NJ - Bodis, LLC', 'US', 'arin', '2015-10-20', '199.59.240.0/22'],
  parkingcrew: [61969, 'TEAMINTERNET-AS - Team Internet AG', 'DE', 'ripencc', '2013-03-07', '185.53.176.0/22'],
  // Access networks: companies that run their own servers, and hosters too small for any catalog.
  telekom: [3320, 'DTAG - Deutsche Telekom AG', 'DE', 'ripencc', '1993-09-14', '87.128.0.0/13', '2003::/19'],
  comcast: [
    7922,
    'COMCAST-7922 - Comcast Cable Communications, LLC',
    'US',
    'arin',
    '1997-02-14',
    '50.192.0.0/13',
    '2601::/20',
  ],
  bt: [
    2856,
    'BT-UK-AS - British Telecommunications PLC',
    'GB',
    'ripencc',
    '1993-09-01',
    '81.128.0.0/12',
    '2a00:2380::/25',
  ],
  orange: [3215, 'AS3215 - Orange S.A.', 'FR', 'ripencc', '1994-03-01', '90.80.0.0/13', '2a01:c000::/19'],
  kpn: [1136, 'KPN - KPN B.V.', 'NL', 'ripencc', '1993-09-01', '77.160.0.0/13', '2a02:a400::/25'],
} as const satisfies Record<string, Row>;

export type NetworkId = keyof typeof ROWS;

const networks: ReadonlyMap<string, Network> = new Map(
  Object.entries<Row>(ROWS).map(([id, [asn, name, country, registry, allocated, v4, v6]]) => [
    id,
    { asn, name, country, registry, allocated, v4: v4.split(' '), ...(v6 ? { v6 } : {}) },
  ]),
);

/** A network of the table, or a custom one. */
export type NetworkRef = NetworkId | Network;

export function networkOf(id: NetworkRef): Network {
  if (typeof id !== 'string') return id;
  const network = networks.get(id);
  if (!network) throw new RangeError(`network ${id}`);
  return network;
}

/**
 * Last octets with a meaning: `dial` maps such an address to a listener with that behaviour, so that no table of
 * addresses is needed. No other address ends with them.
 */
export const SPECIAL_OCTETS = { refused: 251, reset: 252, oldTls: 253 } as const;
type SpecialAddress = keyof typeof SPECIAL_OCTETS;

/** A host's IPv4 address in the network; the same key has the same address. */
export function addressIn(id: NetworkRef, key: string, special?: SpecialAddress): string {
  const { v4 } = networkOf(id);
  const prefix = v4[hashOf('prefix', key) % v4.length] ?? '';
  const { base, bits } = parseV4Prefix(prefix);
  const offset = bits === 32 ? 0 : hashOf('host', key) % 2 ** (32 - bits);
  const low = special ? SPECIAL_OCTETS[special] : 2 + ((offset & 0xff) % 240);
  return formatV4(((base + offset) & 0xffffff00) | low);
}

/** A host's IPv6 address in the network, or null if our table has none for it. */
export function addressV6In(id: NetworkRef, key: string): string | null {
  const { v6 } = networkOf(id);
  if (!v6) return null;
  const head = v6.slice(0, v6.indexOf('::')).split(':');
  while (head.length < 2) head.push('0');
  const group = (purpose: string) => (hashOf(purpose, key) & 0xffff || 1).toString(16);
  return `${head.join(':')}:${group('a')}::${group('b')}:${group('c')}`;
}

export function parseV4Prefix(prefix: string): { base: number; bits: number } {
  const [address = '', bits = '32'] = prefix.split('/');
  return { base: parseV4(address), bits: Number(bits) };
}

export function parseV4(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) >>> 0;
}

function formatV4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
}

export const allNetworks: readonly Network[] = [...networks.values()];
