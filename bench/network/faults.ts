// Faults under stored streams: gateways, workers and database connections are killed, gateways are suspended, cut off from each
// other or from the database, one has a wrong clock, and the database is read-only for a while. A checker compares the tokens with
// an undisturbed run, and what is counted with what was answered.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@strata/gateway/store';
import { type BadLink, startBadLink } from '../../tests/support/bad-link.ts';
import { rows } from '../../tests/support/database/backends.ts';
import { terminate } from '../../tests/support/database/connections.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../tests/support/network/cluster.ts';
import { FAILED, type ResumingClient, resumedCompletion } from '../../tests/support/network/resumed-streams.ts';
import { randomFrom } from '../../tests/support/random.ts';
import { until } from '../../tests/support/until.ts';
import { type Figure, setting, thousands } from '../measure.ts';

const STREAMS = 20;
const TOKENS = 100;
const SIMULATED = { tokensPerSecond: 25, slots: STREAMS };
const CLOCK_OFF_MS = 300_000;
/** Between two faults. */
const QUIET_MS = 1_000;
/** Longer than a gateway without heartbeat counts as running. */
const OUTAGE_MS = 5_000;
const SEED = 1;

export interface FaultReport {
  readonly faults: ReadonlyMap<string, number>;
  readonly streams: number;
  readonly resumptions: number;
  /** Answers that ended with an error. */
  readonly failed: number;
  /** What is wrong; goal: nothing. */
  readonly wrong: readonly string[];
}

export async function benchFaults(): Promise<Figure[]> {
  if (!binaries) return [['faults', 'skipped', notice]];
  const { faults, streams, resumptions, failed, wrong } = await runFaults(setting('SECONDS', 300));
  return [
    ...[...faults].map(([what, count]): Figure => [what, `${count} times`]),
    ['answers that failed: their gateway had no worker for ten seconds', `${failed}`, 'goal: none'],
    [
      `${thousands(streams)} streams of ${TOKENS} tokens, ${STREAMS} at once, resumed ${thousands(resumptions)} times`,
      `${wrong.length} errors`,
      `goal: none; an undisturbed run, receipts, quotas${wrong.length > 0 ? `: ${wrong.join('; ')}` : ''}`,
    ],
  ];
}

interface Receipt {
  readonly outcome: string;
  readonly usage: { readonly completion_tokens: number };
}

interface FaultyGateway {
  running: GatewayProcess;
  readonly start: () => Promise<GatewayProcess>;
  readonly database: BadLink;
  readonly peers: BadLink;
}

