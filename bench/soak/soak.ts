// Days that pass in seconds, for twenty minutes: companies move and are scanned again and again, feeds and advisories are read, clients of
// all kinds ask, subscribers come and go. Does what the processes hold stay as it is?
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadedNode } from '../load/nodes-on.ts';
import { type Figure, perSecond, quantile, useOf } from '../measure.ts';
import { scrape } from './scrape.ts';
import { type Point, slopeOf } from './slope.ts';
import { type SoakClients, startSoakClients } from './soak-clients.ts';
import { startSoak } from './soak-parts.ts';

/** `STRATA_BENCH_MINUTES=2` to check that it runs; `STRATA_BENCH_STORE=sqlite` for one process on SQLite. */
const MINUTES = Number(process.env.STRATA_BENCH_MINUTES ?? 20);
const IS_POSTGRES = process.env.STRATA_BENCH_STORE !== 'sqlite';
const DOMAINS = Number(process.env.STRATA_BENCH_DOMAINS ?? 400);
const DAY_MS = 20_000;
const SAMPLE_MS = 10_000;
/** The garbage is collected with every sixth sample: more often would be another life than that of a service. */
const LIVE_EVERY = 6;
const QUARTERS = 4;
/** Events that a node has not handed out yet. */
const SETTLE_MS = 5_000;
const MIB = 2 ** 20;

interface Sample {
  readonly atMs: number;
  readonly rss: number;
  readonly lagMs: number;
  readonly files: number;
  readonly handles: number;
  readonly scans: number;
  /** Answers held ready: bounded by their bytes, not by our questions. */
  readonly answers: number;
  /** What lives, where the garbage was collected. */
  readonly live: { readonly heap: number; readonly buffers: number } | undefined;
}

interface Round {
  readonly atMs: number;
  readonly databaseBytes: number;
  readonly requests: number;
  readonly p99Ms: number;
  readonly nodes: readonly Sample[];
}

export async function benchSoak(): Promise<Figure[]> {
  const lengthMs = MINUTES * 60_000;
  const begunAt = Date.now();
  // All of it lies in the past of the real clock, which receipts go by.
  const days = { from: begunAt - (Math.ceil(lengthMs / DAY_MS) + 7) * 86_400_000, begunAt, dayMs: DAY_MS };
  await using parts = await startSoak({ isPostgres: IS_POSTGRES, days, domains: DOMAINS });
  const { nodes, key, followed, unheard } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const clients = startSoakClients({ bases: nodes.map(({ base }) => base), key, followed, unheard, signal });
  const rounds: Round[] = [];
  let backupMs: Promise<number> | undefined;
  const startedAt = performance.now();
  for (let i = 1; performance.now() - startedAt < lengthMs; i += 1) {
    await delay(Math.max(0, startedAt + i * SAMPLE_MS - performance.now()));
    const atMs = performance.now() - startedAt;
    const isLive = i % LIVE_EVERY === 0;
    const samples = await Promise.all(nodes.map((node) => sample(node, atMs, isLive)));
    rounds.push({ atMs, databaseBytes: await parts.databaseBytes(), ...clients.take(), nodes: samples });
    if (isLive) process.stderr.write(`${progressOf(rounds.at(-1) as Round, nodes)}\n`);
    if (atMs > lengthMs / 2) backupMs ??= parts.backup();
  }
  await delay(SETTLE_MS);
  const lost = missed(clients);
  stopping.abort();
  await clients.done;
  const ms = performance.now() - startedAt;
  return [
    ...figuresOf(clients, { ms, rounds, backupMs: await backupMs, lost }),
    ...nodes.flatMap(({ role }, i) => quartersOf(role, rounds, { node: i, lengthMs })),
    ...nodes.flatMap(({ role }, i) => verdictsOf(role, rounds, { node: i, lengthMs })),
  ];
}

/** Twenty minutes are long. */
function progressOf({ atMs, nodes: samples, p99Ms }: Round, nodes: readonly LoadedNode[]): string {
  const held = samples.map(({ rss, live }, i) => `${nodes[i]?.role} ${mib(rss)}, heap ${mib(live?.heap ?? 0)}`);
  return `minute ${Math.round(atMs / 60_000)}: ${held.join('; ')}; requests p99 ${p99Ms.toFixed(0)} ms`;
}

async function sample({ child, metricsPort }: LoadedNode, atMs: number, isLive: boolean): Promise<Sample> {
  const figures = await scrape(metricsPort);
  const figure = (name: string) => figures.get(name) ?? Number.NaN;
  let live: Sample['live'];
  if (isLive) {
    const { heapUsed, external } = await useOf(child, 'live');
    live = { heap: heapUsed, buffers: external };
    // The lag is measured since the last scrape: discard that of our own collection.
    await scrape(metricsPort);
  }
  return {
    atMs,
    rss: figure('process_resident_memory_bytes'),
    lagMs: figure('nodejs_eventloop_lag_p99_seconds') * 1_000,
    files: figure('process_open_fds'),
    handles: figure('nodejs_active_handles_total'),
    scans: figure('strata_scan_seconds_count'),
    answers: figure('strata_answers_cached'),
    live,
  };
}

/** Checks what the nodes' permanent subscribers received: every id once, in order, and the same on each. */
function missed({ received }: SoakClients): string {
  const problems = received.flatMap((ids, i) => [
    ...ids.flatMap((id, at) => (at > 0 && !(Number(id) > Number(ids[at - 1])) ? [`${id} out of turn at ${i}`] : [])),
    ...(ids.join() === received[0]?.join() ? [] : [`node ${i} sent other events than the first one`]),
  ]);
  return problems.length === 0
    ? 'each once, in order, the same on all nodes'
    : `WRONG: ${problems.slice(0, 3).join('; ')}`;
}

