// Workers that are killed, frozen and started again while streams run: no client notices, no token is lost or repeated.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  busyWorker,
  Cluster,
  type GatewayProcess,
  type WorkerProcess,
  workersServing,
} from '../../support/network/cluster.ts';
import { clientOf, faultsOf, type StreamAsk, streamOf } from '../../support/network/streams.ts';

const SPEED = 100;
/** Generous, for a machine whose cores are busy; what a lost worker costs is measured in bench/. */
const MAX_GAP_MS = 30_000;

describe('five workers, one killed every five seconds', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  let gateway: GatewayProcess;
  const simulated = { tokensPerSecond: SPEED, slots: 8 };

  before(async () => {
    cluster = await Cluster.open();
    gateway = await cluster.startGateway();
    for (let i = 0; i < 5; i += 1) await cluster.startWorker({ simulated });
    await workersServing(gateway, 5);
  });
  after(() => cluster[Symbol.asyncDispose]());

  it('twenty streams stay whole', async () => {
    const client = clientOf(gateway);
    const done = new AbortController();
    const killing = killOneEach(cluster, { everyMs: 5_000, simulated, signal: done.signal });
    const asks = Array.from(
      { length: 20 },
      (_, i): StreamAsk => ({ prompt: [300 + i, 301, 302], seed: i, tokens: 1_000 + 50 * i }),
    );
    const outcomes = await Promise.all(asks.map((ask) => streamOf(client, ask)));
    done.abort();
    const killed = await killing;
    assert.ok(killed >= 2, `${killed} were killed while the streams ran`);
    for (const [i, outcome] of outcomes.entries()) {
      assert.deepEqual(faultsOf(outcome, asks[i] as StreamAsk), [], `stream ${i}`);
      assert.ok(outcome.longestGapMs < MAX_GAP_MS, `stream ${i} stood still for ${outcome.longestGapMs} ms`);
    }
  });
});

/** Kills the oldest worker again and again, and starts another one for it. */
async function killOneEach(
  cluster: Cluster,
  {
    everyMs,
    simulated,
    signal,
  }: { everyMs: number; simulated: { tokensPerSecond: number; slots: number }; signal: AbortSignal },
): Promise<number> {
  let killed = 0;
  const started: Promise<WorkerProcess>[] = [];
  for (;;) {
    await sleep(everyMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const victim = cluster.workers.find(({ isRunning }) => isRunning);
    if (victim === undefined) continue;
    await victim.kill();
    killed += 1;
    started.push(cluster.startWorker({ simulated }));
  }
  await Promise.all(started);
  return killed;
}

describe('two workers', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  let gateway: GatewayProcess;
  const simulated = { tokensPerSecond: SPEED, slots: 4 };
  const ask: StreamAsk = { prompt: [300, 400, 500], seed: 7, tokens: 200 };

  before(async () => {
    cluster = await Cluster.open();
    gateway = await cluster.startGateway();
  });
  after(() => cluster[Symbol.asyncDispose]());

  const twoWorkers = async () => {
    while (cluster.workers.filter(({ isRunning }) => isRunning).length < 2) await cluster.startWorker({ simulated });
    await workersServing(gateway, 2);
    return cluster.workers.filter(({ isRunning }) => isRunning);
  };

  it('one that is frozen is left for the other', async () => {
    const workers = await twoWorkers();
    let frozen: Promise<void> | undefined;
    const outcome = await streamOf(clientOf(gateway), {
      ...ask,
      onPiece: (count) => {
        if (count === 50) frozen ??= busyWorker(cluster).then((worker) => worker.freeze());
      },
    });
    await frozen;
    for (const worker of workers) worker.thaw();
    assert.deepEqual(faultsOf(outcome, ask), []);
    assert.ok(outcome.longestGapMs < MAX_GAP_MS, `it stood still for ${outcome.longestGapMs} ms`);
  });
});
