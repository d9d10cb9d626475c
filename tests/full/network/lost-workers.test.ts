// A worker that is cut off while it streams: no client notices, no token is lost or repeated.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startBadLink } from '../../support/bad-link.ts';
import { Cluster, workersServing } from '../../support/network/cluster.ts';
import { assertComplete, clientOf } from '../../support/network/streams.ts';

const simulated = { tokensPerSecond: 100, slots: 8 };
/** Generous, for a machine whose cores are busy; what a lost worker costs is measured in bench/. */
const MAX_GAP_MS = 30_000;

// The sent frames are lost, or arrive when the link recovers, long after another worker has continued the answer.
for (const kind of ['silent', 'held'] as const)
  it(`a worker whose link falls silent (${kind}) is lost within seconds, and taken again when it heals`, {
    timeout: 300_000,
  }, async () => {
    await using cluster = await Cluster.open();
    const gateway = await cluster.startGateway();
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
    const ask = { prompt: [300, 600, 900], seed: 3, tokens: 250, onPiece };
    for (const { longestGapMs } of await assertComplete(clientOf(gateway), [ask]))
      assert.ok(longestGapMs < MAX_GAP_MS, `the stream stood still for ${longestGapMs} ms`);
    await other;
    link.become({ kind: 'ok' });
    await workersServing(gateway, 2, { withinMs: 60_000 });
  });