/** Random faults for so long; then all streams are read to their ends, and checked. */
export async function runFaults(seconds: number): Promise<FaultReport> {
  const random = randomFrom(SEED);
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const url = await server.fresh();
  const cluster = stack.use(await Cluster.open());
  const gateways: FaultyGateway[] = [];
  for (const [n, name] of ['a', 'b', 'c'].entries()) {
    const keys = (of: string) => path.join(cluster.directory, of, 'inference/keys');
    if (n > 0) await cp(keys('a'), keys(name), { recursive: true });
    const [port, peerPort] = [await freePort(), await freePort()];
    const database = stack.use(await startBadLink(url));
    const peers = stack.use(await startBadLink(`http://127.0.0.1:${peerPort}`));
    const announced = `/ip4/127.0.0.1/tcp/${new URL(peers.url).port}`;
    const settings = {
      ...{
        STRATA_INFERENCE_DATABASE_URL: database.url,
        STRATA_INFERENCE_PORT: String(port),
        STRATA_LOG_LEVEL: 'fatal',
      },
      STRATA_P2P: `listen=/ip4/127.0.0.1/tcp/${peerPort},announce=${announced},mdns=off`,
    };
    const start = () => cluster.startGateway({ name, settings, clockOffsetMs: n === 2 ? CLOCK_OFF_MS : 0 });
    gateways.push({ running: await start(), start, database, peers });
  }
  const workers = await Promise.all(
    ['d', 'e', 'f'].map(async (name) => {
      const start = () => cluster.startWorker({ name, simulated: SIMULATED });
      return { running: await start(), start };
    }),
  );
  for (const { running } of gateways) await workersServing(running, workers.length);
  const store = stack.use(await openStore(url));
  const { key, stored } = await store.keys.create({ tier: 'standard' });
  const bases = gateways.map(({ running }) => running.ready.base);
  let [turn, seed, failed] = [0, 0, 0];
  const next = () => bases[turn++ % bases.length] ?? '';
  const client: ResumingClient = { next, key, tokens: TOKENS, receipts: new Set(), resumptions: 0 };
  const deadline = performance.now() + seconds * 1_000;
  const wrong: string[] = [];
  const ended = new Set<string>();
  const clients = Array.from({ length: STREAMS }, async () => {
    do {
      const { faults, receiptId } = await resumedCompletion(client, seed++);
      wrong.push(...faults.filter((fault) => fault !== FAILED));
      if (faults.includes(FAILED)) {
        failed += 1;
        continue;
      }
      if (ended.has(receiptId)) wrong.push('two streams have one receipt');
      ended.add(receiptId);
    } while (performance.now() < deadline);
  });
  const one = <Each>(all: readonly Each[]): Each => all[Math.floor(random() * all.length)] as Each;
  const restart = async <Process extends { kill(): Promise<void> }>(of: {
    running: Process;
    start(): Promise<Process>;
  }) => {
    await of.running.kill();
    of.running = await of.start();
  };
  const cut = async (link: BadLink) => {
    link.become({ kind: 'silent' });
    await sleep(OUTAGE_MS);
    link.become({ kind: 'ok' });
  };
  const readOnly = async (value: 'on' | 'off') => {
    await server.sql(`alter system set default_transaction_read_only = ${value}`);
    await server.sql('select pg_reload_conf()');
  };
  const kinds: Readonly<Record<string, () => Promise<void>>> = {
    'a gateway is killed': () => restart(one(gateways)),
    'a worker is killed': () => restart(one(workers)),
    'all database connections are terminated': () => terminate(url, 'pid <> pg_backend_pid()'),
    'a gateway is suspended': async () => {
      const { running } = one(gateways);
      running.freeze();
      await sleep(OUTAGE_MS);
      running.thaw();
    },
    'a gateway is cut off from peers': () => cut(one(gateways).peers),
    'a gateway is cut off from the database': () => cut(one(gateways).database),
    'the database is read-only': async () => {
      await readOnly('on');
      await sleep(OUTAGE_MS);
      await readOnly('off');
    },
  };
  const faults = new Map<string, number>();
  for (let n = 0; performance.now() < deadline; n += 1) {
    await sleep(QUIET_MS);
    // Each kind once, then at random.
    const what = Object.keys(kinds)[n] ?? one(Object.keys(kinds));
    await kinds[what]?.();
    faults.set(what, (faults.get(what) ?? 0) + 1);
  }
  await Promise.all(clients);
  wrong.push(...(await accountsOf()));
  return { faults, streams: ended.size, resumptions: client.resumptions, failed, wrong };

  /** What is counted beside the receipts: each answer once, with all of its tokens. */
  async function accountsOf(): Promise<readonly string[]> {
    const used = async () => (await store.answers.usage({ since: '2000-01-01', keyId: stored.id }))[0];
    const receipts = async () => {
      const found = await rows(url, 'select id, body from answer_receipts');
      return new Map(found.map(({ id, body }) => [String(id), JSON.parse(String(body)) as Receipt]));
    };
    const isCounted = async () => ((await used())?.requests ?? 0) === (await receipts()).size;
    const counted = await until(isCounted, { what: 'each receipt is counted once', limitMs: 60_000 }).then(
      () => [],
      (error: Error) => [error.message],
    );
    const all = await receipts();
    const missing = [...ended].filter((id) => all.get(id)?.outcome !== 'completed').length;
    const wanted = [...all.values()].reduce((sum, { outcome, usage }) => {
      return sum + (outcome === 'completed' ? TOKENS : usage.completion_tokens);
    }, 0);
    const tokens = (await used())?.completionTokens ?? 0;
    return [
      ...counted,
      ...(missing > 0 ? [`${missing} streams without a receipt of a completed answer`] : []),
      ...(tokens === wanted ? [] : [`${tokens} tokens are counted, ${wanted} are in receipts`]),
    ];
  }
}
