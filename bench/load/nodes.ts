// One node and two on one PostgreSQL, asked the same by as many connections.
import { availableParallelism, cpus } from 'node:os';
import { startPostgres } from '../../tests/support/database/postgres.ts';
import { httpLoad } from '../http-load.ts';
import { type Figure, median, perSecond, quantile, setting, thousands } from '../measure.ts';
import { nodesOn } from './nodes-on.ts';
import { companyOf, seedStore } from './seed.ts';

const COMPANIES = setting('DOMAINS', 20_000);
const SECONDS = setting('SECONDS', 8);
const WARM_UP_SECONDS = 2;
/** Of all nodes together. */
const CONNECTIONS = 64;
const ROUNDS = 3;

export async function benchNodes(): Promise<Figure[]> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB', max_connections: '100' });
  const url = await server.fresh();
  const key = await seedStore(url, COMPANIES);
  const runs: Record<'one node' | 'two nodes', Run[]> = { 'one node': [], 'two nodes': [] };
  await using nodes = await nodesOn(url);
  for (let round = 0; round < ROUNDS; round += 1) {
    // New processes each time: no cache holds answers of the round before.
    for (const count of [1, 2]) {
      await using stack = new AsyncDisposableStack();
      const bases: string[] = [];
      for (let i = 0; i < count; i += 1) bases.push(stack.use(await nodes.start('api')).base);
      runs[count === 1 ? 'one node' : 'two nodes'].push(await measuredRun(bases, key));
    }
  }
  return Object.entries(runs).map(([what, of]): Figure => {
    const middle = (pick: (run: Run) => number) => median(of.map(pick));
    return [
      `${what}, ${CONNECTIONS} connections, mixed questions about ${thousands(COMPANIES)} companies`,
      `${perSecond(middle(({ rate }) => rate))}, p99 ${middle(({ p99 }) => p99).toFixed(1)} ms`,
      `${(middle(({ busy }) => busy) * 100).toFixed(0)} % of the machine in use`,
    ];
  });
}

interface Run {
  readonly rate: number;
  readonly p99: number;
  /** Of the machine's processor time, how much was in use, other processes included. */
  readonly busy: number;
}

async function measuredRun(bases: readonly string[], key: string): Promise<Run> {
  const next = mixedQuestions(COMPANIES);
  const load = { next, headers: { 'x-stack-key': key }, connections: CONNECTIONS / bases.length, expected: [200, 404] };
  const ask = (duration: number) => Promise.all(bases.map((url) => httpLoad({ ...load, url, duration })));
  await ask(WARM_UP_SECONDS);
  const [usedBefore, startedAt] = [machineCpuSeconds(), performance.now()];
  const answered = await ask(SECONDS);
  const seconds = (performance.now() - startedAt) / 1_000;
  const times = answered.flatMap((each) => each.times);
  return {
    rate: times.length / seconds,
    p99: quantile(times, 0.99),
    busy: (machineCpuSeconds() - usedBefore) / (seconds * availableParallelism()),
  };
}

/** Seconds since the start of the machine in which a core worked, all cores together, for any process. */
function machineCpuSeconds(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) / 1_000, 0);
}

const ROUND = [
  ...(['known', 'profile', 'changes', 'profile', 'search'] as const),
  ...(['profile', 'changes', 'market', 'profile', 'missing'] as const),
];
/** Companies whose profiles are asked for again and again. */
const WELL_KNOWN = 20;
const CATEGORIES = ['dns', 'email', 'cdn', 'hosting', 'email_sending'] as const;

/** Paths, one after the other; every new profile comes once before any comes twice. */
function mixedQuestions(companies: number): () => string {
  let turn = -1;
  let fresh = WELL_KNOWN;
  return () => {
    turn += 1;
    switch (ROUND[turn % ROUND.length]) {
      case 'known':
        return `/stack/v1/domains/${companyOf(turn % WELL_KNOWN)}`;
      case 'changes':
        return `/stack/v1/domains/${companyOf((turn * 7) % companies)}/changes`;
      case 'search':
        return `/stack/v1/search?q=${turn % 1_000}&limit=20`;
      case 'market':
        return `/stack/v1/intelligence/market-share?category=${CATEGORIES[turn % CATEGORIES.length]}`;
      case 'missing':
        return `/stack/v1/providers/unknown-${turn}`;
      default:
        fresh = fresh + 1 < companies ? fresh + 1 : WELL_KNOWN;
        return `/stack/v1/domains/${companyOf(fresh)}`;
    }
  };
}
