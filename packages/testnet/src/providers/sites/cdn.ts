// Content networks in front of a site, and which parts of the origin remain visible.
import { addressIn, type NetworkRef } from '../../dns/networks.ts';
import type { Mint } from '../../random.ts';
import { names, type ProviderName, type Revealed } from '../template.ts';

export interface CdnTemplate {
  readonly id: string;
  readonly weight: number;
  readonly network: NetworkRef;
  /** Aliases of `www`; without them, apex and www have the network's addresses (a proxied zone). */
  readonly www?: (mint: Mint) => readonly string[];
  readonly headers: (mint: Mint) => Readonly<Record<string, string>>;
  /** Replaces the origin's `server` header. */
  readonly server?: string;
  readonly cookies?: (mint: Mint) => readonly string[];
  /** Requires the same provider's DNS (share of customers). */
  readonly dnsShare?: number;
  readonly issuers: readonly string[];
  /** Is detected as a security service as well as a network. */
  readonly also?: readonly Revealed[];
  readonly names: readonly ProviderName[];
}

/** `host` is the suffix of the names that customers' aliases lead to, if they have aliases. */
const cdn = (
  id: string,
  weight: number,
  network: string,
  host: string,
  more: Omit<CdnTemplate, 'id' | 'weight' | 'network' | 'names'>,
): CdnTemplate => ({ id, weight, network, names: host ? names(network, ['host'], ...host.split(' ')) : [], ...more });

export const cdns: readonly CdnTemplate[] = [
  cdn('cloudflare', 200, 'cloudflare', '', {
    server: 'cloudflare',
    headers: (m) => ({ 'cf-ray': `${m.hex('ray', 16)}-FRA`, 'cf-cache-status': 'DYNAMIC' }),
    cookies: (m) => (m.number('bm', 0, 2) ? [] : ['__cf_bm']),
    dnsShare: 1,
    issuers: ['google-trust-services', 'lets-encrypt'],
  }),
  cdn('amazon-cloudfront', 70, 'amazon-edge', 'cloudfront.net', {
    www: (m) => [`d${m.code('cf-dist', 13).toLowerCase()}.cloudfront.net`],
    headers: (m) => ({
      via: `1.1 ${m.hex('cf-via', 32)}.cloudfront.net (CloudFront)`,
      'x-cache': 'Miss from cloudfront',
      'x-amz-cf-pop': 'FRA60-P4',
      'x-amz-cf-id': `${m.code('cf-id', 54)}==`,
    }),
    issuers: ['amazon-certificate'],
    also: [{ category: 'hosting', provider: 'amazon-web-services' }],
  }),
  cdn('akamai', 34, 'akamai', 'edgekey.net akamaiedge.net', {
    www: (m) => [`www.${m.domain}.edgekey.net`, `e${m.number('ak', 1000, 99999)}.a.akamaiedge.net`],
    headers: (m) => ({
      'akamai-grn': `0.${m.hex('grn', 8)}.${m.number('grn', 1700000000, 1799999999)}.${m.hex('grn2', 8)}`,
      'x-akamai-transformed': '9 - 0 pmb=mRUM,1',
    }),
    issuers: ['digicert', 'lets-encrypt'],
  }),
  cdn('fastly', 32, 'fastly', 'map.fastly.net', {
    www: (m) => [`${m.brand}.map.fastly.net`],
    headers: (m) => ({
      via: '1.1 varnish',
      'x-served-by': `cache-fra-eddf${m.number('fst', 8230000, 8239999)}-FRA`,
      'x-timer': `S${m.number('fst', 1700000000, 1799999999)}.123456,VS0,VE1`,
      'x-cache': 'HIT',
    }),
    issuers: ['globalsign', 'lets-encrypt'],
  }),
  cdn('imperva', 14, 'imperva', 'x.incapdns.net', {
    www: (m) => [`${m.code('inc', 7).toLowerCase()}.x.incapdns.net`],
    headers: (m) => ({
      'x-iinfo': `${m.number('ii', 1, 60)}-${m.number('ii2', 1000000, 99999999)}-0 0NNN RT(1700000000000 1) q(0 -1 -1 0)`,
      'x-cdn': 'Imperva',
    }),
    cookies: (m) => [
      `visid_incap_${m.number('inc', 100000, 2999999)}`,
      `incap_ses_${m.number('inc2', 100, 1999)}_${m.number('inc', 100000, 2999999)}`,
    ],
    issuers: ['globalsign'],
    also: [{ category: 'security', provider: 'imperva' }],
  }),
  cdn('azure-front-door', 14, 'microsoft-edge', 'azurefd.net', {
    www: (m) => [`${m.brand}-${m.code('afd', 16).toLowerCase()}.z01.azurefd.net`],
    headers: (m) => ({ 'x-azure-ref': `20250101T000000Z-${m.code('afdref', 40)}`, 'x-cache': 'CONFIG_NOCACHE' }),
    issuers: ['digicert'],
    also: [{ category: 'hosting', provider: 'microsoft-azure' }],
  }),
  cdn('sucuri', 11, 'sucuri', '', {
    server: 'Sucuri/Cloudproxy',
    headers: (m) => ({ 'x-sucuri-id': String(m.number('suc', 11000, 19999)), 'x-sucuri-cache': 'MISS' }),
    issuers: ['lets-encrypt', 'godaddy-ca'],
    also: [{ category: 'security', provider: 'sucuri' }],
  }),
  cdn('bunny', 10, 'bunny', 'b-cdn.net', {
    www: (m) => [`${m.brand}.b-cdn.net`],
    server: 'BunnyCDN-DE1-1080',
    headers: (m) => ({
      'cdn-pullzone': String(m.number('bun', 10000, 999999)),
      'cdn-requestid': m.hex('bun', 32),
      'cdn-cache': 'HIT',
    }),
    issuers: ['lets-encrypt'],
  }),
  cdn('keycdn', 6, 'keycdn', 'kxcdn.com', {
    www: (m) => [`${m.brand}-${m.hex('kx', 4)}.kxcdn.com`],
    server: 'keycdn-engine',
    headers: () => ({ 'x-edge-location': 'defr', 'x-cache': 'HIT' }),
    issuers: ['lets-encrypt'],
  }),
  cdn('stackpath', 4, 'stackpath', 'stackpathcdn.com', {
    www: (m) => [`${m.code('sp', 8).toLowerCase()}.stackpathcdn.com`],
    headers: (m) => ({ 'x-sp-edge': m.hex('sp', 8) }),
    issuers: ['lets-encrypt'],
  }),
];

/** Two addresses of the network for a proxied zone or an ALIAS at the apex. */
export function edgeAddresses(cdn: CdnTemplate, mint: Mint): string[] {
  return ['a', 'b'].map((x) => addressIn(cdn.network, `${mint.domain}/${x}`));
}
