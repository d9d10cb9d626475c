// The servers of the simulated DNS: root, top-level domains, one per DNS provider, and a recursive resolver.

import { SUFFIXES } from '../companies/names.ts';
import type { Plan, ZoneFault } from '../companies/plan-type.ts';
import { type DnsServer, type Reply, type Responder, startDnsServer } from './dns-server.ts';
import { type DnsRecord, type Model, soaOf } from './published-records.ts';
import { SELF_HOSTED_SERVER as SELF_HOSTED, type ServerAddresses } from './server-addresses.ts';
import { validating } from './validation.ts';
import type { Vantage } from './vantage.ts';

interface NameServers extends AsyncDisposable {
  /** The recursive resolver, for stub use. */
  readonly resolver: { readonly address: string; readonly port: number };
  /** The root server; every server of the tree listens on its port. */
  readonly root: { readonly address: string; readonly port: number };
}

/** A fault of one record type of one domain, or of all its types (`*`). */
type FaultOf = (domain: string, type: string) => 'servfail' | 'timeout' | undefined;

const TTL = 300;
const SLOW_MS = 1_200;
/** The servers have loopback addresses of their own, so that referrals can be followed. */
const ROOT = '127.53.0.1';
const RECURSIVE = '127.0.0.1';
const INFRASTRUCTURE = '127.53.4.1';

/** The addresses of the servers. */
interface Tree {
  readonly tlds: ReadonlyMap<string, string>;
  readonly providers: ServerAddresses;
}

export function treeOf(tlds: readonly string[], providers: ServerAddresses): Tree {
  return { tlds: new Map(tlds.map((tld, i) => [tld, `127.53.1.${i + 1}`])), providers };
}

