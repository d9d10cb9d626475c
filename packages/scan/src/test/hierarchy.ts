// Name servers of a small Internet on loopback: each at an address of its own, all on one port, honest unless scripted.
import type { Lookup } from '@strata/detect';
import dnsPacket, { type Answer } from 'dns-packet';
import { Resolver, type ResolverOptions } from '../resolver.ts';
import { a, type DnsQuestion, type DnsScript, type DnsServer, ns, reply, soa, startDnsServer } from './dns-server.ts';

const { AUTHORITATIVE_ANSWER } = dnsPacket;
export const ROOT = '127.66.0.1';
const MAX_CHAIN = 8;

type Records = readonly Answer[];

/** An authoritative answer, in the letter case of the question. */
export const authoritative = (question: DnsQuestion, parts: Parameters<typeof reply>[1] = {}): Buffer =>
  reply(question, { ...parts, flags: AUTHORITATIVE_ANSWER | (parts.flags ?? 0) });

export const delegated = (zone: string, host: string, address: string): Records => [ns(zone, host), a(host, address)];

/** A server that has these zones, as RFC 1034 §4.3.2 says; it refuses what is in none of them. */
export function authority(zones: Readonly<Record<string, Records>>): DnsScript {
  return (question) => {
    const name = question.name.toLowerCase();
    // DS stands above the cut.
    const from = question.type === 'DS' ? parentOf(name) : name;
    const zone = closestOf(from, Object.keys(zones)) ?? closestOf(name, Object.keys(zones));
    if (zone === undefined) return [reply(question, { rcode: 5 })];
    return [fromZone(question, name, { zone, records: zones[zone] ?? [] }, [])];
  };
}

type Zone = { readonly zone: string; readonly records: Records };
function fromZone(question: DnsQuestion, owner: string, of: Zone, answers: Records): Buffer {
  const { zone, records } = of;
  const cuts = records.filter((record) => record.type === 'NS' && record.name !== zone).map(({ name }) => name);
  const cut = closestOf(owner, cuts);
  if (cut !== undefined && !(cut === owner && question.type === 'DS')) {
    const authorities = records.filter((record) => record.type === 'NS' && record.name === cut);
    const hosts = new Set(authorities.map((record) => (record as { data: string }).data));
    const additionals = records.filter(({ name, type }) => hosts.has(name) && (type === 'A' || type === 'AAAA'));
    const flags = answers.length > 0 ? AUTHORITATIVE_ANSWER : 0;
    return reply(question, { answers, authorities, additionals, flags });
  }
  const own = records.filter((record) => record.name === owner);
  const alias = own.find((record) => record.type === 'CNAME');
  if (alias?.type === 'CNAME' && question.type !== 'CNAME' && answers.length < MAX_CHAIN) {
    const links = [...answers, alias];
    return isIn(alias.data, zone)
      ? fromZone(question, alias.data, of, links)
      : authoritative(question, { answers: links });
  }
  const found = own.filter((record) => record.type === question.type);
  if (found.length > 0) return authoritative(question, { answers: [...answers, ...found] });
  const isThere = records.some((record) => isIn(record.name, owner)) || owner === zone;
  return authoritative(question, { answers, authorities: [soa(zone || '.')], rcode: isThere ? 0 : 3 });
}

const parentOf = (name: string) => (name.includes('.') ? name.slice(name.indexOf('.') + 1) : '');
const isIn = (name: string, zone: string) => zone === '' || name === zone || name.endsWith(`.${zone}`);
const closestOf = (name: string, zones: readonly string[]) =>
  zones.filter((zone) => isIn(name, zone)).sort((a, b) => b.length - a.length)[0];

/** A look-up as one text, whatever the order of its records. */
export const plain = ({ status, records, aliases }: Lookup<unknown>) =>
  JSON.stringify([status, records.map((record) => JSON.stringify(record)).sort(), aliases]);

/** Starts a server for each address, and a resolver that begins at `ROOT`. */
export async function startHierarchy(scripts: Readonly<Record<string, DnsScript>>, options: ResolverOptions = {}) {
  const servers = await startAll(scripts);
  const port = servers.get(ROOT)?.port ?? 0;
  const resolver = new Resolver({
    upstreams: ['iterative', { address: ROOT, port }],
    allowAddresses: ['127.66.0.0/16'],
    // A busy machine answers late; tests of silence set shorter times.
    tryTimeoutMs: 10_000,
    totalTimeoutMs: 30_000,
    ...options,
  });
  const query = (name: string, type: 'A' | 'NS' | 'MX' | 'TXT' | 'DS' = 'A') => resolver.query(name, type);
  return {
    resolver,
    port,
    query,
    /** The statuses of questions for the addresses of these names, asked at once. */
    statuses: async (names: readonly string[]) =>
      (await Promise.all(names.map((name) => query(name)))).map(({ status }) => status),
    /** The questions to a server, by its address, in lower case. */
    asked: (server: string): readonly string[] => (servers.get(server)?.asked ?? []).map(lowerName),
    async [Symbol.asyncDispose]() {
      await resolver[Symbol.asyncDispose]();
      await Promise.all([...servers.values()].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

const lowerName = (question: string) => question.replace(/ .*/, (name) => name.toLowerCase());

/** One port for all; when another program has it at one of the addresses, the next try draws another. */
async function startAll(scripts: Readonly<Record<string, DnsScript>>): Promise<Map<string, DnsServer>> {
  for (let tries = 0; ; tries++) {
    const servers = new Map<string, DnsServer>();
    try {
      for (const [address, script] of Object.entries(scripts)) {
        const { port = 0 } = servers.values().next().value ?? {};
        servers.set(address, await startDnsServer(script, { address, port }));
      }
      return servers;
    } catch (error) {
      await Promise.all([...servers.values()].map((server) => server[Symbol.asyncDispose]()));
      if (tries === 10) throw error;
    }
  }
}
