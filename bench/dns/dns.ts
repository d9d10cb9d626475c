// Bench of the resolver: answered questions a second at NSD, beside dnsperf, Node's own resolver and its bare sockets; the memory that a
// million names take; and what a message costs.
import { execFile, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver as NodeResolver } from 'node:dns/promises';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Resolver } from '@strata/scan';
import dnsPacket from 'dns-packet';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { collectGarbage, type Figure, median, perSecond, setting, startChild, timed } from '../measure.ts';
import { codecFigures } from './dns-codec.ts';
import { type DnsServers, NAMES, nameOf, startDnsServers } from './dns-servers.ts';

const IN_FLIGHT = 500;
const ROUNDS = 5;
/** Node's own resolver is asked for fewer, since it takes so much longer. */
const NODE_NAMES = NAMES / 5;
const MILLION = setting('DOMAINS', 1_000_000);

export async function benchDns(): Promise<Figure[]> {
  await using servers = await startDnsServers();
  await using directory = await temporaryDirectory();
  const names = Array.from({ length: NAMES }, (_, i) => nameOf(i));
  const task = { names, server: servers.leaf, inFlight: IN_FLIGHT, directory: directory.path };
  return [...(await asStub(servers, task)), await ofAMillion(servers), ...codecFigures()];
}

/** Alternates them all, so that a slow moment of the machine meets each; medians of the rounds. */
async function asStub({ what, leaf }: DnsServers, task: PeerTask): Promise<Figure[]> {
  const rates: Record<'ours' | 'bare' | 'node' | 'dnsperf', Rate[]> = { ours: [], bare: [], node: [], dnsperf: [] };
  const hasDnsperf = isInstalled('dnsperf');
  for (let round = 0; round < ROUNDS; round++) {
    await using resolver = new Resolver({ upstreams: [leaf] });
    rates.ours.push(await rateOf(task.names, (name) => answersOf(resolver, name)));
    rates.bare.push(await runBareSockets(task));
    if (hasDnsperf) rates.dnsperf.push(await runDnsperf(task));
    const node = new NodeResolver();
    node.setServers([`${leaf.address}:${leaf.port}`]);
    rates.node.push(await rateOf(task.names.slice(0, NODE_NAMES), async (name) => (await node.resolve4(name)).length));
  }
  const { ours, bare, node, dnsperf } = rates;
  const middle = (of: readonly Rate[], pick: (rate: Rate) => number) => median(of.map(pick));
  const text = (of: readonly Rate[]) =>
    `${perSecond(middle(of, (rate) => rate.perSecond))}, ${middle(of, (rate) => rate.cpuMicros).toFixed(1)} µs of CPU each`;
  const aCore = perSecond(1e6 / middle(ours, (rate) => rate.cpuMicros));
  // Round by round: a slow moment of the machine affects both sides of a round.
  const times = (fast: readonly Rate[], slow: readonly Rate[]) =>
    `${median(fast.map((rate, i) => rate.perSecond / (slow[i]?.perSecond ?? Number.NaN))).toFixed(1)} ×`;
  return [
    [`stub: ${IN_FLIGHT} in flight, at ${what}`, text(ours), `${aCore} a core; goal 20,000/s a core`],
    hasDnsperf
      ? ['dnsperf', text(dnsperf), `${times(dnsperf, ours)} ours; goal within 4 ×`]
      : ['dnsperf', 'skipped', 'it is not installed'],
    ['`dns.promises.Resolver`', text(node), `ours ${times(ours, node)} as fast; goal 5 ×`],
    ['bare sockets of `node:dgram`', text(bare), 'the least that Node can spend'],
  ];
}

async function ofAMillion({ leaf }: DnsServers): Promise<Figure> {
  await using child = await startChild<{ rssMiB: number; seconds: number }>(
    new URL('./dns-million-process.ts', import.meta.url),
    { upstreams: [leaf], names: MILLION },
  );
  const { rssMiB, seconds } = child.ready;
  return ['RSS after a million names', `${rssMiB} MiB at ${perSecond(MILLION / seconds)}`, 'goal < 1,536 MiB'];
}

