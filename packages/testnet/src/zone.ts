// A company's zone: every record that follows from its plan.
import { addressIn, addressV6In, type NetworkId } from './networks.ts';
import type { Plan } from './plan.ts';
import { edgeAddresses } from './providers/cdn.ts';
import { templates } from './providers/index.ts';
import { dkimKey } from './providers/mail.ts';
import { type Mint, mintFor } from './random.ts';
import { policyHost } from './well-known.ts';

/** Loopback address of the server of self-hosted zones: its A records and its glue say the same, and nothing leaves the machine. */
export const SELF_HOSTED_SERVER = '127.53.3.1';

export type RecordType = 'A' | 'AAAA' | 'NS' | 'SOA' | 'MX' | 'TXT' | 'CAA' | 'DS' | 'CNAME';

/** Data in the form that dns-packet encodes. */
export interface ZoneRecord {
  readonly type: RecordType;
  readonly data: unknown;
}

/** Records by full name; a name in the map without the asked type exists and is empty. */
export interface Zone {
  readonly origin: string;
  readonly soa: ZoneRecord;
  readonly nameServers: readonly string[];
  readonly records: ReadonlyMap<string, readonly ZoneRecord[]>;
  /** What any other name below the origin has. */
  readonly wildcard: readonly ZoneRecord[];
}

export function zoneOf(plan: Plan, seed: string): Zone {
  const mint = mintFor(seed, plan.domain);
  const { domain } = plan;
  const records = new Map<string, ZoneRecord[]>();
  const put = (label: string, type: RecordType, data: unknown) => {
    const name = label === '' ? domain : `${label}.${domain}`;
    const sized = type === 'TXT' && Array.isArray(data) ? data.flatMap((text) => characterStrings(String(text))) : data;
    records.set(name, [...(records.get(name) ?? []), { type, data: sized }]);
  };

  const isParked = plan.state === 'parked';
  const { nameServers, mname, rname } = serversOf(plan, mint);
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
    for (const label of ['ns1', 'ns2']) put(label, 'A', SELF_HOSTED_SERVER);

  if (isParked) {
    const { network } = templates.parking.of(plan.parking);
    const address = addressIn(network, plan.parking);
    put('', 'A', address);
    put('www', 'A', address);
    put('', 'TXT', ['v=spf1 -all']);
    return { origin: domain, soa, nameServers, records, wildcard: [{ type: 'A', data: address }] };
  }
  putWeb(plan, mint, put);
  putMail(plan, mint, put);
  if (plan.isSigned)
    put('', 'DS', {
      keyTag: mint.number('ds', 1, 65535),
      algorithm: 13,
      digestType: 2,
      digest: Buffer.from(mint.hex('ds', 64), 'hex'),
    });
  if (plan.hasCaa) {
    const caa = templates.authority.of(plan.authority).caa;
    if (caa) put('', 'CAA', { flags: 0, tag: 'issue', value: caa });
  }
  const wildcard: ZoneRecord[] = plan.hasWildcard ? [{ type: 'A', data: webAddresses(plan, mint)[0] }] : [];
  return { origin: domain, soa, nameServers, records, wildcard };
}

/** A text as character strings of at most 255 bytes, RFC 1035 section 3.3. */
function characterStrings(text: string): string[] {
  return text.match(/.{1,255}/gs) ?? [''];
}

type Put = (label: string, type: RecordType, data: unknown) => void;

function serversOf(plan: Plan, mint: Mint) {
  if (plan.state === 'parked') {
    const parking = templates.parking.of(plan.parking);
    const nameServers = parking.ns(mint);
    return { nameServers, mname: nameServers[0] ?? plan.domain, rname: parking.rname(mint) };
  }
  const own = [`ns1.${plan.domain}`, `ns2.${plan.domain}`];
  const [first] = plan.dns;
  if (first === undefined) return { nameServers: own, mname: own[0] ?? '', rname: `hostmaster.${plan.domain}` };
  const provider = templates.dns.of(first);
  const isVanity = plan.isVanity && provider.hasVanity === true;
  const nameServers = isVanity ? own : plan.dns.flatMap((id) => templates.dns.of(id).ns(mint));
  return { nameServers, mname: nameServers[0] ?? '', rname: provider.rname(mint) };
}

export function networkOfSite(plan: Plan): NetworkId {
  return plan.hosting === 'self' ? plan.accessNetwork : templates.hosting.of(plan.hosting).network;
}

function webAddresses(plan: Plan, mint: Mint): string[] {
  if (plan.site === 'refused' || plan.site === 'reset') return [addressIn(networkOfSite(plan), plan.domain, plan.site)];
  if (plan.cdn) return edgeAddresses(templates.cdn.of(plan.cdn), mint);
  const { apex } = plan.hosting === 'self' ? { apex: undefined } : templates.hosting.of(plan.hosting);
  return [...(apex ?? [addressIn(networkOfSite(plan), plan.domain, speaksOldTls(plan) ? 'oldTls' : undefined)])];
}

