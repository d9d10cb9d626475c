// Faults under stored streams: gateways, workers and database connections are killed, gateways are suspended, cut off from each
// other or from the database, one has a wrong clock, and the database is read-only for a while. A checker compares the tokens with
// an undisturbed run, and what is counted with what was answered.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@strata/gateway/store';
import { type BadLink, startBadLink } from '../../tests/support/bad-link.ts';
import { terminate } from '../../tests/support/database/connections.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { freePort } from '../../tests/support/free-port.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../tests/support/network/cluster.ts';
import { FAILED, type ResumingClient, resumedCompletion } from '../../tests/support/network/resumed-streams.ts';
import { randomFrom } from '../../tests/support/random.ts';
import { type Figure, setting, thousands } from '../measure.ts';
import { accountsOf, type FaultAccounts } from './fault-accounts.ts';

const STREAMS = 20;
const TOKENS = 100;
const SIMULATED = { tokensPerSecond: 25, slots: STREAMS };
const CLOCK_OFF_MS = 300_000;
/** Between two faults. */
const QUIET_MS = 1_000;
/** Longer than a gateway without heartbeat counts as running. */
const OUTAGE_MS = 5_000;
/** Longer than peers take to notice. */
const PARTITION_MS = 15_000;
/** After the last fault; a connection that was forgotten is given up 15 s later. */
const LATE_MS = 90_000;
const SEED = 1;

export interface FaultReport extends FaultAccounts {
  readonly faults: ReadonlyMap<string, number>;
  readonly streams: number;
  readonly resumptions: number;
  /** Answers that ended with an error. */
  readonly failed: number;
  /** By status and code. */
  readonly refusals: ReadonlyMap<string, number>;
}

export async function benchFaults(): Promise<Figure[]> {
  if (!binaries) return [['faults', 'skipped', notice]];
  const report = await runFaults(setting('SECONDS', 300));
  const { faults, streams, resumptions, refusals, failed, wrong, made, settled } = report;
  return [
    ...[...faults].map(([what, count]): Figure => [what, `${count} times`]),
    ...[...refusals].map(([what, count]): Figure => [`requests refused: ${what}`, `${count} times`]),
    ['answers that failed', `${failed}`, 'goal: none'],
    [
      'tokens that workers made, and both sides have signed for',
      `${((100 * settled) / made).toFixed(1)} % of ${thousands(made)}`,
      'not of workers that were killed or cut off before their receipt',
    ],
    [
      `${thousands(streams)} streams of ${TOKENS} tokens, ${STREAMS} at once, resumed ${thousands(resumptions)} times`,
      `${wrong.length} errors`,
      `goal: none; an undisturbed run, receipts, quotas, accounts of workers${wrong.length > 0 ? `: ${wrong.join('; ')}` : ''}`,
    ],
  ];
}

/** As a service manager does: a start that fails, as while the database takes too long on a busy machine, is repeated. */
const started = <Process>(start: () => Promise<Process>, tries = 5): Promise<Process> =>
  start().catch((error: unknown) => (tries > 1 ? started(start, tries - 1) : Promise.reject(error)));

interface FaultyGateway {
  running: GatewayProcess;
  readonly start: () => Promise<GatewayProcess>;
  readonly database: BadLink;
  readonly peers: BadLink;
  /** The address that its connections to peers come from. */
  readonly localAddress: string;
}

/** Each kind of fault once, and random ones for so long; then all streams are read to their ends, and checked. */
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
    const localAddress = `127.0.0.${n + 2}`;
    const clockOffsetMs = n === 2 ? CLOCK_OFF_MS : 0;
    const start = () => cluster.startGateway({ name, settings, clockOffsetMs, localAddress });
    gateways.push({ running: await start(), start, database, peers, localAddress });
  }
  const workers = await Promise.all(
    ['d', 'e', 'f'].map(async (name) => {
      const start = () => cluster.startWorker({ name, simulated: SIMULATED });
      const file = path.join(cluster.directory, name, 'inference/worker/worker.db');
      return { running: await start(), start, file };
    }),
  );
  for (const { running } of gateways) await workersServing(running, workers.length);
  const store = stack.use(await openStore(url));
  const { key, stored } = await store.keys.create({ tier: 'standard' });
  const bases = gateways.map(({ running }) => running.ready.base);
  let [turn, seed, failed] = [0, 0, 0];
  const next = () => bases[turn++ % bases.length] ?? '';
  const [late, refusals] = [new AbortController(), new Map<string, number>()];
  const client: ResumingClient = {
    ...{ next, key, tokens: TOKENS, receipts: new Set(), resumptions: 0, refusals, signal: late.signal },
  };
  let isOver = false;
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
    } while (!isOver);
  });
  const one = <Each>(all: readonly Each[]): Each => all[Math.floor(random() * all.length)] as Each;
  const restart = async <Process extends { kill(): Promise<void> }>(of: {
    running: Process;
    start(): Promise<Process>;
  }) => {
    await of.running.kill();
    of.running = await started(of.start);
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
    'two gateways are cut off from each other': async () => {
      const first = one(gateways);
      const second = one(gateways.filter((each) => each !== first));
      first.peers.become({ kind: 'silent', from: second.localAddress });
      second.peers.become({ kind: 'silent', from: first.localAddress });
      await sleep(PARTITION_MS);
      for (const { peers } of [first, second]) peers.become({ kind: 'ok' });
    },
    'a gateway is cut off from the database': () => cut(one(gateways).database),
    'the database is read-only': async () => {
      await readOnly('on');
      await sleep(OUTAGE_MS);
      await readOnly('off');
    },
  };
  const faults = new Map<string, number>();
  const deadline = performance.now() + seconds * 1_000;
  // Each kind once, then at random.
  for (let n = 0; n < Object.keys(kinds).length || performance.now() < deadline; n += 1) {
    await sleep(QUIET_MS);
    const what = Object.keys(kinds)[n] ?? one(Object.keys(kinds));
    await kinds[what]?.();
    faults.set(what, (faults.get(what) ?? 0) + 1);
  }
  isOver = true;
  const timer = setTimeout(() => late.abort(), LATE_MS);
  const unended = (await Promise.allSettled(clients)).filter(({ status }) => status === 'rejected').length;
  clearTimeout(timer);
  const refused = [...refusals].map(([what, count]) => `${count} × ${what}`).join(', ');
  if (unended > 0) wrong.push(`${unended} streams had not ended ${LATE_MS / 1_000} s later; refused: ${refused}`);
  const accounts = await accountsOf({
    ...{ url, keyId: stored.id, completed: ended, tokens: TOKENS },
    workers: new Map(workers.map(({ running, file }) => [running.ready.peer, file])),
  });
  wrong.push(...accounts.wrong);
  return { ...accounts, faults, streams: ended.size, resumptions: client.resumptions, failed, refusals, wrong };
}
