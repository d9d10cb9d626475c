// The time to the first token while three gateways of one database restart one after another, through nginx and HAProxy with their
// files of deploy/proxy; and how often clients had to ask again.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../tests/support/network/cluster.ts';
import { PROXIES, startProxy } from '../../tests/support/network/proxies.ts';
import { streamOf } from '../../tests/support/network/streams.ts';
import { untilAnswer } from '../../tests/support/until.ts';
import { type Figure, quantile, setting } from '../measure.ts';

const CLIENTS = 8;
const TOKENS = 5;
/** Of a client between two streams. */
const PAUSE_MS = 200;
const QUIET_MS = 1_000 * setting('SECONDS', 20);
const SIMULATED = { tokensPerSecond: 100, slots: 2 * CLIENTS };
const WORKERS = 2;

interface Gateway {
  running: GatewayProcess;
  readonly start: () => Promise<GatewayProcess>;
}

export async function benchRollingRestart(): Promise<Figure[]> {
  if (!binaries) return [['rolling restart', 'skipped', notice]];
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const url = await server.fresh();
  const cluster = stack.use(await Cluster.open());
  const gateways: Gateway[] = [];
  for (const [n, name] of ['a', 'b', 'c'].entries()) {
    const keys = (of: string) => path.join(cluster.directory, of, 'inference/keys');
    if (n > 0) await cp(keys('a'), keys(name), { recursive: true });
    const settings = {
      ...{ STRATA_INFERENCE_DATABASE_URL: url, STRATA_TRUSTED_PROXIES: '127.0.0.1' },
      ...{ STRATA_INFERENCE_PORT: String(await freePort()) },
      STRATA_P2P: `listen=/ip4/127.0.0.1/tcp/${await freePort()},mdns=off`,
    };
    const start = () => cluster.startGateway({ name, settings });
    gateways.push({ running: await start(), start });
  }
  for (let n = 0; n < WORKERS; n += 1) await cluster.startWorker({ simulated: SIMULATED });
  for (const { running } of gateways) await workersServing(running, WORKERS);
  const figures: Figure[] = [];
  for (const program of PROXIES) {
    const ports = gateways.map(({ running }) => running.ready.port);
    const base = await startProxy(stack, program, { directory: cluster.directory, ports });
    await untilAnswer(program, () => fetch(`${base}/health`).catch(() => undefined));
    const key = gateways[0]?.running.ready.key ?? '';
    await load({ base, key }, () => sleep(2_000));
    const quiet = await load({ base, key }, () => sleep(QUIET_MS));
    const restarting = await load({ base, key }, async () => {
      for (const gateway of gateways) {
        await gateway.running[Symbol.asyncDispose]();
        gateway.running = await gateway.start();
        await workersServing(gateway.running, WORKERS);
      }
    });
    const [before, during] = [quantile(quiet.times, 0.99), quantile(restarting.times, 0.99)];
    figures.push([
      `${program}: first token, p50 and p99, while three gateways restart one after another`,
      `${quantile(restarting.times, 0.5).toFixed(0)} and ${during.toFixed(0)} ms`,
      `quiet ${quantile(quiet.times, 0.5).toFixed(0)} and ${before.toFixed(0)} ms: ${(during / before).toFixed(1)} ×, goal 2 ×; ` +
        `of ${restarting.times.length} streams ${restarting.failed} failed; asked again after ${counted(restarting.refusals)}`,
    ]);
  }
  return figures;
}

interface Load {
  readonly times: readonly number[];
  readonly failed: number;
  /** Attempts that failed, by status or error. */
  readonly refusals: ReadonlyMap<string, number>;
}

/** Streams of clients with their default retries, until the work is done. */
async function load(at: { readonly base: string; readonly key: string }, work: () => Promise<unknown>): Promise<Load> {
  const [times, refusals] = [[] as number[], new Map<string, number>()];
  let [failed, isOver] = [0, false];
  const count = (what: string) => void refusals.set(what, (refusals.get(what) ?? 0) + 1);
  const counting: typeof fetch = async (...asked) => {
    const response = await fetch(...asked).catch((error: Error) => {
      count(error.message);
      throw error;
    });
    if (!response.ok) count(`${response.status} ${(await response.clone().text()).slice(0, 120)}`);
    return response;
  };
  const client = new OpenAI({ baseURL: `${at.base}/v1`, apiKey: at.key, fetch: counting });
  const clients = Array.from({ length: CLIENTS }, async (_, n) => {
    for (let seed = n; !isOver; seed += CLIENTS) {
      await streamOf(client, { prompt: [300, 500], seed, tokens: TOKENS }).then(
        ({ firstTokenMs }) => void times.push(firstTokenMs),
        () => {
          failed += 1;
        },
      );
      await sleep(PAUSE_MS);
    }
  });
  await work();
  isOver = true;
  await Promise.all(clients);
  return { times, failed, refusals };
}

const counted = (refusals: ReadonlyMap<string, number>) =>
  [...refusals].map(([what, count]) => `${count} × ${what}`).join(', ') || 'nothing';
