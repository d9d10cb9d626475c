// Workers that are killed, frozen and started again while streams run: no client notices, no token is lost or repeated.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedEngineOptions } from '@strata/testnet';
import { busyWorker, Cluster, type WorkerProcess, workersServing } from '../../support/network/cluster.ts';
import { assertWhole, clientOf, type StreamAsk } from '../../support/network/streams.ts';

const SPEED = 100;
/** Generous, for a machine whose cores are busy; what a lost worker costs is measured in bench/. */
const MAX_GAP_MS = 30_000;

it('twenty streams of five workers stay whole while one is killed every five seconds', {
  timeout: 120_000,
}, async () => {
  const simulated = { tokensPerSecond: SPEED, slots: 8 };
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  for (let i = 0; i < 5; i += 1) await cluster.startWorker({ simulated });
  await workersServing(gateway, 5);
  const done = new AbortController();
  const killing = killOneEach(cluster, { everyMs: 5_000, simulated, signal: done.signal });
  const asks = Array.from(
    { length: 20 },
    (_, i): StreamAsk => ({ prompt: [300 + i, 301, 302], seed: i, tokens: 1_000 + 50 * i }),
  );
  let killed = 0;
  const outcomes = await assertWhole(clientOf(gateway), asks).finally(async () => {
    done.abort();
    killed = await killing;
  });
  assert.ok(killed >= 2, `${killed} were killed while the streams ran`);
  for (const [i, { longestGapMs }] of outcomes.entries())
    assert.ok(longestGapMs < MAX_GAP_MS, `stream ${i} stood still for ${longestGapMs} ms`);
});

interface Killing {
  readonly everyMs: number;
  readonly simulated: SimulatedEngineOptions;
  readonly signal: AbortSignal;
}

/** Kills the oldest worker again and again, and starts another one for it. */
async function killOneEach(cluster: Cluster, { everyMs, simulated, signal }: Killing): Promise<number> {
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

it('a worker that is frozen is left for the other', { timeout: 120_000 }, async () => {
  const simulated = { tokensPerSecond: SPEED, slots: 4 };
  await using cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  const workers = [await cluster.startWorker({ simulated }), await cluster.startWorker({ simulated })];
  await workersServing(gateway, 2);
  let frozen: Promise<void> | undefined;
  const onPiece = (count: number) => {
    if (count === 50) frozen ??= busyWorker(cluster).then((worker) => worker.freeze());
  };
  const ask: StreamAsk = { prompt: [300, 400, 500], seed: 7, tokens: 200, onPiece };
  const [outcome] = await assertWhole(clientOf(gateway), [ask]);
  await frozen;
  for (const worker of workers) worker.thaw();
  assert.ok(outcome && outcome.longestGapMs < MAX_GAP_MS, `it stood still for ${outcome?.longestGapMs} ms`);
});
