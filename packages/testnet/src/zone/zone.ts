// A company's zone: every record that follows from its plan.
import { ownerMintFor } from '../companies/owners.ts';
import type { Plan } from '../companies/plan-type.ts';
import { SELF_HOSTED_SERVER } from '../dns/server-addresses.ts';
import { whiteLabels } from '../providers/extras.ts';
import { type Mint, mintFor } from '../random.ts';
import type { World } from '../world.ts';
import { putMail } from './zone-mail.ts';
import type { Put, ZoneRecord } from './zone-record.ts';
import { addressOfOrigin, putWeb, webAddresses, wwwAliases } from './zone-web.ts';

/**
 * Records by full name; a name in the map without the requested type exists and is empty. A first label `*` applies to
 * names that are not in the map (RFC 4592).
 */
export interface Zone {
  readonly origin: string;
  readonly soa: ZoneRecord;
  readonly nameServers: readonly string[];
  /** The parent zone's delegation, if it was not updated after a change. */
  readonly delegatedTo: readonly string[];
  readonly records: ReadonlyMap<string, readonly ZoneRecord[]>;
}

export function zoneOf(plan: Plan, world: World): Zone {
  const mint = mintFor(world.seed, plan.domain);
  const { domain } = plan;
  const records = new Map<string, ZoneRecord[]>();
  const put: Put = (label, type, data) => {
    const name = label === '' ? domain : `${label}.${domain}`;
    const sized = type === 'TXT' && Array.isArray(data) ? data.flatMap((text) => characterStrings(String(text))) : data;
    records.set(name, [...(records.get(name) ?? []), { type, data: sized }]);
  };

  const { nameServers, mname, rname } = serversOf(plan, mint, world);
  const soa = {
    type: 'SOA' as const,
    data: {
      mname,
      rname,
      serial: 2026010100 + mint.number('serial', 0, 9999),
      refresh: 10800,
      retry: 3600,
      expire: 604800,
      minimum: 300,
    },
  };
  for (const host of nameServers) put('', 'NS', host);
  put('', 'SOA', soa.data);
  if (nameServers.some((host) => host.endsWith(`.${domain}`)))
    for (const label of ['ns1', 'ns2']) put(label, 'A', ownServerAddress(plan, mint, world));

  if (plan.state === 'parked') {
    const address = addressOfOrigin(plan, mint, world);
    for (const label of ['', 'www', '*']) put(label, 'A', address);
    put('', 'TXT', ['v=spf1 -all']);
    return { origin: domain, soa, nameServers, delegatedTo: nameServers, records };
  }
  putWeb(plan, mint, world, put);
  putMail(plan, mint, world, put);
  if (plan.isSigned)
    put('', 'DS', {
      keyTag: mint.number('ds', 1, 65535),
      algorithm: 13,
      digestType: 2,
      digest: Buffer.from(mint.hex('ds', 64), 'hex'),
    });
  if (plan.hasCaa) {
    const caa = world.templates.authority.of(plan.authority).caa;
    const spare = plan.situation.spareAuthority;
    const other = spare === null ? null : world.templates.authority.of(spare).caa;
    for (const value of new Set([caa, other])) if (value) put('', 'CAA', { flags: 0, tag: 'issue', value });
  }
  putWildcard(plan, mint, world, put);
  const { formerDns } = plan.situation;
  const delegatedTo = formerDns === null ? nameServers : world.templates.dns.of(formerDns).ns(mint);
  return { origin: domain, soa, nameServers, delegatedTo, records };
}

/** A text as character strings of at most 255 bytes, RFC 1035 section 3.3. */
export function characterStrings(text: string): string[] {
  return text.match(/.{1,255}/gs) ?? [''];
}

/** Whether the provider supports vanity name servers, and this customer uses them. */
export function hasVanityServers({ situation, dns }: Plan, { templates }: World): boolean {
  const [first] = dns;
  if (situation.nameServers !== 'vanity' && situation.nameServers !== 'silent') return false;
  return first !== undefined && templates.dns.of(first).hasVanity === true;
}

/** The zone of the reseller that names the name servers, if one resells this provider. */
export function whiteLabelOf({ situation, dns }: Plan): string | undefined {
  if (situation.nameServers !== 'white-label') return undefined;
  return whiteLabels.find((each) => each.dns === dns[0])?.zone;
}

function serversOf(plan: Plan, mint: Mint, { templates, ...world }: World) {
  if (plan.state === 'parked' && plan.situation.parking === 'name-servers') {
    const parking = templates.parking.of(plan.parking);
    const nameServers = parking.ns(mint);
    return { nameServers, mname: nameServers[0] ?? plan.domain, rname: parking.rname(mint) };
  }
  const own = [`ns1.${plan.domain}`, `ns2.${plan.domain}`];
  const [first] = plan.dns;
  const unnamed = { nameServers: own, mname: own[0] ?? '', rname: `hostmaster.${plan.domain}` };
  if (first === undefined) return unnamed;
  const isVanity = hasVanityServers(plan, { templates, ...world });
  if (isVanity && plan.situation.nameServers === 'silent') return unnamed;
  const provider = templates.dns.of(first);
  const owner = ownerMintFor(world.seed, plan.domain);
  const label = whiteLabelOf(plan);
  const resold = label === undefined ? undefined : [`ns1.${label}`, `ns2.${label}`];
  const nameServers = isVanity ? own : (resold ?? plan.dns.flatMap((id) => templates.dns.of(id).ns(owner)));
  return { nameServers, mname: nameServers[0] ?? '', rname: provider.rname(mint) };
}

/** Glue of servers under the company's own name: the provider's server, or the company's. */
function ownServerAddress(plan: Plan, mint: Mint, world: World): string {
  const [first] = plan.dns;
  const host = first === undefined ? undefined : world.templates.dns.of(first).ns(mint)[0];
  return (host === undefined ? undefined : world.servers.of(host)) ?? SELF_HOSTED_SERVER;
}

function putWildcard(plan: Plan, mint: Mint, world: World, put: Put): void {
  const { wildcard } = plan.situation;
  const address = webAddresses(plan, mint, world)[0];
  switch (wildcard) {
    case 'none':
      break;
    case 'address':
      if (address !== undefined) put('*', 'A', address);
      break;
    case 'alias':
      put('*', 'CNAME', wwwAliases(plan, mint, world)[0] ?? plan.domain);
      break;
    case 'text':
      put('*', 'TXT', ['v=spf1 -all']);
      break;
    case 'exchange':
      put('*', 'MX', { preference: 10, exchange: `mail.${plan.domain}` });
      break;
    case 'selector':
      put('*._domainkey', 'TXT', ['v=DKIM1; p=']);
      break;
    default:
      wildcard satisfies never;
  }
}