export async function startNameServers(
  model: Model,
  tree: Tree,
  options: { readonly faultOf: FaultOf; readonly port: number; readonly vantage: Vantage },
): Promise<NameServers> {
  await using stack = new AsyncDisposableStack();
  const front = stack.use(
    await startDnsServer(
      { address: RECURSIVE, port: options.port, isRecursive: true, vantage: options.vantage },
      validating(recursive(model, tree, options.faultOf), model),
    ),
  );
  const servers = stack.use(await startTree(model, tree, options.faultOf));
  const owned = stack.move();
  return {
    resolver: { address: front.address, port: front.port },
    root: { address: ROOT, port: servers.port },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function startTree(model: Model, tree: Tree, faultOf: FaultOf): Promise<AsyncDisposable & { port: number }> {
  const authoritative = authority(model, faultOf);
  const rows: [string, Responder][] = [
    ...[...tree.tlds].map(([tld, address]): [string, Responder] => [address, topLevel(model, tree, tld)]),
    ...tree.providers.all().map((address): [string, Responder] => [address, authoritative]),
    [SELF_HOSTED, authoritative],
    [INFRASTRUCTURE, authoritative],
  ];
  // One port for all; if another program uses it on one of the addresses, the next try draws another.
  for (let tries = 0; ; tries += 1) {
    const servers: DnsServer[] = [];
    try {
      const root = await startDnsServer({ address: ROOT, port: 0, isRecursive: false }, rootZone(tree));
      servers.push(root);
      for (const [address, respond] of rows)
        servers.push(await startDnsServer({ address, port: root.port, isRecursive: false }, respond));
      return {
        port: root.port,
        async [Symbol.asyncDispose]() {
          await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
        },
      };
    } catch (error) {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      if (tries >= 10) throw error;
    }
  }
}

function rootZone(tree: Tree): Responder {
  return ({ name }) => {
    const tld = name.slice(name.lastIndexOf('.') + 1);
    const address = tree.tlds.get(tld);
    if (!address) return { rcode: 'NXDOMAIN', authorities: [soaOf('.')], isAuthoritative: true };
    return referral(tld, [`a.nic.${tld}`], () => address);
  };
}

function topLevel(model: Model, tree: Tree, tld: string): Responder {
  return ({ name, type }) => {
    if (name === tld) return ofItself(tree, tld, type);
    // `co.uk` is not a zone of its own: an empty non-terminal (RFC 8020).
    if (SUFFIXES.some(({ suffix }) => suffix === name))
      return { rcode: 'NOERROR', authorities: [soaOf(tld)], isAuthoritative: true };
    const company = model.companyOf(name);
    // DS lives in the parent, RFC 4035 section 2.4.
    if (company && type === 'DS' && name === company.domain && company.state !== 'nonexistent') {
      const { answers } = model.answer(name, 'DS');
      return { rcode: 'NOERROR', answers, authorities: answers.length > 0 ? [] : [soaOf(tld)], isAuthoritative: true };
    }
    if (company?.state === 'nonexistent')
      return { rcode: 'NXDOMAIN', authorities: [soaOf(tld)], isAuthoritative: true };
    if (company) {
      const { delegatedTo } = model.zone(company);
      // Lame: delegated to a server that does not know the zone.
      const lame = company.fault === 'lame' ? SELF_HOSTED : undefined;
      return referral(
        company.domain,
        delegatedTo,
        (host) => lame ?? tree.providers.of(host) ?? glueOf(model, host) ?? SELF_HOSTED,
      );
    }
    const answer = model.answer(name, 'A');
    const isBelowSuffix = SUFFIXES.some(({ suffix }) => suffix.includes('.') && name.endsWith(`.${suffix}`));
    if (answer.rcode === 'NXDOMAIN' || isBelowSuffix)
      return { rcode: 'NXDOMAIN', authorities: [soaOf(tld)], isAuthoritative: true };
    const zone = name.split('.').slice(-2).join('.');
    return referral(zone, [`ns1.infrastructure.${tld}`], () => INFRASTRUCTURE);
  };
}

/** The address of a name server below the company's own name. */
function glueOf(model: Model, host: string): string | undefined {
  const [glue] = model.answer(host, 'A').answers;
  return glue === undefined ? undefined : String(glue.data);
}

/** A top-level domain's answer for its own apex. */
function ofItself(tree: Tree, tld: string, type: string): Reply {
  const host = `a.nic.${tld}`;
  const soa = soaOf(tld);
  if (type === 'SOA') return { rcode: 'NOERROR', answers: [soa], isAuthoritative: true };
  if (type !== 'NS') return { rcode: 'NOERROR', authorities: [soa], isAuthoritative: true };
  return {
    rcode: 'NOERROR',
    answers: [{ name: tld, type: 'NS', ttl: TTL, data: host }],
    additionals: [{ name: host, type: 'A', ttl: TTL, data: tree.tlds.get(tld) }],
    isAuthoritative: true,
  };
}

/** Glue is given only for hosts in the parent's own zone: other glue would be ignored as out of bailiwick. */
function referral(zone: string, hosts: readonly string[], addressOf: (host: string) => string): Reply {
  const authorities = hosts.map((data): DnsRecord => ({ name: zone, type: 'NS', ttl: TTL, data }));
  const tld = zone.slice(zone.lastIndexOf('.') + 1);
  const additionals = hosts
    .filter((host) => host.endsWith(`.${tld}`))
    .map((name): DnsRecord => ({ name, type: 'A', ttl: TTL, data: addressOf(name) }));
  return { rcode: 'NOERROR', authorities, additionals };
}

function authority(model: Model, faultOf: FaultOf): Responder {
  return ({ name, type }) => {
    const company = model.companyOf(name);
    const broken = company && failure(company, type, faultOf);
    if (broken !== undefined) return broken;
    const { rcode, answers, soa } = model.answer(name, type);
    if (company?.domain === name && type === 'DS')
      return { rcode: 'NOERROR', authorities: [{ ...model.zone(company).soa, name, ttl: 0 }], isAuthoritative: true };
    if (rcode === 'NXDOMAIN' && !company) return { rcode: 'REFUSED' };
    return { rcode, answers, authorities: soa ? [soa] : [], isAuthoritative: true, ...slowly(company) };
  };
}

function recursive(model: Model, tree: Tree, faultOf: FaultOf): Responder {
  return ({ name, type }) => {
    if (type === 'NS' && tree.tlds.has(name)) {
      return { rcode: 'NOERROR', answers: [{ name, type, ttl: TTL, data: `a.nic.${name}` }] };
    }
    const company = model.companyOf(name);
    const broken = company && failure(company, type, faultOf);
    // A recursive resolver reports failures as SERVFAIL.
    if (broken !== undefined) return broken && { rcode: 'SERVFAIL' };
    const { rcode, answers, soa } = model.resolve(name, type);
    return { rcode, answers, authorities: soa ? [soa] : [], ...slowly(company) };
  };
}

/** The reply of a broken zone, null for no reply, undefined if nothing is broken. */
function failure(company: Plan, type: string, faultOf: FaultOf): Reply | null | undefined {
  const injected = faultOf(company.domain, type);
  if (injected) return injected === 'timeout' ? null : { rcode: 'SERVFAIL' };
  if (company.state !== 'broken') return undefined;
  const replies: Readonly<Record<ZoneFault, Reply | null | undefined>> = {
    servfail: { rcode: 'SERVFAIL' },
    lame: { rcode: 'REFUSED' },
    silent: null,
    slow: undefined,
  };
  return company.fault ? replies[company.fault] : undefined;
}

function slowly(company: Plan | undefined): { delayMs?: number } {
  return company?.fault === 'slow' ? { delayMs: SLOW_MS } : {};
}