/** Only a site at an address of its own can have a listener of its own. */
function speaksOldTls(plan: Plan): boolean {
  if (!plan.isOldTls || plan.cdn || plan.site !== 'ok') return false;
  return plan.hosting === 'self' || templates.hosting.of(plan.hosting).apex === undefined;
}

/** Whether `www` goes through a name of the provider's. */
export function wwwAliases(plan: Plan, mint: Mint): readonly string[] {
  if (plan.site === 'refused' || plan.site === 'reset') return [];
  if (plan.cdn) return templates.cdn.of(plan.cdn).www?.(mint) ?? [];
  if (speaksOldTls(plan)) return [];
  return plan.hosting === 'self' ? [] : (templates.hosting.of(plan.hosting).www?.(mint) ?? []);
}

function putWeb(plan: Plan, mint: Mint, put: Put): void {
  for (const address of webAddresses(plan, mint)) put('', 'A', address);
  const network = plan.cdn ? templates.cdn.of(plan.cdn).network : networkOfSite(plan);
  // What an address's listener does is told by its IPv4 form: those sites have no other.
  const isSpecial = plan.site === 'refused' || plan.site === 'reset' || speaksOldTls(plan);
  const v6 = plan.hasIpv6 && !isSpecial ? addressV6In(network, plan.domain) : null;
  if (v6) put('', 'AAAA', v6);
  const [alias] = wwwAliases(plan, mint);
  if (alias) put('www', 'CNAME', alias);
  else for (const address of webAddresses(plan, mint)) put('www', 'A', address);
}

function putMail(plan: Plan, mint: Mint, put: Put): void {
  const mailbox = templates.mailbox.has(plan.mailbox) ? templates.mailbox.of(plan.mailbox) : null;
  const gateway = plan.gateway ? templates.gateway.of(plan.gateway) : null;
  const hasMail = !['none', 'null-mx'].includes(plan.mailbox);
  const spf: string[] = [];

  if (plan.mailbox === 'null-mx') put('', 'MX', { preference: 0, exchange: '.' });
  else if (gateway) for (const [preference, exchange] of gateway.mx(mint)) put('', 'MX', { preference, exchange });
  else if (mailbox) for (const [preference, exchange] of mailbox.mx(mint)) put('', 'MX', { preference, exchange });
  else if (plan.mailbox === 'regional') put('', 'MX', { preference: 10, exchange: `mx1.${plan.regional}` });
  else if (plan.mailbox === 'self') put('', 'MX', { preference: 10, exchange: `mail.${plan.domain}` });
  if (plan.mailbox === 'self') {
    put('mail', 'A', addressIn(plan.accessNetwork, `${plan.domain}/mail`));
    spf.push('mx');
  }
  if (plan.mailbox === 'regional') spf.push(`include:_spf.${plan.regional}`);
  if (gateway?.spf) spf.push(gateway.spf(mint));
  if (mailbox?.spf) spf.push(mailbox.spf(mint));
  for (const { label, cname, txt } of mailbox?.customer?.(mint) ?? [])
    put(label, cname ? 'CNAME' : 'TXT', cname ?? [txt]);
  if (mailbox?.txt) put('', 'TXT', [mailbox.txt(mint)]);
  if (hasMail) {
    for (const id of plan.senders) {
      const sender = templates.sender.of(id);
      spf.push(`include:${sender.spf(mint)}`);
      for (const { label, cname, txt } of sender.customer?.(mint) ?? [])
        put(label, cname ? 'CNAME' : 'TXT', cname ?? [txt]);
    }
  }
  if (plan.spfAll && spf.length > 0) put('', 'TXT', [`v=spf1 ${spf.join(' ')} ${plan.spfAll}`]);
  else if (plan.spfAll && !hasMail) put('', 'TXT', ['v=spf1 -all']);
  for (const id of plan.tokens) put('', 'TXT', [templates.token.of(id).txt(mint)]);
  if (plan.mailbox === 'self') put('mail._domainkey', 'TXT', [dkimKey(mint, 'self-dkim')]);
  if (plan.dmarc && hasMail) {
    const rua = plan.reports ? `; rua=mailto:${templates.reports.of(plan.reports).address(mint)}` : '';
    put('_dmarc', 'TXT', [`v=DMARC1; p=${plan.dmarc}${rua}`]);
  }
  if (plan.hasMtaSts && hasMail) put('_mta-sts', 'TXT', [`v=STSv1; id=${mint.number('sts', 20240101, 20261231)}`]);
  if (plan.hasMtaSts && hasMail) put('mta-sts', 'A', addressIn('amazon-east', policyHost(plan)));
  if (plan.hasTlsRpt && hasMail) put('_smtp._tls', 'TXT', [`v=TLSRPTv1; rua=mailto:tls@${plan.domain}`]);
  if (plan.hasBimi && hasMail) put('default._bimi', 'TXT', [`v=BIMI1; l=https://${plan.domain}/logo.svg; a=`]);
}
