// One node and two on one PostgreSQL, asked the same by as many connections: requests a second, and what each costs whom.
import { availableParallelism } from 'node:os';
import autocannon from 'autocannon';
import { type PostgresServer, startPostgres } from '../../tests/support/database/postgres.ts';
import { type Child, type Figure, median, perSecond, quantile, startChild, useOf } from '../measure.ts';
import { machineCpuSeconds, postgresCpuSeconds } from './cpu.ts';
import { KINDS, type Kind, type MixedQuestion, mixedQuestions } from './mixed-questions.ts';
import { nodesOn } from './nodes-on.ts';
import { seedStore } from './seed.ts';

/** `STRATA_BENCH_DOMAINS` and `STRATA_BENCH_SECONDS` for another size. */
const COMPANIES = Number(process.env.STRATA_BENCH_DOMAINS ?? 20_000);
const SECONDS = Number(process.env.STRATA_BENCH_SECONDS ?? 8);
const WARM_UP_SECONDS = 2;
/** Of all nodes together. */
const CONNECTIONS = 64;
const ROUNDS = 3;
const CORES = availableParallelism();

interface Run {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time a request: of the nodes, of PostgreSQL, of the clients. */
  readonly nodeUs: number;
  readonly postgresUs: number;
  readonly clientUs: number;
  /** Requests for a second of the nodes' own processor time. */
  readonly perCpuSecond: number;
  /** Of the machine's processor time, how much was in use, other processes included. */
  readonly busy: number;
}

export async function benchNodes(): Promise<Figure[]> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB', max_connections: '100' });
  const url = await server.fresh();
  const key = await seedStore(url, COMPANIES);
  const runs: Record<'bare' | 'one' | 'two', Run[]> = { bare: [], one: [], two: [] };
  await using nodes = await nodesOn(url);
  for (let round = 0; round < ROUNDS; round += 1) {
    // New processes each time: no cache holds answers of the round before.
    for (const count of [1, 2]) {
      await using stack = new AsyncDisposableStack();
      const started = [];
      for (let i = 0; i < count; i += 1) started.push(stack.use(await nodes.start('api')));
      const bases = started.map(({ base }) => base);
      if (count === 1) runs.bare.push(await bareRun(server, await sampleBodies(bases[0] ?? '', key)));
      const children = started.map(({ child }) => child);
      runs[count === 1 ? 'one' : 'two'].push(await measuredRun(server, { bases, children, key }));
    }
  }
  const { bare, one, two } = runs;
  const middle = (of: readonly Run[], pick: (run: Run) => number) => median(of.map(pick));
  const rate = (of: readonly Run[]) => middle(of, (run) => run.rate);
  return [
    rowOf('bare Fastify route, the same bytes', bare, ''),
    rowOf('one node', one, `${(rate(one) / rate(bare)).toFixed(2)} × the bare route`),
    rowOf('two nodes', two, `${(rate(two) / rate(one)).toFixed(2)} × one node, on the same ${CORES} cores`),
    ...[['one node', one] as const, ['two nodes', two] as const].map(([what, of]) => ({
      what: `${what}: processor time a request`,
      value: `nodes ${middle(of, (run) => run.nodeUs).toFixed(0)} µs, PostgreSQL ${middle(of, (run) => run.postgresUs).toFixed(0)} µs, clients ${middle(of, (run) => run.clientUs).toFixed(0)} µs`,
      against: `${(middle(of, (run) => run.busy) * 100).toFixed(0)} % of the machine in use`,
    })),
    {
      what: 'requests for a second of a node’s processor time',
      value: `one node ${perSecond(middle(one, (run) => run.perCpuSecond))}, two nodes ${perSecond(middle(two, (run) => run.perCpuSecond))}`,
      against: `of the bare route ${perSecond(middle(bare, (run) => run.perCpuSecond))}. Where each node has a core of its own: as many a node, until PostgreSQL has ${(1e6 / middle(two, (run) => run.postgresUs)).toFixed(0)}/s for each of its cores`,
    },
  ];
}

