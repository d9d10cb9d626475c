// Every name of the simulated internet and its records: companies, providers' own names, IP-to-ASN zones.

import type { Plan } from '../companies/plan-type.ts';
import { ABANDONED_LABEL } from '../providers/extras.ts';
import { leadingSpf } from '../providers/mail.ts';
import { dkimKey, type ProviderName } from '../providers/template.ts';
import { mintFor } from '../random.ts';
import type { World } from '../world.ts';
import { characterStrings, type Zone, zoneOf } from '../zone/zone.ts';
import type { RecordType, ZoneRecord } from '../zone/zone-record.ts';
import { addressIn, addressV6In, type Network, parseV4, parseV4Prefix } from './networks.ts';

export interface DnsRecord extends ZoneRecord {
  readonly name: string;
  readonly ttl: number;
}

/** The authoritative answer for a name. */
interface ModelAnswer {
  readonly rcode: 'NOERROR' | 'NXDOMAIN';
  readonly answers: readonly DnsRecord[];
  /** For the authority section of a negative answer. */
  readonly soa: DnsRecord | null;
}

interface ModelOptions {
  readonly world: World;
  readonly planOf: (domain: string) => Plan | undefined;
  /** Changes whenever the plan of a domain changes. */
  readonly versionOf: (domain: string) => number;
}

const TTL = 300;
/** Companies' own records: not cacheable, so that advancing the clock takes effect at once. */
const COMPANY_TTL = 0;
/** Zones cached; other zones are rebuilt on demand. */
const MAX_ZONES = 2_000;

export class Model {
  readonly #options: ModelOptions;
  readonly #zones = new Map<string, { version: number; zone: Zone }>();

  readonly #bySuffix = new Map<string, ProviderName[]>();

  constructor(options: ModelOptions) {
    this.#options = options;
    for (const each of options.world.providerNames)
      this.#bySuffix.set(each.suffix, [...(this.#bySuffix.get(each.suffix) ?? []), each]);
  }

  /** The company that a name belongs to. */
  companyOf(name: string): Plan | undefined {
    const labels = name.split('.');
    // Under `co.uk` companies have three labels, under every other suffix two.
    for (const count of [2, 3]) {
      if (labels.length < count) break;
      const plan = this.#options.planOf(labels.slice(-count).join('.'));
      if (plan) return plan;
    }
    return undefined;
  }

