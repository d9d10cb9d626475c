// Agreements that may have been lost: on a new session with a worker they are said again, also by a gateway that was started anew.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  encodeSegmentReceipt,
  type SegmentReceipt,
  segmentSignedBytes,
  settleSignedBytes,
  tokensSha256,
} from '@strata/inference';
import { type PeerNode, startPeerNode, verifyPeerSignature } from '@strata/p2p';
import { openStore, type Store } from '@strata/store';
import { openSegmentBooks } from './open-segment-books.ts';
import { Settlement } from './settle-segment.ts';
import type { Trust } from './trust.ts';
import type { WorkerSession } from './worker-session.ts';

const HEX = 'ab'.repeat(32);

describe('agreements', () => {
  it('are repeated once on each new session, the last ones, and to their own worker alone', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'strata-again-'));
    try {
      const host = (name: string) =>
        startPeerNode({ keyFile: path.join(directory, name), listen: [], isMdnsOn: false });
      await using gateway = await host('gateway.key');
      await using worker = await host('worker.key');
      await using other = await host('other.key');
      await using store = await openStore('sqlite::memory:');

      let life = begun(store, gateway);
      const first = sessionOf(worker);
      for (const nonce of [1, 2]) await life(first, await signed(worker, gateway, nonce), worker);
      assert.deepEqual(noncesOf(first), [1, 2], 'what was said on this session is not said again');
      const second = sessionOf(worker);
      await life(second, await signed(worker, gateway, 3), worker);
      assert.deepEqual(noncesOf(second), [1, 2, 3]);

      // Another life of the gateway, with the same database.
      life = begun(store, gateway);
      const third = sessionOf(worker);
      await life(third, await signed(worker, gateway, 4), worker);
      assert.deepEqual(noncesOf(third), [1, 2, 3, 4]);
      const elsewhere = sessionOf(other);
      await life(elsewhere, await signed(other, gateway, 5), other);
      assert.deepEqual(noncesOf(elsewhere), [5]);
      const [again] = third.settled;
      const kept = await store.segments.get(nonceOf(1));
      assert.ok(again && kept);
      assert.ok(await verifyPeerSignature(gateway.id, settleSignedBytes(kept.receipt), again.signature));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

const nonceOf = (n: number) => new Uint8Array(16).fill(n);
const noncesOf = ({ settled }: ReturnType<typeof sessionOf>) => settled.map(({ nonce }) => nonce[0]);

function sessionOf({ id }: PeerNode) {
  const settled: { readonly nonce: Uint8Array; readonly signature: Uint8Array }[] = [];
  const session: Pick<WorkerSession, 'peer' | 'settle'> = {
    peer: id,
    settle: (nonce, signature) => settled.push({ nonce, signature }),
  };
  return { ...(session as WorkerSession), settled };
}

function begun({ segments }: Store, gateway: PeerNode) {
  const books = openSegmentBooks({ segments, sign: (bytes) => gateway.sign(bytes), now: () => new Date() });
  const trust = { breach: (_peer: string, reason: string) => assert.fail(reason) } as Partial<Trust> as Trust;
  const settlement = new Settlement({ trust, books, gateway: gateway.id });
  return async (session: WorkerSession, segment: Awaited<ReturnType<typeof signed>>, worker: PeerNode) => {
    settlement.settle(session, segment, undefined, { ...segment.receipt, worker: worker.id });
    await settlement.done();
  };
}

async function signed(worker: PeerNode, gateway: PeerNode, n: number) {
  const receipt: SegmentReceipt = {
    ...{ version: 1, nonce: nonceOf(n), worker: worker.id, gateway: gateway.id, modelSha256: HEX },
    ...{ promptSha256: tokensSha256([1]), requestSha256: HEX, from: 0, to: 1, chainHead: HEX },
    ...{ promptTokens: 1, cachedTokens: 0, reason: 'stop', engine: 'test' },
    ...{ startedAtMs: 1, firstTokenAtMs: 2, endedAtMs: 3 },
  };
  const bytes = encodeSegmentReceipt(receipt);
  return { receipt, bytes, signature: await worker.sign(segmentSignedBytes(bytes)) };
}
