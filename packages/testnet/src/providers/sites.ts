// What a site runs on: hosting, the content network in front of it, its software, its certificate, and the services that its pages load.
import { readRows } from '../data.ts';
import { addressIn, type NetworkRef } from '../dns/networks.ts';
import type { Mint } from '../random.ts';
import type { ServerBuild } from './builds.ts';
import { names, type ProviderName, type Revealed, readTemplates } from './template.ts';

/** What hosting and content networks have in common. */
interface WebTemplate {
  readonly id: string;
  readonly weight: number;
  readonly network: NetworkRef;
  /** Replaces the `server` header of the software or of the origin. */
  readonly server?: string;
  /** Further providers that its records and headers reveal: its underlying network, its own CDN, its security service. */
  readonly also?: readonly Revealed[];
  readonly names: readonly ProviderName[];
}

export interface HostingTemplate extends WebTemplate {
  /** Its addresses are in other companies' networks. */
  readonly isScattered?: true;
  /** The provider's published address for every customer's apex, if it has one. */
  readonly apex?: readonly string[];
  /** Aliases of `www`. Without: www has the apex's address. */
  readonly www?: (mint: Mint) => readonly string[];
  /** Headers that only this provider sends; CDNs pass them on. */
  readonly headers?: (mint: Mint) => Readonly<Record<string, string>>;
  /** Platforms that run here; any if not given. */
  readonly platforms?: readonly string[];
  /** CAs of this provider's certificates; any if not given. */
  readonly issuers?: readonly string[];
}

export interface CdnTemplate extends WebTemplate {
  /** Aliases of `www`; without them, apex and www have the network's addresses (a proxied zone). */
  readonly www?: (mint: Mint) => readonly string[];
  readonly headers: (mint: Mint) => Readonly<Record<string, string>>;
  readonly cookies?: (mint: Mint) => readonly string[];
  /** Requires the same provider's DNS (share of customers). */
  readonly dnsShare?: number;
  readonly issuers: readonly string[];
}

/** Of a data file: `hosts` are suffixes of the names that customers' aliases lead to, `also` are `category provider`. */
type Row<Template> = Omit<Template, 'also' | 'names'> & {
  readonly network: NetworkRef;
  readonly hosts?: readonly string[];
  readonly also?: readonly string[];
};

function webTemplate<Template>({ hosts = [], also, ...row }: Row<Template>) {
  const revealed = also?.map((each) => {
    const [category = '', provider = ''] = each.split(' ');
    return { category, provider };
  });
  return { ...row, ...(revealed ? { also: revealed } : {}), names: names(row.network, ['host'], ...hosts) };
}

export const hostingProviders = readTemplates<Row<HostingTemplate>>('hosting', ['www', 'headers']).map(
  webTemplate<HostingTemplate>,
) as readonly HostingTemplate[];
export const cdns = readTemplates<Row<CdnTemplate>>('cdns', ['www', 'headers', 'cookies']).map(
  webTemplate<CdnTemplate>,
) as readonly CdnTemplate[];

/** Two addresses of the network for a proxied zone or an ALIAS at the apex. */
export function edgeAddresses(cdn: CdnTemplate, mint: Mint): string[] {
  return ['a', 'b'].map((x) => addressIn(cdn.network, `${mint.domain}/${x}`));
}

/** Software of a site: its pages and headers. All assets are the site's own or the platform's. */
export interface PlatformTemplate {
  readonly id: string;
  /** Weight on servers where any platform may run. */
  readonly weight: number;
  readonly isPhp: boolean;
  /** Further providers that its headers reveal: the company that hosts it for all customers. */
  readonly also?: readonly Revealed[];
  readonly generator?: (mint: Mint) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  /** Scripts and styles, paths or URLs. */
  readonly assets: (mint: Mint) => readonly string[];
  /** Attributes on `<html>`, and a block in the body. */
  readonly htmlAttributes?: (mint: Mint) => string;
  readonly body?: (mint: Mint) => string;
}

export const platforms: readonly PlatformTemplate[] = readTemplates('platforms', [
  ...(['generator', 'assets', 'htmlAttributes', 'body'] as const),
]);

/** Server software, in the builds that are in use. */
export interface ServerTemplate {
  readonly id: string;
  readonly weight: number;
  readonly builds: readonly ServerBuild[];
}

const builds = Map.groupBy(readRows<ServerBuild & { readonly server: string }>('builds'), ({ server }) => server);
export const servers: readonly ServerTemplate[] = Object.entries({
  nginx: 52,
  apache: 34,
  'microsoft-iis': 7,
  litespeed: 7,
}).map(([id, weight]) => ({ id, weight, builds: builds.get(id) ?? [] }));

/** A certificate authority: the issuer's organisation, its intermediate's name, and the CAA value that permits it. */
export interface AuthorityTemplate {
  readonly id: string;
  readonly weight: number;
  readonly organisation: string;
  readonly commonName: string;
  readonly country: string;
  readonly caa: string | null;
}

export const authorities = readRows<AuthorityTemplate>('authorities');

/** A service whose script, style or frame is on the page. */
export interface WidgetTemplate {
  readonly id: string;
  readonly weight: number;
  readonly asset: (mint: Mint) => string;
  /** The software of the file, if the service only delivers it. */
  readonly delivers?: string;
}

export const widgets: readonly WidgetTemplate[] = readTemplates('widgets', ['asset']);
