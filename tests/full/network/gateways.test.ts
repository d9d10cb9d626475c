// Several gateways, and gateways that are started again: workers serve them all, come back by themselves, and both sides count the same.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openStore } from '@strata/store';
import { Cluster, type GatewayProcess, type WorkerProcess, workersServing } from '../../support/network/cluster.ts';
import { assertWhole, clientOf, type StreamAsk, streamOf } from '../../support/network/streams.ts';
import { until } from '../../support/until.ts';

const simulated = { tokensPerSecond: 200, slots: 6 };
const asksOf = (count: number, from: number): readonly StreamAsk[] =>
  Array.from({ length: count }, (_, i) => ({ prompt: [300 + i, 500], seed: from + i, tokens: 150 }));

describe('two gateways that share three workers', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  let gateways: readonly GatewayProcess[];
  let workers: readonly WorkerProcess[];

  before(async () => {
    cluster = await Cluster.open();
    const first = await cluster.startGateway({ name: 'one' });
    const one = first.ready.joinToken;
    const second = await cluster.startGateway({ name: 'two', settings: { STRATA_JOIN: one } });
    const two = second.ready.joinToken;
    gateways = [first, second];
    // Each worker is told of one of them alone; it finds the other by itself.
    await cluster.startWorker({ simulated, name: 'a', join: [one] });
    await cluster.startWorker({ simulated, name: 'b', join: [two] });
    await cluster.startWorker({ simulated, name: 'c', join: [one] });
    workers = cluster.workers;
    for (const gateway of gateways) await workersServing(gateway, 3);
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  it('are served side by side, also when a worker is killed', async () => {
    let killed: Promise<void> | undefined;
    const onPiece = (count: number) => {
      if (count === 50) killed ??= workers[0]?.kill();
    };
    await Promise.all(
      gateways.map((gateway, g) =>
        assertWhole(
          clientOf(gateway),
          asksOf(6, 100 * g).map((ask) => ({ ...ask, onPiece })),
        ),
      ),
    );
    await killed;
  });

  it('and their workers have counted the same, token by token', async () => {
    // What was agreed last is still being written down.
    await until(async () => isDeepStrictEqual(await toldByGateways(), await countedByWorkers()), { intervalMs: 100 });
    assert.ok((await countedByWorkers()).some(([, tokens]) => tokens > 0));
  });

  const storeOf = (...parts: readonly string[]) => openStore(`sqlite:${path.join(cluster.directory, ...parts)}`);

  /** Output tokens that both signed, by worker. */
  async function toldByGateways(): Promise<readonly (readonly [string, number])[]> {
    const told = new Map(workers.map(({ ready }) => [ready.peer, 0]));
    for (const name of ['one', 'two']) {
      await using store = await storeOf(name, 'inference.db');
      for (const { key, outputTokens } of await store.segments.totals({ by: 'worker' }))
        told.set(key, (told.get(key) ?? 0) + outputTokens);
    }
    return [...told];
  }

  /** The same, as the workers have it. */
  async function countedByWorkers(): Promise<readonly (readonly [string, number])[]> {
    const counted: [string, number][] = [];
    for (const [i, name] of ['a', 'b', 'c'].entries()) {
      await using store = await storeOf(name, 'inference', 'worker', 'worker.db');
      const totals = await store.segments.totals({ by: 'worker' });
      const tokens = totals.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
      counted.push([workers[i]?.ready.peer ?? '', tokens]);
    }
    return counted;
  }
});

describe('a gateway that is killed and started again', { timeout: 120_000 }, () => {
  it('has its workers back by itself', async (t) => {
    await using cluster = await Cluster.open();
    const first = await cluster.startGateway({ name: 'gateway' });
    const port = /\/tcp\/(\d+)/.exec(first.ready.addresses[0] ?? '')?.[1];
    for (let i = 0; i < 2; i += 1) await cluster.startWorker({ simulated });
    await workersServing(first, 2);
    const [ask] = asksOf(1, 5) as [StreamAsk];
    const broken = streamOf(clientOf(first), {
      ...ask,
      onPiece: (count) => {
        if (count === 30) void first.kill();
      },
    });
    await assert.rejects(broken);
    const again = await cluster.startGateway({
      name: 'gateway',
      settings: { STRATA_P2P_LISTEN: `/ip4/127.0.0.1/tcp/${port}` },
    });
    const startedAt = performance.now();
    assert.equal(again.ready.peer, first.ready.peer);
    await workersServing(again, 2);
    t.diagnostic(`both workers serve again ${Math.round(performance.now() - startedAt)} ms after its start`);
    await assertWhole(clientOf(again), [ask]);
  });
});