async function answersOf(resolver: Resolver, name: string): Promise<number> {
  const { records, status, detail } = await resolver.query(name, 'A');
  if (status !== 'found') throw new Error(`${name}: ${status}, ${detail}`);
  return records.length;
}

/** Throws when a name has no answer: a rate of failures would be no rate. */
async function rateOf(names: readonly string[], ask: (name: string) => Promise<number>): Promise<Rate> {
  collectGarbage();
  const waiting = names.values();
  const asker = async () => {
    for (const name of waiting) if ((await ask(name)) !== 1) throw new Error(`no answer for ${name}`);
  };
  const { seconds, cpuSeconds } = await timed(() => Promise.all(Array.from({ length: IN_FLIGHT }, asker)));
  return { perSecond: names.length / seconds, cpuMicros: (cpuSeconds * 1e6) / names.length };
}

interface Rate {
  /** Answered questions a second of wall time. */
  readonly perSecond: number;
  /** CPU of the asker, µs a question. */
  readonly cpuMicros: number;
}

interface PeerTask {
  readonly names: readonly string[];
  readonly server: { readonly address: string; readonly port: number };
  readonly inFlight: number;
  /** For files that the programs read. */
  readonly directory: string;
}

/** As many sockets as the resolver has for an upstream. */
const BARE_SOCKETS = 4;
const BARE_TIMEOUT_MS = 60_000;

function isInstalled(program: string): boolean {
  return spawnSync(program, ['-h'], { timeout: 10_000 }).error === undefined;
}

/** @throws when more than a hundredth of the questions had no answer: a rate of failures would be no rate. */
async function runDnsperf({ names, server, inFlight, directory }: PeerTask): Promise<Rate> {
  const file = path.join(directory, 'dnsperf.txt');
  await writeFile(file, names.map((name) => `${name} A\n`).join(''));
  // The shell measures the processor time.
  const script = 'TIMEFORMAT="cpu %U %S"; time dnsperf "$@"';
  const { stdout, stderr } = await promisify(execFile)('bash', [
    ...['-c', script, 'bash', '-s', server.address, '-p', String(server.port), '-d', file],
    ...['-n', '1', '-q', String(inFlight), '-c', '4', '-T', '1', '-e', '-t', '10'],
  ]);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  const completed = Number(/Queries completed:\s+(\d+)/.exec(stdout)?.[1] ?? 0);
  if (completed < names.length * 0.99) throw new Error(`dnsperf had ${completed} answers of ${names.length}`);
  const perSecond = Number(/Queries per second:\s+([\d.]+)/.exec(stdout)?.[1]);
  return { perSecond, cpuMicros: ((Number(user) + Number(system)) * 1e6) / completed };
}

/**
 * What Node's sockets take by themselves: questions made beforehand are sent, and answers only counted. No resolver in
 * Node can be cheaper. @throws when answers are missing.
 */
async function runBareSockets({ names, server, inFlight }: PeerTask): Promise<Rate> {
  const queries = names.map((name, id) =>
    dnsPacket.encode({ type: 'query', id: id & 0xffff, flags: 0, questions: [{ type: 'A', name }] }),
  );
  const sockets = Array.from({ length: BARE_SOCKETS }, () =>
    createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 }),
  );
  for (const socket of sockets) {
    socket.connect(server.port, server.address);
    await once(socket, 'connect');
  }
  let sent = 0;
  let answered = 0;
  const all = Promise.withResolvers<void>();
  const sendNext = () => {
    const query = queries[sent];
    if (query !== undefined) sockets[sent++ % BARE_SOCKETS]?.send(query);
  };
  for (const socket of sockets)
    socket.on('message', () => {
      answered += 1;
      if (answered === queries.length) all.resolve();
      else sendNext();
    });
  const late = setTimeout(() => all.reject(new Error(`only ${answered} answers at bare sockets`)), BARE_TIMEOUT_MS);
  try {
    const { seconds, cpuSeconds } = await timed(() => {
      for (let i = 0; i < inFlight; i++) sendNext();
      return all.promise;
    });
    return { perSecond: names.length / seconds, cpuMicros: (cpuSeconds * 1e6) / names.length };
  } finally {
    clearTimeout(late);
    for (const socket of sockets) socket.close();
  }
}
