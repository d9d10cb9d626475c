// Workers that are frozen and cut off while streams run: no client notices, no token is lost or repeated.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startBadLink } from '../../support/bad-link.ts';
import { busyWorker, Cluster, workersServing } from '../../support/network/cluster.ts';
import { assertComplete, clientOf, type StreamAsk } from '../../support/network/streams.ts';

const simulated = { tokensPerSecond: 100, slots: 8 };
/** Generous, for a machine whose cores are busy; what a lost worker costs is measured in bench/. */
const MAX_GAP_MS = 30_000;

/** A gateway with workers, and streams of it, each complete and never stalled. */
async function served(workers: number) {
  const cluster = await Cluster.open();
  const gateway = await cluster.startGateway();
  for (let i = 0; i < workers; i += 1) await cluster.startWorker({ simulated });
  await workersServing(gateway, workers);
  const assertStreams = async (...asks: readonly StreamAsk[]) => {
    for (const [i, { longestGapMs }] of (await assertComplete(clientOf(gateway), asks)).entries())
      assert.ok(longestGapMs < MAX_GAP_MS, `stream ${i} stood still for ${longestGapMs} ms`);
  };
  return { cluster, gateway, assertStreams, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}

describe('a worker that is lost', { timeout: 300_000 }, () => {
  it('by a freeze is left for the other', async () => {
    await using here = await served(2);
    const { cluster } = here;
    let frozen: Promise<void> | undefined;
    const onPiece = (count: number) => {
      if (count === 50) frozen ??= busyWorker(cluster).then((worker) => worker.freeze());
    };
    await here.assertStreams({ prompt: [300, 400, 500], seed: 7, tokens: 200, onPiece });
    await frozen;
  });

  // The sent frames are lost, or arrive when the link recovers, long after another worker has continued the answer.
  for (const kind of ['silent', 'held'] as const)
    it(`by a link that falls silent (${kind}) is noticed within seconds, and taken again when it heals`, async () => {
      await using here = await served(0);
      const { cluster, gateway } = here;
      const port = /\/tcp\/(\d+)/.exec(gateway.ready.addresses[0] ?? '')?.[1];
      await using link = await startBadLink(`tcp://127.0.0.1:${port}`);
      const through = `/ip4/127.0.0.1/tcp/${new URL(link.url).port}/p2p/${gateway.ready.peer}`;
      await cluster.startWorker({ simulated, join: [through] });
      await workersServing(gateway, 1);
      // The other one comes when the answer has begun with the first.
      let other: Promise<unknown> | undefined;
      const onPiece = (count: number) => {
        if (count === 20) other ??= cluster.startWorker({ simulated }).then(() => workersServing(gateway, 2));
        if (count === 150) link.become({ kind });
      };
      await here.assertStreams({ prompt: [300, 600, 900], seed: 3, tokens: 250, onPiece });
      await other;
      link.become({ kind: 'ok' });
      await workersServing(gateway, 2, { withinMs: 60_000 });
    });
});