  zone(plan: Plan): Zone {
    const version = this.#options.versionOf(plan.domain);
    const kept = this.#zones.get(plan.domain);
    if (kept?.version === version) return kept.zone;
    const zone = zoneOf(plan, this.#options.world);
    if (this.#zones.size >= MAX_ZONES) this.#zones.clear();
    this.#zones.set(plan.domain, { version, zone });
    return zone;
  }

  /** Hosts of a company's MX records. */
  exchangesOf(plan: Plan): string[] {
    const { answers } = this.answer(plan.domain, 'MX');
    return answers.map(({ data }) => (data as { readonly exchange: string }).exchange);
  }

  /** The complete answer, following aliases across zones. */
  resolve(name: string, type: string): ModelAnswer {
    const answers: DnsRecord[] = [];
    let current = name;
    for (let i = 0; i < 12; i += 1) {
      const step = this.answer(current, type);
      answers.push(...step.answers);
      const alias = step.answers.find((record) => record.type === 'CNAME');
      if (!alias || type === 'CNAME') return { ...step, answers };
      current = String(alias.data);
    }
    return { rcode: 'NOERROR', answers, soa: null };
  }

  /** The answer of the zone that contains the name. */
  answer(name: string, type: string): ModelAnswer {
    const company = this.companyOf(name);
    if (company) return this.#ofCompany(company, name, type);
    const { servers } = this.#options.world;
    const origin = asnRecords(name, this.#options.world);
    if (origin) return found(name, type, origin, 'asn.cymru.com');
    // A provider's customers and its name servers may share a suffix; its servers are called ns-something there.
    const provider = this.#ofProvider(name);
    const host = provider && !/^ns\d/.test(name) ? undefined : servers.of(name);
    if (host) return found(name, type, [{ type: 'A', data: host }], parent(name));
    if (provider && !name.startsWith(ABANDONED_LABEL)) return found(name, type, provider, parent(name));
    return { rcode: 'NXDOMAIN', answers: [], soa: soaOf(parent(name)) };
  }

  /** The providers' own names: every name below a listed suffix exists. */
  #ofProvider(name: string): ZoneRecord[] | undefined {
    for (let suffix = name; suffix.includes('.'); suffix = parent(suffix)) {
      const rows = this.#bySuffix.get(suffix);
      if (rows) return rows.flatMap((row) => recordsOf(name, row));
    }
    return undefined;
  }

  #ofCompany(plan: Plan, name: string, type: string): ModelAnswer {
    if (plan.state === 'nonexistent') return { rcode: 'NXDOMAIN', answers: [], soa: soaOf(parent(plan.domain)) };
    const zone = this.zone(plan);
    const soa = { ...zone.soa, name: plan.domain, ttl: COMPANY_TTL };
    const own = zone.records.get(name);
    const isBetween = own === undefined && isAbove(zone, name);
    const records = own ?? (isBetween ? undefined : wildcardFor(zone, name));
    if (!records) return { rcode: isBetween ? 'NOERROR' : 'NXDOMAIN', answers: [], soa };
    const alias = records.filter((record) => record.type === 'CNAME');
    const matching = alias.length > 0 ? alias : records.filter((record) => record.type === type);
    return {
      rcode: 'NOERROR',
      answers: matching.map((record) => ({ ...record, name, ttl: COMPANY_TTL })),
      soa: matching.length > 0 ? null : soa,
    };
  }
}

function found(name: string, type: string, records: readonly ZoneRecord[], zone: string): ModelAnswer {
  const answers = records.filter((record) => record.type === type).map((record) => ({ ...record, name, ttl: TTL }));
  return { rcode: 'NOERROR', answers, soa: answers.length > 0 ? null : soaOf(zone) };
}

export function soaOf(zone: string): DnsRecord {
  // The root's own names have no empty label in the middle.
  const below = zone === '.' ? 'root' : zone;
  const data = {
    mname: `ns1.${below}`,
    rname: `hostmaster.${below}`,
    serial: 1,
    refresh: 10800,
    retry: 3600,
    expire: 604800,
    minimum: 60,
  };
  return { name: zone, type: 'SOA' satisfies RecordType, ttl: TTL, data };
}

const parent = (name: string) => name.slice(name.indexOf('.') + 1) || name;

/** Whether the name is an empty non-terminal (RFC 4592 section 2.2.2). */
function isAbove(zone: Zone, name: string): boolean {
  for (const each of zone.records.keys()) if (each.endsWith(`.${name}`)) return true;
  return false;
}

/** The wildcard at the closest encloser, if there is one (RFC 4592 section 3.3.1). */
function wildcardFor(zone: Zone, name: string): readonly ZoneRecord[] | undefined {
  for (let above = parent(name); above.endsWith(zone.origin); above = parent(above)) {
    const records = zone.records.get(`*.${above}`);
    if (records || zone.records.has(above) || isAbove(zone, above)) return records;
  }
  return undefined;
}

function recordsOf(name: string, { network, has, text }: ProviderName): ZoneRecord[] {
  const own: ZoneRecord[] = text === undefined ? [] : [{ type: 'TXT', data: [text] }];
  return own.concat(
    has.flatMap((kind): ZoneRecord[] => {
      switch (kind) {
        case 'host': {
          const v6 = addressV6In(network, name);
          return [{ type: 'A', data: addressIn(network, name) }, ...(v6 ? [{ type: 'AAAA' as const, data: v6 }] : [])];
        }
        case 'spf':
          return [{ type: 'TXT', data: [leadingSpf(name) ?? `v=spf1 ip4:${addressIn(network, name)} ~all`] }];
        case 'dkim':
          return [{ type: 'TXT', data: characterStrings(dkimKey(mintFor('', name), 'dkim')) }];
        case 'report':
          return name.includes('._report._dmarc.') ? [{ type: 'TXT', data: ['v=DMARC1'] }] : [];
        default:
          return kind satisfies never;
      }
    }),
  );
}

/** Team Cymru's zones, https://www.team-cymru.com/ip-asn-mapping */
function asnRecords(name: string, { networks, servers }: World): ZoneRecord[] | undefined {
  const text = (line: string): ZoneRecord[] => [{ type: 'TXT', data: [line] }];
  const named = /^as(\d+)\.asn\.cymru\.com$/.exec(name);
  if (named) {
    const network = networks.find((each) => each.asn === Number(named[1]));
    return (
      network &&
      text(
        `${network.asn} | ${network.country} | ${network.registry} | ${network.allocated} | ${network.name}, ${network.country}`,
      )
    );
  }
  const v4 = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.origin\.asn\.cymru\.com$/.exec(name);
  if (v4) {
    const dotted = [v4[4], v4[3], v4[2], v4[1]].join('.');
    const origin = ({ asn, country, registry, allocated }: Network, prefix: string) =>
      text(`${asn} | ${prefix} | ${country} | ${registry} | ${allocated}`);
    const ofServer = servers.networkAt(dotted);
    if (ofServer) return origin(ofServer, `${dotted}/32`);
    const address = parseV4(dotted);
    for (const network of networks) {
      for (const prefix of network.v4) {
        const { base, bits } = parseV4Prefix(prefix);
        if (Math.floor(address / 2 ** (32 - bits)) === Math.floor(base / 2 ** (32 - bits))) {
          return origin(network, prefix);
        }
      }
    }
    return undefined;
  }
  const v6 = /^((?:[0-9a-f]\.){32})origin6\.asn\.cymru\.com$/.exec(name);
  if (!v6?.[1]) return undefined;
  const nibbles = v6[1].split('.').reverse().join('');
  for (const network of networks) {
    if (!network.v6) continue;
    const [base = '', bits = '32'] = network.v6.split('/');
    const head = base
      .replace(/::$/, '')
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join('')
      .padEnd(32, '0');
    const full = Math.floor(Number(bits) / 4);
    if (nibbles.slice(0, full) === head.slice(0, full))
      return text(`${network.asn} | ${network.v6} | ${network.country} | ${network.registry} | ${network.allocated}`);
  }
  return undefined;
}
