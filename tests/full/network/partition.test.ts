// Workers that cannot be reached any more although nobody hung up: the network falls silent, and comes back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cluster, workersServing } from '../../support/network/cluster.ts';
import { openSlowLink } from '../../support/network/slow-link.ts';
import { assertWhole, clientOf, type StreamAsk } from '../../support/network/streams.ts';

const simulated = { tokensPerSecond: 100, slots: 4 };
const ask: StreamAsk = { prompt: [300, 600, 900], seed: 3, tokens: 250 };

describe('a link that falls silent', { timeout: 120_000 }, () => {
  it('is noticed within seconds, and the worker is taken again when it heals', async () => {
    await using here = await Cluster.open();
    const gateway = await here.startGateway();
    const port = Number(/\/tcp\/(\d+)/.exec(gateway.ready.addresses[0] ?? '')?.[1]);
    await using link = await openSlowLink(port, { delayMs: 20 });
    const through = `/ip4/127.0.0.1/tcp/${link.port}/p2p/${gateway.ready.peer}`;
    await here.startWorker({ simulated, join: [through] });
    await workersServing(gateway, 1);
    // The other one comes when the answer has begun with the first.
    let other: Promise<unknown> | undefined;
    const onPiece = (count: number) => {
      if (count === 20) other ??= here.startWorker({ simulated }).then(() => workersServing(gateway, 2));
      if (count === 150) link.cut();
    };
    const [outcome] = await assertWhole(clientOf(gateway), [{ ...ask, onPiece }]);
    await other;
    assert.ok(outcome && outcome.longestGapMs < 30_000, `a gap of ${outcome?.longestGapMs} ms`);
    link.heal();
    await workersServing(gateway, 2, { withinMs: 60_000 });
  });
});
