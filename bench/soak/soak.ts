// Days that pass in seconds, for twenty minutes: companies move and are scanned again and again, feeds and advisories are read, clients of
// all kinds ask, subscribers come and go. Does what the processes hold stay as it is?
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/stack/store';
import { startPostgres } from '../../tests/support/database/postgres.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type BenchInternet, startInternet } from '../internet.ts';
import { shortDays } from '../load/days.ts';
import { type LoadedNode, nodesOn } from '../load/nodes-on.ts';
import { type Figure, mib, setting, thousands, useOf } from '../measure.ts';
import { type SoakClients, startSoakClients } from './soak-clients.ts';

/** `STRATA_BENCH_MINUTES=2` to check that it runs; `STRATA_BENCH_STORE=sqlite` for one process on SQLite. */
const MINUTES = setting('MINUTES', 20);
const IS_POSTGRES = process.env.STRATA_BENCH_STORE !== 'sqlite';
const DOMAINS = setting('DOMAINS', 400);
/** Of the companies, those that are in no list. */
const UNHEARD = 40;
/** A company in a hundred changes something on a day. */
const MIGRATION_SHARE = 0.01;
const DAY_MS = 20_000;
const SAMPLE_MS = 10_000;
/** The garbage is collected with every sixth sample: more often would be another life than that of a service. */
const LIVE_EVERY = 6;
/** Events that a node has not handed out yet. */
const SETTLE_MS = 5_000;
/** Of what a figure was in the middle. What 45 days leave in an index of some hundred companies is far within it. */
const MAX_GROWTH = 0.1;
const SETTINGS = {
  // A day comes every few seconds: once on each.
  STRATA_FREE_KEYS_PER_DAY: '1000000',
  STRATA_SCAN_OPTIONS: 'on-demand-per-hour=1000000',
  STRATA_ADVISORIES: '',
  STRATA_FEEDS: 'on',
};

interface Point {
  readonly atMs: number;
  readonly value: number;
}

export async function benchSoak(): Promise<Figure[]> {
  const lengthMs = MINUTES * 60_000;
  const begunAt = Date.now();
  // All of it lies in the past of the real clock, which receipts go by.
  const days = { from: begunAt - (Math.ceil(lengthMs / DAY_MS) + 7) * 86_400_000, begunAt, dayMs: DAY_MS };
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const server = IS_POSTGRES ? stack.use(await startPostgres({ fsync: 'on', shared_buffers: '128MB' })) : undefined;
  const databaseUrl = (await server?.fresh()) ?? `sqlite:${directory.path}/strata.db`;
  const moving = { domains: DOMAINS, migrationShare: MIGRATION_SHARE, days };
  const { ready: internet } = stack.use(await startInternet(moving));
  const [followed, unheard] = [internet.domains.slice(0, -UNHEARD), internet.domains.slice(-UNHEARD)];
  const key = await fill(databaseUrl, { now: shortDays(days), followed, feeds: internet.feeds });
  const running = stack.use(await nodesOn(databaseUrl));
  const nodes: LoadedNode[] = [];
  for (const role of IS_POSTGRES ? (['all', 'api'] as const) : (['all'] as const))
    nodes.push(await running.start(role, { settings: { ...SETTINGS, ...internet.publishers }, internet, days }));

  const stopping = new AbortController();
  const { signal } = stopping;
  const clients = startSoakClients({ bases: nodes.map(({ base }) => base), key, followed, unheard, signal });
  const held = nodes.map(({ role }) => ({ role, heap: [] as Point[], rss: [] as Point[] }));
  const startedAt = performance.now();
  for (let i = 1; performance.now() - startedAt < lengthMs; i += 1) {
    await delay(Math.max(0, startedAt + i * SAMPLE_MS - performance.now()));
    const atMs = performance.now() - startedAt;
    const isLive = i % LIVE_EVERY === 0;
    for (const [at, { child }] of nodes.entries()) {
      const { rss, heapUsed } = await useOf(child, isLive ? 'live' : 'use');
      if (isLive) held[at]?.heap.push({ atMs, value: heapUsed });
      else held[at]?.rss.push({ atMs, value: rss });
    }
    // Twenty minutes are long.
    if (isLive) process.stderr.write(`minute ${Math.round(atMs / 60_000)}: ${clients.requests()} requests\n`);
  }
  await delay(SETTLE_MS);
  const problems = problemsOf(clients);
  stopping.abort();
  await clients.done;
  const passed = `${MINUTES} minutes as ${Math.floor(lengthMs / DAY_MS)} days, ${IS_POSTGRES ? 'PostgreSQL' : 'SQLite'}`;
  const { unexpected } = clients;
  return [
    [
      passed,
      `${thousands(clients.requests())} requests`,
      `unexpected answers: ${unexpected.slice(0, 3).join('; ') || 'none'}`,
    ],
    ['events of the stream', thousands(clients.received[0]?.length ?? 0), problems],
    // In the first quarter code is compiled and caches fill.
    ...held.flatMap(({ role, heap, rss }) =>
      Object.entries({ 'live heap': heap, RSS: rss }).map(([what, points]) =>
        growthFigure(
          `${role}: ${what}`,
          points.filter(({ atMs }) => atMs >= lengthMs / 4),
        ),
      ),
    ),
  ];
}

interface Filling {
  readonly now: () => Date;
  readonly followed: readonly string[];
  readonly feeds: BenchInternet['feeds'];
}

/** Returns a key without a limit. */
async function fill(databaseUrl: string, { now, followed, feeds }: Filling): Promise<string> {
  await using store = await openStore(databaseUrl, { now });
  await store.domains.add(followed, { source: 'bench' });
  const addresses = feeds.map(({ url }) => ({ url }));
  await store.feeds.add(addresses, now());
  return (await store.keys.create({ tier: 'unlimited' })).key;
}

/** Checks what the nodes' permanent subscribers received: every id once, in order, and the same on each. */
function problemsOf({ received }: SoakClients): string {
  const problems = received.flatMap((ids, i) => [
    ...ids.flatMap((id, at) => (at > 0 && !(Number(id) > Number(ids[at - 1])) ? [`${id} out of turn at ${i}`] : [])),
    ...(ids.join() === received[0]?.join() ? [] : [`node ${i} sent other events than the first one`]),
  ]);
  return problems.length === 0
    ? 'each once, in order, the same on all nodes'
    : `WRONG: ${problems.slice(0, 3).join('; ')}`;
}

/** The growth of the least-squares line through the points, from the first to the last. */
function growthFigure(what: string, points: readonly Point[]): Figure {
  if (points.length < 3) return [what, 'too short for a slope'];
  const mean = (of: (each: Point) => number) => points.reduce((sum, each) => sum + of(each), 0) / points.length;
  const [meanAt, meanValue] = [mean(({ atMs }) => atMs), mean(({ value }) => value)];
  const spread = mean(({ atMs }) => (atMs - meanAt) ** 2);
  const perMs = mean(({ atMs, value }) => (atMs - meanAt) * (value - meanValue)) / spread;
  const share = (perMs * ((points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0))) / meanValue;
  const verdict = `${share <= MAX_GROWTH ? 'flat' : 'GROWS'}: at most ${MAX_GROWTH * 100} %`;
  return [
    `${what}, growth over the last three quarters`,
    `${(share * 100).toFixed(1)} % of ${mib(meanValue)}`,
    verdict,
  ];
}
