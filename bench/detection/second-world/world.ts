// The second world: companies with what they publish, and the answers of a recursive resolver.
import { type DnsRecord, mintFor, type Question, type Reply } from '@strata/testnet';
import { networkAt } from './address.ts';
import { type Company, domainAt, drawCompany } from './company.ts';
import { type Published, publish, type ZoneRecord } from './publish.ts';
import { loadNetworks, loadServices, type Network, WORLD_ROLES } from './service.ts';

export interface Citizen extends Company, Published {}

export interface SecondWorld {
  readonly companies: readonly Citizen[];
  readonly answer: (question: Question) => Reply;
  /** The company of a host name. */
  readonly companyOf: (host: string) => Citizen | undefined;
}

export interface SecondWorldOptions {
  readonly seed: string;
  readonly companies: number;
}

export function createSecondWorld({ seed, companies: count }: SecondWorldOptions): SecondWorld {
  const services = loadServices();
  const networks = loadNetworks();
  const byRole = new Map(WORLD_ROLES.map((role) => [role, services.filter((service) => service.role === role)]));
  const domains = new Set(Array.from({ length: count }, (_, number) => domainAt(number, seed)));
  const companies = [...domains].map((domain): Citizen => {
    const company = drawCompany(domain, byRole, seed);
    return { ...company, ...publish(company, { mint: mintFor(seed, domain), networks }) };
  });
  const byDomain = new Map(companies.map((company) => [company.domain, company]));
  const names = new Map(companies.flatMap((company) => [...company.names]));
  const companyOf = (host: string) => {
    const labels = host.split('.');
    return byDomain.get(labels.slice(-2).join('.')) ?? byDomain.get(labels.slice(-3).join('.'));
  };

  /** The records of a name; undefined where it does not exist. */
  const recordsAt = (name: string): readonly ZoneRecord[] | undefined => {
    const network = networkRecords(name, networks.values());
    if (network) return network;
    if (name.includes('._report._dmarc.')) return [{ type: 'TXT', data: ['v=DMARC1'] }];
    const known = names.get(name);
    const company = companyOf(name);
    if (known || !company) return known ?? (isTop(name) ? [] : undefined);
    // A name between the domain and an existing one exists: no wildcard applies to it or below it (RFC 4592 §2.2.2, §3.3.1).
    const isThere = (above: string) => [...company.names.keys()].some((each) => `.${each}`.endsWith(`.${above}`));
    if (isThere(name)) return [];
    const [parent = ''] = /(?<=\.).+/.exec(name) ?? [];
    return isThere(parent) && parent !== company.domain ? undefined : company.names.get(`*.${company.domain}`);
  };

  const answer = ({ name, type }: Question): Reply => {
    const company = companyOf(name);
    if (company?.state === 'broken') return { rcode: 'SERVFAIL' };
    const soa = (owner: string): DnsRecord => ({ name: owner, type: 'SOA', ttl: 60, data: SOA });
    if (company?.state === 'dead') return { rcode: 'NXDOMAIN', authorities: [soa('com')] };
    const answers: DnsRecord[] = [];
    let owner = name;
    for (let links = 0; links < 12; links += 1) {
      const records = recordsAt(owner);
      const current = owner;
      const own = (records ?? []).filter((record) => record.type === type || record.type === 'CNAME');
      answers.push(...own.map((record) => ({ ...record, name: current, ttl: 300 }) as DnsRecord));
      const alias = own.find((record) => record.type === 'CNAME');
      if (alias && type !== 'CNAME') {
        owner = String(alias.data);
        continue;
      }
      const rcode = records === undefined ? 'NXDOMAIN' : 'NOERROR';
      return { rcode, answers, ...(own.length === 0 ? { authorities: [soa(companyOf(owner)?.domain ?? 'com')] } : {}) };
    }
    return { rcode: 'SERVFAIL' };
  };
  return { companies, answer, companyOf };
}

const SOA = {
  ...{ mname: 'a.example.net', rname: 'hostmaster.example.net', serial: 1, refresh: 7_200, retry: 3_600 },
  ...{ expire: 1_209_600, minimum: 60 },
};

const isTop = (name: string) => !name.includes('.') || ['co.uk', 'com.au'].includes(name);

/** Team Cymru's zones: the network that announces an address, and its name. */
function networkRecords(name: string, networks: Iterable<Network>): readonly ZoneRecord[] | undefined {
  const zone = '.origin.asn.cymru.com';
  if (name.endsWith(zone)) {
    const address = name.slice(0, -zone.length).split('.').reverse().join('.');
    const network = networkAt(networks, address);
    return network && [{ type: 'TXT', data: [`${network.asn} | ${network.prefix} | US | arin | 2010-01-01`] }];
  }
  const number = /^as(\d+)\.asn\.cymru\.com$/.exec(name)?.[1];
  const network = number && [...networks].find(({ asn }) => asn === Number(number));
  return network
    ? [{ type: 'TXT', data: [`${network.asn} | US | arin | 2010-01-01 | ${network.name}, US`] }]
    : undefined;
}
