// Bench of the resolver: answered questions a second at NSD, beside dnsperf, Node's own resolver and its bare sockets; the memory that a
// million names take; and what a message costs.
import { Resolver as NodeResolver } from 'node:dns/promises';
import { Resolver } from '@strata/scan';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { collectGarbage, type Figure, median, perSecond, setting, startChild, timed } from '../measure.ts';
import { codecFigures } from './dns-codec.ts';
import { isInstalled, type PeerTask, type Rate, runBareSockets, runDnsperf } from './dns-peers.ts';
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