function rowOf(what: string, of: readonly Run[], against: string): Figure {
  const middle = (pick: (run: Run) => number) => median(of.map(pick));
  return {
    what: `${what}, ${CONNECTIONS} connections, mixed questions about ${COMPANIES.toLocaleString('en-US')} companies`,
    value: `${perSecond(middle((run) => run.rate))}, p50 ${middle((run) => run.p50).toFixed(1)} ms, p99 ${middle((run) => run.p99).toFixed(1)} ms`,
    against,
  };
}

/** What a node answers to a question of each kind. */
async function sampleBodies(base: string, key: string): Promise<Record<Kind, string>> {
  const ask = mixedQuestions(COMPANIES);
  const bodies: Partial<Record<Kind, string>> = {};
  while (KINDS.some((kind) => bodies[kind] === undefined)) {
    const { kind, path } = ask();
    bodies[kind] ??= await (await fetch(base + path, { headers: { 'x-stack-key': key } })).text();
  }
  return bodies as Record<Kind, string>;
}

async function bareRun(server: PostgresServer, bodies: Readonly<Record<Kind, string>>): Promise<Run> {
  await using bare = await startChild<{ port: number }>(new URL('./bare-process.ts', import.meta.url), bodies);
  const bases = [`http://127.0.0.1:${bare.ready.port}`];
  // Awaited here: it ends with this function.
  return await measuredRun(server, { bases, children: [bare], pathOf: ({ kind, path }) => `/${kind}${path}` });
}

interface Asked {
  readonly bases: readonly string[];
  readonly children: readonly Child<unknown>[];
  readonly key?: string;
  readonly pathOf?: (question: MixedQuestion) => string;
}

async function measuredRun(server: PostgresServer, asked: Asked): Promise<Run> {
  const next = mixedQuestions(COMPANIES);
  await askAll(asked, next, WARM_UP_SECONDS);
  const used = async () => ({
    nodes: (await Promise.all(asked.children.map((child) => useOf(child)))).reduce(
      (sum, { cpuSeconds }) => sum + cpuSeconds,
      0,
    ),
    postgres: await postgresCpuSeconds(server),
    client: process.cpuUsage(),
    machine: machineCpuSeconds(),
    at: performance.now(),
  });
  const before = await used();
  const { times, seconds } = await askAll(asked, next, SECONDS);
  const after = await used();
  const client = after.client.user + after.client.system - before.client.user - before.client.system;
  const nodeSeconds = after.nodes - before.nodes;
  return {
    rate: times.length / seconds,
    p50: median(times),
    p99: quantile(times, 0.99),
    nodeUs: (nodeSeconds * 1e6) / times.length,
    postgresUs: ((after.postgres - before.postgres) * 1e6) / times.length,
    clientUs: client / times.length,
    perCpuSecond: times.length / nodeSeconds,
    busy: (after.machine - before.machine) / (((after.at - before.at) / 1_000) * CORES),
  };
}

/** Times of all answers; throws where one is not as expected. */
async function askAll({ bases, key, pathOf = ({ path }) => path }: Asked, next: () => MixedQuestion, duration: number) {
  const times: number[] = [];
  const wrong = new Map<string, number>();
  const count = (what: string, by = 1) => wrong.set(what, (wrong.get(what) ?? 0) + by);
  const headers: Record<string, string> = key === undefined ? {} : { 'x-stack-key': key };
  const startedAt = performance.now();
  await Promise.all(
    bases.map(async (url) => {
      const requests: autocannon.Request[] = [
        {
          setupRequest: (request) => ({ ...request, path: pathOf(next()), headers }),
          onResponse: (status) => {
            if (status !== 200 && status !== 404) count(String(status));
          },
        },
      ];
      const options = { url, requests, connections: CONNECTIONS / bases.length, duration };
      const result = await new Promise<autocannon.Result>((resolve, reject) => {
        const running = autocannon(options, (error, done) => (error ? reject(error) : resolve(done)));
        running.on('response', (_client, _status, _bytes, ms) => times.push(ms));
      });
      if (result.errors > 0) count('broken', result.errors);
    }),
  );
  if (wrong.size > 0) throw new Error(`requests failed: ${JSON.stringify([...wrong])}`);
  return { times, seconds: (performance.now() - startedAt) / 1_000 };
}