function figuresOf(
  { totals, received }: SoakClients,
  run: {
    readonly ms: number;
    readonly rounds: readonly Round[];
    readonly backupMs: number | undefined;
    readonly lost: string;
  },
): Figure[] {
  const { requests, freeKeys, polls, streams, unexpected } = totals;
  const scans = (run.rounds.at(-1)?.nodes ?? []).reduce((sum, node) => sum + node.scans, 0);
  const figure = (what: string, value: string, against = '') => ({ what, value, against });
  return [
    figure(
      `${(run.ms / 60_000).toFixed(1)} minutes as ${Math.floor(run.ms / DAY_MS)} days, ${DOMAINS} companies, ${IS_POSTGRES ? 'PostgreSQL' : 'SQLite'}`,
      `${scans.toLocaleString('en-US')} scans (${perSecond((scans * 1_000) / run.ms)}), ${requests.toLocaleString('en-US')} requests (${perSecond((requests * 1_000) / run.ms)}), ${polls} polls, ${freeKeys} free keys, ${streams} streams opened`,
    ),
    figure(
      'answers that were none of those expected',
      String(unexpected.length),
      unexpected.slice(0, 3).join('; ') || 'none',
    ),
    figure('events of the stream', String(received[0]?.length), run.lost),
    figure('backup during the run', run.backupMs === undefined ? 'none' : `${(run.backupMs / 1_000).toFixed(1)} s`),
  ];
}

interface Which {
  readonly node: number;
  readonly lengthMs: number;
}

function quartersOf(name: string, rounds: readonly Round[], { node, lengthMs }: Which): Figure[] {
  return Array.from({ length: QUARTERS }, (_, quarter) => {
    const within = rounds.filter(
      ({ atMs }) => Math.min(QUARTERS - 1, Math.floor((atMs / lengthMs) * QUARTERS)) === quarter,
    );
    const samples = within.flatMap(({ nodes }) => nodes[node] ?? []);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const live = samples.flatMap((each) => each.live ?? []);
    const of = (pick: (each: Sample) => number) => samples.map(pick);
    return {
      what: `${name}, quarter ${quarter + 1}: RSS; live heap; live buffers`,
      value: `${mib(mean(of(({ rss }) => rss)))}; ${live.length > 0 ? `${mib(mean(live.map(({ heap }) => heap)))}; ${mib(mean(live.map(({ buffers }) => buffers)))}` : 'not sampled'}`,
      against:
        `event loop p99 ${quantile(
          of(({ lagMs }) => lagMs),
          0.5,
        ).toFixed(0)} ms (worst 10 s: ${Math.max(...of(({ lagMs }) => lagMs)).toFixed(0)} ms), ` +
        `${mean(of(({ files }) => files)).toFixed(0)} files, ${mean(of(({ handles }) => handles)).toFixed(0)} handles, ${mean(of(({ answers }) => answers)).toFixed(0)} answers held ready; ` +
        `requests p99 ${quantile(
          within.map(({ p99Ms }) => p99Ms),
          0.5,
        ).toFixed(0)} ms, database ${mib(within.at(-1)?.databaseBytes ?? Number.NaN)}`,
    };
  });
}

/** Growth over the last three quarters: in the first one code is compiled and caches fill. */
function verdictsOf(name: string, rounds: readonly Round[], { node, lengthMs }: Which): Figure[] {
  const late = rounds.flatMap(({ nodes }) => nodes[node] ?? []).filter(({ atMs }) => atMs >= lengthMs / QUARTERS);
  const verdict = (what: string, samples: readonly Point[], bound?: string): Figure => {
    if (samples.length < 3) return { what: `${name}: ${what}`, value: 'too short for a slope', against: '' };
    const { perHour, error, growth, mean } = slopeOf(samples);
    const perDay = growth / (((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)) / DAY_MS);
    return {
      what: `${name}: ${what} over the last three quarters`,
      value: `${signed(perHour)} MiB/hour (± ${(error / MIB).toFixed(1)}), ${signed(growth)} MiB in all, ${((growth / mean) * 100).toFixed(1)} %; ${signed(perDay * 1_024)} KiB a day lived`,
      against: bound ?? `${growth / mean <= MAX_GROWTH ? 'flat' : 'GROWS'}: at most ${MAX_GROWTH * 100} % in all`,
    };
  };
  const live = late.flatMap(({ atMs, live: each }) => (each ? [{ atMs, ...each }] : []));
  return [
    verdict(
      'live heap',
      live.map(({ atMs, heap }) => ({ atMs, value: heap })),
    ),
    verdict(
      'live buffers, most of them answers held ready',
      live.map(({ atMs, buffers }) => ({ atMs, value: buffers })),
      'no verdict: answers are kept up to 256 MiB, and more are while more was asked for',
    ),
    verdict(
      'RSS',
      late.map(({ atMs, rss: value }) => ({ atMs, value })),
    ),
  ];
}

/** Of what a figure was in the middle. What 45 days leave in an index of some hundred companies is far within it. */
const MAX_GROWTH = 0.1;

const mib = (bytes: number) => `${(bytes / MIB).toFixed(0)} MiB`;
const signed = (bytes: number) => `${bytes < 0 ? '−' : '+'}${Math.abs(bytes / MIB).toFixed(1)}`;
