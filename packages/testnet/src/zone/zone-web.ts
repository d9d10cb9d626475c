// The web part of a zone: addresses and aliases of the apex and `www`, and leaks of a hidden origin.

import type { Plan } from '../companies/plan-type.ts';
import { addressIn, addressV6In, type NetworkRef } from '../dns/networks.ts';
import { ABANDONED_LABEL, abandoned, holders } from '../providers/extras.ts';
import { siteServicesOf } from '../providers/site-services.ts';
import { edgeAddresses } from '../providers/sites.ts';
import type { Mint } from '../random.ts';
import type { World } from '../world.ts';
import type { Put } from './zone-record.ts';

export function networkOfSite({ hosting, accessNetwork }: Plan, { templates }: World): NetworkRef {
  return hosting === 'self' ? accessNetwork : templates.hosting.of(hosting).network;
}

/** The address of the site itself, also behind a CDN. */
export function addressOfOrigin(plan: Plan, mint: Mint, world: World): string {
  if (plan.state === 'parked') return addressIn(world.templates.parking.of(plan.parking).network, plan.parking);
  const apex = plan.hosting === 'self' ? undefined : world.templates.hosting.of(plan.hosting).apex?.[0];
  return apex ?? addressIn(networkOfSite(plan, world), mint.domain);
}

/** IPv4 addresses of the apex. */
export function webAddresses(plan: Plan, mint: Mint, world: World): string[] {
  const { templates } = world;
  if (isIpv6Only(plan, world)) return [];
  if (plan.site === 'refused' || plan.site === 'reset')
    return [addressIn(networkOfSite(plan, world), plan.domain, plan.site)];
  if (plan.cdn) return edgeAddresses(templates.cdn.of(plan.cdn), mint);
  const { apex } = plan.hosting === 'self' ? { apex: undefined } : templates.hosting.of(plan.hosting);
  const special = speaksOldTls(plan, world) ? 'oldTls' : undefined;
  return [...(apex ?? [addressIn(networkOfSite(plan, world), plan.domain, special)])];
}

/** The network of a registrar's server that redirects the apex to `www`; null without redirect. */
export function forwarderOf(plan: Plan, { templates }: World): NetworkRef | null {
  const { situation, site, cdn, dns, hosting } = plan;
  if (!situation.isApexForwarded || site !== 'ok' || cdn !== null || situation.isDangling || plan.isOldTls) return null;
  const registrar = dns.find((id) => holders.has(id) && id !== hosting && templates.hosting.has(id));
  return registrar === undefined ? null : templates.hosting.of(registrar).network;
}

/** Only a site at an address of its own can have a listener of its own. */
function speaksOldTls(plan: Plan, { templates }: World): boolean {
  if (!plan.isOldTls || plan.cdn || plan.site !== 'ok') return false;
  return plan.hosting === 'self' || templates.hosting.of(plan.hosting).apex === undefined;
}

/** Only a site at an address of its own, in a network with IPv6. */
export function isIpv6Only(plan: Plan, world: World): boolean {
  if (!plan.situation.isIpv6Only || plan.cdn || plan.site !== 'ok' || plan.isOldTls) return false;
  const hosting = plan.hosting === 'self' ? undefined : world.templates.hosting.of(plan.hosting);
  if (hosting?.apex || hosting?.www) return false;
  return addressV6In(networkOfSite(plan, world), plan.domain) !== null;
}

/** `www` is an alias of a name that its service no longer knows. */
export function isDangling({ situation, site, cdn }: Plan): boolean {
  return situation.isDangling && site === 'ok' && cdn === null;
}

/** The provider's names that `www` is an alias of. */
export function wwwAliases(plan: Plan, mint: Mint, world: World): readonly string[] {
  const { templates } = world;
  if (plan.site === 'refused' || plan.site === 'reset' || plan.site === 'holding' || isDangling(plan)) return [];
  if (plan.cdn) return templates.cdn.of(plan.cdn).www?.(mint) ?? [];
  if (speaksOldTls(plan, world)) return [];
  return plan.hosting === 'self' ? [] : (templates.hosting.of(plan.hosting).www?.(mint) ?? []);
}

export function putWeb(plan: Plan, mint: Mint, world: World, put: Put): void {
  const addresses = webAddresses(plan, mint, world);
  const forwarder = isIpv6Only(plan, world) ? null : forwarderOf(plan, world);
  const apex = forwarder === null ? addresses : [addressIn(forwarder, `${plan.domain}/forwarder`)];
  for (const address of apex) put('', 'A', address);
  const network = plan.cdn ? world.templates.cdn.of(plan.cdn).network : networkOfSite(plan, world);
  // The behaviour of a listener is encoded in its IPv4 address: those sites have no other.
  const isSpecial = plan.site === 'refused' || plan.site === 'reset' || speaksOldTls(plan, world);
  const hasV6 = (plan.hasIpv6 && !isSpecial) || isIpv6Only(plan, world);
  const v6 = hasV6 && forwarder === null ? addressV6In(network, plan.domain) : null;
  if (v6) put('', 'AAAA', v6);
  const [alias] = wwwAliases(plan, mint, world);
  if (isDangling(plan))
    put('www', 'CNAME', `${ABANDONED_LABEL}${mint.brand}.${abandoned[mint.number('gone', 0, abandoned.length - 1)]}`);
  else if (alias) put('www', 'CNAME', alias);
  else {
    for (const address of addresses) put('www', 'A', address);
    if (v6 && addresses.length === 0) put('www', 'AAAA', v6);
  }
  for (const { label, alias } of siteServicesOf(plan.siteServices)) {
    if (label !== undefined && alias) put(label, 'CNAME', alias(mint));
  }
  if (plan.cdn && plan.situation.leak === 'label') {
    for (const label of ['direct', 'cpanel']) put(label, 'A', addressOfOrigin(plan, mint, world));
  }
}
