// Secondary parts of a stack: forged headers, resellers, rented servers, registrars' pages.
import { readRows } from '../data.ts';
import type { Mint } from '../random.ts';
import { names, type ProviderName, readTemplates } from './template.ts';

/** Misleading `Server` headers: decoys, jokes, and products that are not there. */
export const forgedServers = [
  'Microsoft-IIS/6.0',
  'cloudflare',
  'Apache/1.3.27',
  'gws',
  'none of your business',
  'CERN/3.0',
];

/** A reseller's SPF record that covers every service its customers might use. */
export const resellers: readonly {
  readonly host: string;
  readonly includes: readonly string[];
  readonly network: string;
}[] = [
  {
    host: '_spf.nordwall-mailcloud.de',
    includes: ['spf.protection.outlook.com', 'sendgrid.net'],
    network: 'telekom',
  },
  {
    host: 'spf.tidewater-managed.net',
    includes: ['spf.protection.outlook.com', '_spf.google.com', 'servers.mcsv.net'],
    network: 'comcast',
  },
];

/** A mail server on a rented machine: the exchange has the machine's own name. */
export const rentedServers = readTemplates<{
  readonly suffix: string;
  readonly network: string;
  readonly label: (mint: Mint) => string;
}>('rented-servers', ['label']);

/** Name servers that a reseller brands and another company runs. */
export const whiteLabels: readonly { readonly zone: string; readonly dns: string }[] = [
  { zone: 'nordwall-dns.de', dns: 'cloudns' },
  { zone: 'tidewater-names.net', dns: 'dnsimple' },
  { zone: 'valserre-dns.fr', dns: 'google-cloud-dns' },
];

/** Services whose aliases remain in a zone after the account is closed. */
export const abandoned = ['azurewebsites.net', 'herokudns.com', 'github.io', 'cloudfront.net'];
/** First label of every alias that its service no longer knows. */
export const ABANDONED_LABEL = 'gone-';

interface Holder {
  readonly id: string;
  readonly title: string;
  readonly asset: string;
}

/** Registrars that serve a page of their own until there is a site. */
export const holders: ReadonlyMap<string, Holder> = new Map(readRows<Holder>('holders').map((row) => [row.id, row]));

export const extraNames: readonly ProviderName[] = [
  ...resellers.map(({ host, includes, network }) => ({
    suffix: host,
    network,
    has: ['host'] as const,
    text: `v=spf1 ${includes.map((each) => `include:${each}`).join(' ')} ~all`,
  })),
  ...rentedServers.flatMap(({ suffix, network }) => names(network, ['host'], suffix)),
  ...names('amazon-accelerator', ['host'], 'sedo.com', 'www.afternic.com', 'www.bodis.com', 'www.parkingcrew.net'),
];
