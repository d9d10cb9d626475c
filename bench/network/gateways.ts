// Gateways of one database: processor time of a request at one, two and three of them, and what it costs that a stream's
// tokens are kept. The engine is simulated, at a fixed speed, so that each token is an event of its own.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { Cluster, type GatewayProcess } from '../../tests/support/network/cluster.ts';
import { httpLoad } from '../http-load.ts';
import { type Figure, median, perSecond, quantile, setting, useOf } from '../measure.ts';

const ROUNDS = setting('ROUNDS', 8);
const CONNECTIONS = 64;
/** In all streams of a load, which ends with the last one: the processor time of a stream that is cut off is of no answer. */
const LOAD_TOKENS = 25_600;
const TOKENS = [20, 200];
const SIMULATED = { slots: 2 * CONNECTIONS, tokensPerSecond: 200 };
/** Receipts of a load are still being entered in the ledger. */
const SETTLE_MS = 1_000;

interface Ask {
  readonly tokens: number;
  readonly store: boolean;
}

interface Load {
  /** Answers a second. */
  readonly rate: number;
  /** Processor time of an answer in the gateways, in milliseconds. */
  readonly cpuMs: number;
}

export async function benchGateways(): Promise<Figure[]> {
  await using server = binaries && (await startPostgres({ fsync: 'on', shared_buffers: '256MB' }));
  await using cluster = await Cluster.open();
  const alone = await cluster.startGateway({ simulated: SIMULATED });
  const figures = await keeping('SQLite', alone);
  await alone[Symbol.asyncDispose]();
  if (!server) return [...figures, ['PostgreSQL', 'skipped', notice]];
  const settings = { STRATA_INFERENCE_DATABASE_URL: await server.fresh() };
  const gateways: GatewayProcess[] = [];
  for (const name of ['a', 'b', 'c']) {
    const keys = (of: string) => path.join(cluster.directory, of, 'inference/keys');
    if (name !== 'a') await cp(keys('a'), keys(name), { recursive: true });
    gateways.push(await cluster.startGateway({ name, settings, simulated: SIMULATED }));
    // A new process is slower for other reasons.
    await load(gateways, { tokens: TOKENS[0] ?? 0, store: false });
    if (name === 'a') figures.push(...(await keeping('PostgreSQL', ...gateways)));
    const { rate, cpuMs } = await load(gateways, { tokens: TOKENS[0] ?? 0, store: false });
    const what = `${gateways.length} gateways of one PostgreSQL, streams of ${TOKENS[0]} tokens`;
    figures.push([what, `${perSecond(rate)}, ${cpuMs.toFixed(2)} ms of CPU each`, 'on the same two cores']);
  }
  return figures;
}

/** Rounds of streams that are kept, and of streams that are not: each with the other one beside it, in alternating order. */
async function keeping(database: string, ...gateways: readonly GatewayProcess[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const tokens of TOKENS) {
    for (const store of [false, true]) await load(gateways, { tokens, store });
    const [plain, kept]: [Load[], Load[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1)
      for (const store of [round % 2 === 0, round % 2 !== 0])
        (store ? kept : plain).push(await load(gateways, { tokens, store }));
    const ratios = kept.map(({ cpuMs }, round) => cpuMs / (plain[round]?.cpuMs ?? Number.NaN));
    const of = (loads: readonly Load[]) => {
      const [rate, cpuMs] = (['rate', 'cpuMs'] as const).map((what) => median(loads.map((each) => each[what])));
      return `${perSecond(rate ?? 0)}, ${cpuMs?.toFixed(2)} ms of CPU each`;
    };
    const [low, high] = [0.25, 0.75].map((share) => quantile(ratios, share).toFixed(2));
    figures.push([
      `${database}, streams of ${tokens} tokens, kept with \`store\``,
      of(kept),
      `not kept ${of(plain)}: ${median(ratios).toFixed(2)} × (quartiles of ${ROUNDS} pairs ${low}, ${high}), goal 1.05`,
    ]);
  }
  return figures;
}

async function load(gateways: readonly GatewayProcess[], { tokens, store }: Ask): Promise<Load> {
  const used = async () => {
    const all = await Promise.all(gateways.map(({ child }) => useOf({ process: child })));
    return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  };
  const asked = { model: 'simulated', prompt: [300, 500], seed: 1, max_tokens: tokens, stream: true, store };
  const before = await used();
  const loads = await Promise.all(
    gateways.map(({ ready: { base, key } }) =>
      httpLoad({
        url: `${base}/v1/completions`,
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        connections: Math.ceil(CONNECTIONS / gateways.length),
        amount: Math.ceil(LOAD_TOKENS / tokens / gateways.length),
      }),
    ),
  );
  await sleep(SETTLE_MS);
  const answers = loads.reduce((sum, { times }) => sum + times.length, 0);
  const rate = loads.reduce((sum, each) => sum + each.rate, 0);
  return { rate, cpuMs: (1_000 * ((await used()) - before)) / answers };
}
