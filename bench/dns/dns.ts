// Bench of the resolver: answered questions a second at NSD, beside dnsperf, massdns, Node's own resolver and its bare
// sockets; the memory that a million names take; and what a message costs.
import { Resolver as NodeResolver } from 'node:dns/promises';
import { Resolver } from '@strata/scan';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { collectGarbage, type Figure, median, perSecond, startChild, timed } from '../measure.ts';
import type { CodecCost, CodecCosts } from './dns-codec-process.ts';
import { isInstalled, type PeerTask, type Rate, runBareSockets, runDnsperf, runMassdns } from './dns-peers.ts';
import { type DnsServers, NAMES, nameOf, startDnsServers } from './dns-servers.ts';

const IN_FLIGHT = 500;
const ROUNDS = 5;
/** Node's own resolver is asked for fewer, since it takes so much longer. */
const NODE_NAMES = 20_000;
const MILLION = 1_000_000;

/** Alternates them all, so that a slow moment of the machine meets each; medians of the rounds. */
export async function benchDns(): Promise<Figure[]> {
  await using servers = await startDnsServers();
  await using directory = await temporaryDirectory();
  const names = Array.from({ length: NAMES }, (_, i) => nameOf(i));
  const task = { names, server: servers.leaf, inFlight: IN_FLIGHT, directory: directory.path };
  return [...(await asStub(servers, task)), await ofAMillion(servers), ...(await ofAMessage())];
}

async function asStub({ what, leaf }: DnsServers, task: PeerTask): Promise<Figure[]> {
  const peers = [
    ['dnsperf', runDnsperf],
    ['massdns', runMassdns],
  ] as const;
  const ours: Rate[] = [];
  const node: Rate[] = [];
  const bare: Rate[] = [];
  const theirs = new Map<string, Rate[]>(peers.filter(([name]) => isInstalled(name)).map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    await using resolver = new Resolver({ upstreams: [leaf] });
    ours.push(await rateOf(task.names, (name) => answersOf(resolver, name)));
    bare.push(await runBareSockets(task));
    for (const [name, run] of peers) theirs.get(name)?.push(await run(task));
    const own = new NodeResolver();
    own.setServers([`${leaf.address}:${leaf.port}`]);
    node.push(await rateOf(task.names.slice(0, NODE_NAMES), async (name) => (await own.resolve4(name)).length));
  }
  const our = medianOf(ours);
  const aCore = 1e6 / our.cpuMicros;
  return [
    { what: `stub: answered questions, ${IN_FLIGHT} in flight, at ${what}`, ...figureOf(our, 'goal: 20,000/s a core') },
    { what: 'stub: of which a core', value: perSecond(aCore), against: 'goal: 20,000/s' },
    ...peers.map(([name]) => {
      const rates = theirs.get(name);
      if (rates === undefined) return { what: name, value: '–', against: `skipped, ${name} is not installed` };
      const rate = medianOf(rates);
      const goal = name === 'dnsperf' ? '; goal: within 4 ×' : '';
      return { what: name, ...figureOf(rate, `${compared(rates, ours)} of ours${goal}`) };
    }),
    {
      what: '`dns.promises.Resolver`',
      ...figureOf(medianOf(node), `ours is ${compared(ours, node)}; goal 5 × as fast`),
    },
    {
      what: 'bare sockets of `node:dgram`, no resolver',
      ...figureOf(medianOf(bare), `${compared(bare, ours)} of ours: no resolver in Node can be cheaper`),
    },
  ];
}

async function ofAMillion({ leaf }: DnsServers): Promise<Figure> {
  await using child = await startChild<{ rssMiB: number; seconds: number }>(
    new URL('./dns-million-process.ts', import.meta.url),
    {
      upstreams: [leaf],
      names: MILLION,
    },
  );
  const { rssMiB, seconds } = child.ready;
  return {
    what: 'stub: RSS after a million names, peak',
    value: `${rssMiB} MiB`,
    against: `${perSecond(MILLION / seconds)}; goal: < 1,536 MiB`,
  };
}

/** In a process whose young generation holds all the garbage of a measurement. */
async function ofAMessage(): Promise<Figure[]> {
  const largeYoungGeneration = ['--min-semi-space-size=128', '--max-semi-space-size=128'];
  await using child = await startChild<{ costs: readonly CodecCosts[] }>(
    new URL('./dns-codec-process.ts', import.meta.url),
    {},
    largeYoungGeneration,
  );
  const cost = ({ nanos, bytes }: CodecCost) => `${nanos.toFixed(0)} ns, ${bytes.toFixed(0)} bytes of garbage`;
  return child.ready.costs.map(({ what, ours, theirs }) => ({
    what,
    value: cost(ours),
    against: `dns-packet ${cost(theirs)}: ${ratio(theirs.nanos / ours.nanos)} the time`,
  }));
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

function medianOf(rates: readonly Rate[]): Rate {
  return {
    perSecond: median(rates.map((rate) => rate.perSecond)),
    cpuMicros: median(rates.map((rate) => rate.cpuMicros)),
  };
}

const figureOf = (rate: Rate, against: string) => ({
  value: `${perSecond(rate.perSecond)}, ${rate.cpuMicros.toFixed(1)} µs of CPU each`,
  against,
});
/** Round by round: a slow moment of the machine affects both sides of a round. CPU time excludes waiting. */
function compared(rates: readonly Rate[], peers: readonly Rate[]): string {
  const each = (of: (rate: Rate, other: Rate) => number) =>
    median(rates.flatMap((rate, i) => (peers[i] ? [of(rate, peers[i])] : [])));
  const fast = each((rate, other) => rate.perSecond / other.perSecond);
  const cheap = each((rate, other) => rate.cpuMicros / other.cpuMicros);
  return `${ratio(fast)} as fast, ${ratio(cheap)} the CPU`;
}
const ratio = (value: number) => `${value.toFixed(1)} ×`;
