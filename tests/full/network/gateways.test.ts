// Several gateways: workers serve them all, and both sides count the same.
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openStore as openGatewayStore } from '@strata/gateway/store';
import { openStore as openWorkerStore } from '@strata/worker/store';
import { Cluster, workersServing } from '../../support/network/cluster.ts';
import { assertComplete, clientOf, type StreamAsk } from '../../support/network/streams.ts';
import { until } from '../../support/until.ts';

const simulated = { tokensPerSecond: 200, slots: 6 };
const asksOf = (count: number, from: number): readonly StreamAsk[] =>
  Array.from({ length: count }, (_, i) => ({ prompt: [300 + i, 500], seed: from + i, tokens: 150 }));

it('two gateways share three workers, also when one is killed, and both sides have counted the same, token by token', {
  timeout: 600_000,
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

  /** Output tokens by nonce: of one worker, as these stores have them. */
  const segmentsOf = async (worker: string, ...stores: readonly string[]) => {
    const found = new Map<string, number>();
    for (const file of stores) {
      const at = path.join(cluster.directory, file);
      await using store = await (file.endsWith('worker.db') ? openWorkerStore(at) : openGatewayStore(`sqlite:${at}`));
      for (const each of await store.segments.list({ limit: 1_000 }))
        if (each.worker === worker) found.set(Buffer.from(each.nonce).toString('hex'), each.outputTokens);
    }
    return found;
  };
  const countedBy = async (name: string, peer: string) => ({
    gateways: await segmentsOf(peer, 'one/inference.db', 'two/inference.db'),
    worker: await segmentsOf(peer, `${name}/inference/worker/worker.db`),
  });
  const [a, b, c] = workers.map(({ ready }) => ready.peer);
  assert.ok(a && b && c);
  for (const [name, peer] of Object.entries({ b, c })) {
    const isSame = async () => {
      const { gateways, worker } = await countedBy(name, peer);
      return worker.size > 0 && isDeepStrictEqual(gateways, worker);
    };
    // What was agreed last is still being written.
    await until(isSame, { what: `the gateways have what worker ${name} has`, intervalMs: 100, limitMs: 240_000 });
  }
  // A worker keeps a receipt before it sends it, so that the one that was killed may have receipts that no gateway has got.
  const killedOne = await countedBy('a', a);
  for (const [nonce, tokens] of killedOne.gateways) assert.equal(killedOne.worker.get(nonce), tokens);
});

it('a killed gateway has a receipt of every stream when it is back, and its models', {
  timeout: 600_000,
}, async () => {
  await using cluster = await Cluster.open();
  const { ready } = await cluster.startGateway({ name: 'one' });
  const worker = await cluster.startWorker({ simulated: { ...simulated, tokensPerSecond: 20 } });
  for (const gateway of cluster.gateways) await workersServing(gateway, 1);
  const headers = { authorization: `Bearer ${ready.key}`, 'content-type': 'application/json' };
  const open = (base: string, n: number) => {
    const body = { model: 'simulated', prompt: [300 + n, 500], stream: true, max_tokens: 1_000 };
    return fetch(`${base}/v1/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const begun = await Promise.all(Array.from({ length: 4 }, (_, n) => open(ready.base, n)));
  for (const { body } of begun) await body?.getReader().read();
  await Promise.all([...cluster.gateways, worker].map((each) => each.kill()));
  const { base } = (await cluster.startGateway({ name: 'one' })).ready;
  const refused = await open(base, 0);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'], await refused.text());
  for (const response of begun) {
    const receipt = await fetch(`${base}/v1/receipts/${response.headers.get('x-receipt-id')}`, { headers });
    const usage = { prompt_tokens: 2, cached_tokens: 0, completion_tokens: 0 };
    assert.partialDeepStrictEqual(await receipt.json(), { outcome: 'interrupted', usage });
  }
});
