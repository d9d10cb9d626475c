// Ten thousand keys with quotas, used round-robin at two nodes: what counting them costs, and whether the counts are right.
import { Agent, get, type RequestOptions } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { TIERS } from '@strata/db';
import { openStore } from '@strata/stack/store';
import { type PostgresServer, startPostgres } from '../../tests/support/database/postgres.ts';
import { type Figure, perSecond, quantile, setting, thousands, timed, timesOf } from '../measure.ts';
import { nodesOn } from './nodes-on.ts';
import { companyOf, seedStore } from './seed.ts';

const KEYS = setting('KEYS', 10_000);
/** One in ten is of the tier whose requests are leased in blocks. */
const LEASED_OF = 10;
/** Of a free key's fifty requests so many are left: each key sends more than that. */
const LEFT = 10;
const ROUNDS = 12;
const COMPANIES = 100;
const CONNECTIONS = 64;
/** Keys that are made at once. */
const AT_ONCE = 8;

interface LimitedKey {
  readonly id: string;
  readonly key: string;
  readonly isFree: boolean;
  answered: number;
}

export async function benchKeys(): Promise<Figure[]> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '128MB', max_connections: '100' });
  const url = await server.fresh();
  const unlimited = { key: await seedStore(url, COMPANIES), answered: 0 };
  await untilDayHasTime();
  const keys = await makeKeys(server, url);
  await using nodes = await nodesOn(url);
  const bases = [(await nodes.start('api')).base, (await nodes.start('api')).base];

  // The same answers from memory in both runs: what differs is who asks.
  const alone = await askAll(bases, () => unlimited);
  const counted = await askAll(bases, (turn) => keys[turn % KEYS] as LimitedKey);
  const { rows } = await server.sql(`select key_id, used from quota_usage where day = '${today()}'`, nameOf(url));
  const used = new Map(rows.map((row) => [row.key_id, Number(row.used)]));
  const free = keys.filter(({ isFree }) => isFree);
  const wrong = free.filter(({ id, answered }) => answered !== LEFT || used.get(id) !== TIERS.free);
  const text = ({ rate, p99 }: Answered) => `${perSecond(rate)}, p99 ${p99.toFixed(1)} ms`;
  return [
    [
      `profiles from memory, ${thousands(KEYS)} keys with quotas, round-robin, two nodes, ${CONNECTIONS} connections`,
      text(counted),
      `one unlimited key ${text(alone)}`,
    ],
    [
      `${thousands(free.length)} free keys with ${LEFT} of ${TIERS.free} left, each used ${ROUNDS} times`,
      `${thousands(free.reduce((sum, { answered }) => sum + answered, 0))} answers`,
      wrong.length === 0 ? `each exactly ${LEFT}` : `WRONG: ${wrong.length} keys, ${JSON.stringify(wrong[0])}`,
    ],
  ];
}

const today = () => new Date().toISOString().slice(0, 10);
const nameOf = (url: string) => new URL(url).pathname.slice(1);

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
      const isFree = (keys.length + i) % LEASED_OF > 0;
      const { key, stored } = await store.keys.create({ tier: isFree ? 'free' : 'standard' });
      return { id: stored.id, key, isFree, answered: 0 };
    });
    keys.push(...(await Promise.all(made)));
  }
  await server.sql(
    `insert into quota_usage (key_id, day, used) select id, '${today()}', ${TIERS.free - LEFT} from api_keys where tier = 'free'`,
    nameOf(url),
  );
  return keys;
}

interface Answered {
  readonly rate: number;
  readonly p99: number;
}

/** Counts the answers of each key. Clients alternate between the nodes, so that each node serves each key. */
async function askAll(
  bases: readonly string[],
  askerOf: (turn: number) => Pick<LimitedKey, 'key' | 'answered'>,
): Promise<Answered> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS / bases.length });
  const total = KEYS * ROUNDS;
  let turn = 0;
  const ask = async () => {
    const asker = askerOf(turn);
    // One further after each round of all keys, or each key would always come to the same node.
    const base = bases[(turn + Math.floor(turn / KEYS)) % bases.length];
    const url = `${base}/stack/v1/domains/${companyOf(turn % COMPANIES)}`;
    turn += 1;
    const status = await statusOf(url, { agent, headers: { 'x-stack-key': asker.key } });
    if (status === 200) asker.answered += 1;
    else if (status !== 429) throw new Error(`answered with ${status}`);
  };
  const { value, seconds } = await timed(() =>
    Promise.all(Array.from({ length: CONNECTIONS }, () => timesOf(total / CONNECTIONS, ask))),
  );
  agent.destroy();
  return { rate: total / seconds, p99: quantile(value.flat(), 0.99) };
}

function statusOf(url: string, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, options, (response) => {
      response.on('error', reject).once('end', () => resolve(response.statusCode ?? 0));
      response.resume();
    }).on('error', reject);
  });
}
