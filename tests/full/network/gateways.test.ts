// Several gateways: workers serve them all, and both sides count the same.
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openStore } from '@strata/store';
import { Cluster, workersServing } from '../../support/network/cluster.ts';
import { assertComplete, clientOf, type StreamAsk } from '../../support/network/streams.ts';
import { until } from '../../support/until.ts';

const simulated = { tokensPerSecond: 200, slots: 6 };
const asksOf = (count: number, from: number): readonly StreamAsk[] =>
  Array.from({ length: count }, (_, i) => ({ prompt: [300 + i, 500], seed: from + i, tokens: 150 }));

it('two gateways share three workers, also when one is killed, and all have counted the same, token by token', {
  timeout: 120_000,
}, async () => {
  await using cluster = await Cluster.open();
  const first = await cluster.startGateway({ name: 'one' });
  const one = first.ready.joinToken;
  const second = await cluster.startGateway({ name: 'two', settings: { STRATA_JOIN: one } });
  // Each worker is given one of them alone; it finds the other by itself.
  await cluster.startWorker({ simulated, name: 'a', join: [one] });
  await cluster.startWorker({ simulated, name: 'b', join: [second.ready.joinToken] });
  await cluster.startWorker({ simulated, name: 'c', join: [one] });
  const { gateways, workers } = cluster;
  for (const gateway of gateways) await workersServing(gateway, 3);

  let killed: Promise<void> | undefined;
  const onPiece = (count: number) => {
    if (count === 50) killed ??= workers[0]?.kill();
  };
  const asks = (from: number) => asksOf(6, from).map((ask) => ({ ...ask, onPiece }));
  await Promise.all(gateways.map((gateway, g) => assertComplete(clientOf(gateway), asks(100 * g))));
  await killed;

  /** Output tokens that both sides signed, by worker. */
  const tokensOf = async (...parts: readonly string[]) => {
    await using store = await openStore(`sqlite:${path.join(cluster.directory, ...parts)}`);
    const totals = await store.segments.totals({ by: 'worker' });
    return new Map(totals.map(({ key, outputTokens }) => [key, outputTokens]));
  };
  const ofGateways = async () => {
    const counts = [await tokensOf('one', 'inference.db'), await tokensOf('two', 'inference.db')];
    return workers.map(({ ready }) => counts.reduce((sum, count) => sum + (count.get(ready.peer) ?? 0), 0));
  };
  const ofWorkers = async () => {
    const counted: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      const tokens = await tokensOf(name, 'inference', 'worker', 'worker.db');
      counted.push([...tokens.values()].reduce((sum, each) => sum + each, 0));
    }
    return counted;
  };
  // What was agreed last is still being written.
  await until(async () => isDeepStrictEqual(await ofGateways(), await ofWorkers()), { intervalMs: 100 });
  assert.ok((await ofWorkers()).some((tokens) => tokens > 0));
});
