// Services beside a site: sign-in, careers, help centre, status page, newsletter, protection against bots and floods.
import type { NetworkRef } from '../dns/networks.ts';
import type { Mint, Random } from '../random.ts';
import { names, type ProviderName, readTemplates } from './template.ts';

/**
 * The vendor hosts a site that `label` of the company's domain is an alias of, the home page loads its script, or its proxy in front of the
 * company's own server sets cookies.
 */
export interface SiteService {
  readonly id: string;
  readonly role: string;
  readonly category: 'web_platform' | 'security';
  readonly weight: number;
  readonly label?: string;
  readonly alias?: (mint: Mint) => string;
  /** Of the aliases, in the vendor's network. */
  readonly suffix?: string;
  readonly network?: NetworkRef;
  readonly asset?: (mint: Mint) => string;
  readonly cookies?: readonly string[];
}

/** Shares of the companies that have a service in the role. */
const SHARES: Readonly<Record<string, number>> = {
  identity: 0.06,
  careers: 0.12,
  help_centre: 0.12,
  status_page: 0.06,
  creator_platform: 0.04,
  bot_protection: 0.15,
  protection: 0.03,
};

const siteServices: readonly SiteService[] = readTemplates('site-services', ['alias', 'asset']);
const byId = new Map(siteServices.map((row) => [row.id, row]));
const byRole = Map.groupBy(siteServices, ({ role }) => role);

export const siteServiceNames: readonly ProviderName[] = siteServices.flatMap(({ suffix, network }) =>
  suffix === undefined || network === undefined ? [] : names(network, ['host'], suffix),
);

/** Ids, at most one for each role. `hasOwnServer`: the site can be behind a proxy. */
export function drawSiteServices(r: Random, { hasOwnServer }: { readonly hasOwnServer: boolean }): readonly string[] {
  const drawn = [...byRole].flatMap(([role, rows]) => (r.chance(SHARES[role] ?? 0) ? [r.weighted(rows)] : []));
  return drawn.filter(({ cookies }) => cookies === undefined || hasOwnServer).map(({ id }) => id);
}

export function siteServicesOf(ids: readonly string[]): readonly SiteService[] {
  return ids.flatMap((id) => byId.get(id) ?? []);
}
