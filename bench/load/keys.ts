// Ten thousand keys with quotas, used round-robin at two nodes: what counting them costs, and whether the counts are right.
import { Agent, get, type RequestOptions } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { TIERS, type Tier } from '@strata/db';
import { openStore } from '@strata/stack/store';
import { type PostgresServer, startPostgres } from '../../tests/support/database/postgres.ts';
import { type Figure, median, perSecond, quantile, useOf } from '../measure.ts';
import { postgresCpuSeconds } from './cpu.ts';
import { type LoadedNode, nodesOn } from './nodes-on.ts';
import { companyOf, seedStore } from './seed.ts';

/** `STRATA_BENCH_KEYS` for another number. */
const KEYS = Number(process.env.STRATA_BENCH_KEYS ?? 10_000);
/** One in ten is of the tier whose requests are leased in blocks. */
const LEASED_OF = 10;
/** Of a free key's fifty requests so many are left: each key sends more than that. */
const LEFT = 10;
const ROUNDS = 12;
const COMPANIES = 100;
const CONNECTIONS = 64;
/** Keys that are made at once. */
const AT_ONCE = 8;
/** The most that a node holds of a key without having spent it. */
const LARGEST_BLOCK = 200;
const TIMEOUT_MS = 120_000;

interface LimitedKey {
  readonly id: string;
  readonly key: string;
  readonly tier: Tier;
  answered: number;
  refused: number;
}

export async function benchKeys(): Promise<Figure[]> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB', max_connections: '100' });
  const url = await server.fresh();
  const unlimited = await seedStore(url, COMPANIES);
  await untilDayHasTime();
  const keys = await makeKeys(server, url);
  await using nodes = await nodesOn(url);
  const both = [await nodes.start('api'), await nodes.start('api')];
  const bases = both.map(({ base }) => base);

  // The same answers from memory in both runs: what differs is who asks.
  const alone = await measured({ server, nodes: both }, () => askWith(bases, unlimited));
  const before = await liveOf(both);
  const counted = await measured({ server, nodes: both }, () => askRoundRobin(bases, keys));
  const after = await liveOf(both);
  const held = await countsOf(server, url);
  const settled = await settledCounts(server, url, keys);

  const free = keys.filter(({ tier }) => tier === 'free');
  const leased = keys.filter(({ tier }) => tier !== 'free');
  const used = (counts: ReadonlyMap<string, number>, of: readonly LimitedKey[]) =>
    of.reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0);
  const answers = (of: readonly LimitedKey[]) => of.reduce((sum, { answered }) => sum + answered, 0);
  const number = (value: number) => value.toLocaleString('en-US');
  const wrong = free.filter(({ id, answered }) => answered !== LEFT || settled.get(id) !== TIERS.free);
  const under = keys.filter(({ id, tier, answered }) => (held.get(id) ?? 0) - startOf(tier) < answered);
  const slack = Math.max(...leased.map(({ id, answered }) => (held.get(id) ?? 0) - answered));
  return [
    {
      what: `profiles from memory, ${number(KEYS)} keys with quotas, round-robin, two nodes, ${CONNECTIONS} connections`,
      value: `${perSecond(counted.rate)}, p50 ${counted.p50.toFixed(1)} ms, p99 ${counted.p99.toFixed(1)} ms`,
      against: `one unlimited key ${perSecond(alone.rate)}, p50 ${alone.p50.toFixed(1)} ms, p99 ${alone.p99.toFixed(1)} ms: ${(counted.rate / alone.rate).toFixed(2)} ×`,
    },
    {
      what: 'processor time a request with them',
      value: `nodes ${counted.nodeUs.toFixed(0)} µs, PostgreSQL ${counted.postgresUs.toFixed(0)} µs`,
      against: `with the unlimited key nodes ${alone.nodeUs.toFixed(0)} µs, PostgreSQL ${alone.postgresUs.toFixed(0)} µs`,
    },
    {
      what: `free keys with ${LEFT} of ${TIERS.free} left, each used ${ROUNDS} times`,
      value: `${number(answers(free))} answers, ${number(free.reduce((sum, { refused }) => sum + refused, 0))} refusals, of ${number(free.length)} keys`,
      against:
        wrong.length === 0
          ? `each exactly ${LEFT} answers, and ${TIERS.free} counted`
          : `WRONG: ${wrong.length} keys, ${JSON.stringify(wrong[0])}`,
    },
    {
      what: `keys of ${number(TIERS.standard)} a day, leased in blocks`,
      value: `${number(answers(leased))} answers, ${number(used(held, leased))} counted at once after, ${number(used(settled, leased))} after idle time`,
      against: `${under.length === 0 ? 'no key has fewer counted than answered' : `WRONG: ${under.length} keys have fewer counted than answered`}; most ahead ${slack}, at most ${both.length} × ${LARGEST_BLOCK}`,
    },
    {
      what: 'live memory of a node for each key',
      value: `${((after - before) / both.length / KEYS / 1_024).toFixed(2)} KiB`,
      against: 'heap and buffers after the garbage was collected, the mean of both',
    },
  ];
}

