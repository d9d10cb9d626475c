// Workers that cannot be reached any more although nobody hung up: the network falls silent, and comes back.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Cluster, workersServing } from '../../support/network/cluster.ts';
import { addHost, whyNoHosts } from '../../support/network/hosts.ts';
import { openSlowLink } from '../../support/network/slow-link.ts';
import { clientOf, faultsOf, type StreamAsk, streamOf } from '../../support/network/streams.ts';

const simulated = { tokensPerSecond: 100, slots: 4 };
const ask: StreamAsk = { prompt: [300, 600, 900], seed: 3, tokens: 250 };

describe('a link that falls silent', { timeout: 120_000 }, () => {
  const cluster = Cluster.open();
  after(async () => (await cluster)[Symbol.asyncDispose]());

  it('is noticed within seconds, and the worker is taken again when it heals', async (t) => {
    const here = await cluster;
    const gateway = await here.startGateway();
    const port = Number(/\/tcp\/(\d+)/.exec(gateway.ready.addresses[0] ?? '')?.[1]);
    await using link = await openSlowLink(port, { delayMs: 20 });
    const through = `/ip4/127.0.0.1/tcp/${link.port}/p2p/${gateway.ready.peer}`;
    await here.startWorker({ simulated, join: [through] });
    await workersServing(gateway, 1);
    // The other one comes when the answer has begun with the first.
    let other: Promise<unknown> | undefined;
    const outcome = await streamOf(clientOf(gateway), {
      ...ask,
      onPiece: (count) => {
        if (count === 20) other ??= here.startWorker({ simulated }).then(() => workersServing(gateway, 2));
        if (count === 150) link.cut();
      },
    });
    await other;
    assert.deepEqual(faultsOf(outcome, ask), []);
    t.diagnostic(`longest gap ${Math.round(outcome.longestGapMs)} ms`);
    assert.ok(outcome.longestGapMs < 30_000, `a gap of ${outcome.longestGapMs} ms`);
    link.heal();
    await workersServing(gateway, 2, { withinMs: 60_000 });
  });
});

describe('hosts of their own', { timeout: 180_000 }, () => {
  const cluster = Cluster.open();
  after(async () => (await cluster)[Symbol.asyncDispose]());

  it('a partition and its healing', async (t) => {
    const reason = await whyNoHosts();
    if (reason !== undefined) return t.skip(reason);
    const here = await cluster;
    await using hosts = new AsyncDisposableStack();
    const one = hosts.use(await addHost(1));
    const two = hosts.use(await addHost(2));
    const gateway = await here.startGateway({ settings: { STRATA_P2P_LISTEN: '/ip4/0.0.0.0/tcp/0' } });
    const port = /\/tcp\/(\d+)/.exec(gateway.ready.addresses[0] ?? '')?.[1];
    for (const host of [one, two])
      await here.startWorker({
        simulated,
        namespace: host.namespace,
        settings: { STRATA_P2P_LISTEN: `/ip4/${host.address}/tcp/0` },
        join: [`/ip4/${host.ours}/tcp/${port}/p2p/${gateway.ready.peer}`],
      });
    await workersServing(gateway, 2);
    const client = clientOf(gateway);
    let cut: Promise<void> | undefined;
    const asks = Array.from({ length: 6 }, (_, i): StreamAsk => ({ ...ask, seed: i }));
    const outcomes = await Promise.all(
      asks.map((each) =>
        streamOf(client, {
          ...each,
          onPiece: (count) => {
            if (count === 100) cut ??= one.unplug();
          },
        }),
      ),
    );
    await cut;
    for (const [i, outcome] of outcomes.entries()) assert.deepEqual(faultsOf(outcome, asks[i] ?? ask), []);
    await workersServing(gateway, 1);
    t.diagnostic(`longest gap ${Math.round(Math.max(...outcomes.map(({ longestGapMs }) => longestGapMs)))} ms`);
    await one.plugIn();
    await workersServing(gateway, 2, { withinMs: 90_000 });
  });
});