const startOf = (tier: Tier) => (tier === 'free' ? TIERS.free - LEFT : 0);
const today = () => new Date().toISOString().slice(0, 10);

/** Counts are of a UTC day: midnight during the run would reset them. */
async function untilDayHasTime(): Promise<void> {
  const left = 86_400_000 - (Date.now() % 86_400_000);
  if (left < 10 * 60_000) await delay(left + 1_000);
}

async function makeKeys(server: PostgresServer, url: string): Promise<LimitedKey[]> {
  await using store = await openStore(url);
  const keys: LimitedKey[] = [];
  while (keys.length < KEYS) {
    const made = Array.from({ length: Math.min(AT_ONCE, KEYS - keys.length) }, async (_, i) => {
      const tier = (keys.length + i) % LEASED_OF === 0 ? 'standard' : 'free';
      const { key, stored } = await store.keys.create({ tier });
      return { id: stored.id, key, tier, answered: 0, refused: 0 } as const;
    });
    keys.push(...(await Promise.all(made)));
  }
  await server.sql(
    `insert into quota_usage (key_id, day, used) select id, '${today()}', ${startOf('free')} from api_keys where tier = 'free'`,
    nameOf(url),
  );
  return keys;
}

async function liveOf(nodes: readonly LoadedNode[]): Promise<number> {
  const uses = await Promise.all(nodes.map(({ child }) => useOf(child, 'live')));
  return uses.reduce((sum, { heapUsed, external }) => sum + heapUsed + external, 0);
}

async function countsOf(server: PostgresServer, url: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await server.sql(`select key_id, used from quota_usage where day = '${today()}'`, nameOf(url));
  return new Map((rows as { key_id: string; used: string }[]).map(({ key_id, used }) => [key_id, Number(used)]));
}

/** After nodes have returned their unused leases. */
async function settledCounts(server: PostgresServer, url: string, keys: readonly LimitedKey[]) {
  for (const deadline = Date.now() + TIMEOUT_MS; ; await delay(1_000)) {
    const counts = await countsOf(server, url);
    const isSettled = keys.every(({ id, tier, answered }) => (counts.get(id) ?? 0) === startOf(tier) + answered);
    if (isSettled || Date.now() > deadline) return counts;
  }
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);

interface Run {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly nodeUs: number;
  readonly postgresUs: number;
}

interface Measured {
  readonly server: PostgresServer;
  readonly nodes: readonly LoadedNode[];
}

/** `ask` gives the times of all answers. */
async function measured({ server, nodes }: Measured, ask: () => Promise<number[]>): Promise<Run> {
  const used = async () => {
    const uses = await Promise.all(nodes.map(({ child }) => useOf(child)));
    return [uses.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0), await postgresCpuSeconds(server)] as const;
  };
  const [nodesBefore, postgresBefore] = await used();
  const startedAt = performance.now();
  const times = await ask();
  const seconds = (performance.now() - startedAt) / 1_000;
  const [nodesAfter, postgresAfter] = await used();
  return {
    rate: times.length / seconds,
    p50: median(times),
    p99: quantile(times, 0.99),
    nodeUs: ((nodesAfter - nodesBefore) * 1e6) / times.length,
    postgresUs: ((postgresAfter - postgresBefore) * 1e6) / times.length,
  };
}

async function askRoundRobin(bases: readonly string[], keys: readonly LimitedKey[]): Promise<number[]> {
  let turn = 0;
  return askAll(bases, {
    total: keys.length * ROUNDS,
    next: () => keys[turn++ % keys.length] as LimitedKey,
    onAnswer: (limited, status) => {
      if (status === 200) limited.answered += 1;
      else if (status === 429) limited.refused += 1;
      else throw new Error(`answered with ${status}`);
    },
  });
}

/** The same number of requests with one key. */
async function askWith(bases: readonly string[], key: string): Promise<number[]> {
  return askAll(bases, {
    total: KEYS * ROUNDS,
    next: () => ({ key }),
    onAnswer: (_key, status) => {
      if (status !== 200) throw new Error(`answered with ${status}`);
    },
  });
}

interface Asking<Asker extends { readonly key: string }> {
  readonly total: number;
  readonly next: () => Asker;
  readonly onAnswer: (asker: Asker, status: number) => void;
}

/** Times of all answers. Clients alternate between the nodes, so that each node serves each key. */
async function askAll<Asker extends { readonly key: string }>(bases: readonly string[], asking: Asking<Asker>) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS / bases.length });
  const times: number[] = [];
  let asked = 0;
  const ask = async () => {
    while (asked < asking.total) {
      // One further after each round of all keys, or each key would always come to the same node.
      const base = bases[(asked + Math.floor(asked / KEYS)) % bases.length];
      asked += 1;
      const asker = asking.next();
      const url = `${base}/stack/v1/domains/${companyOf(asked % COMPANIES)}`;
      const startedAt = performance.now();
      const status = await statusOf(url, { agent, headers: { 'x-stack-key': asker.key } });
      times.push(performance.now() - startedAt);
      asking.onAnswer(asker, status);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, ask));
  agent.destroy();
  return times;
}

function statusOf(url: string, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, options, (response) => {
      response.on('error', reject).once('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    }).on('error', reject);
  });
}
