// Settlements that may have been lost: they are repeated on a new session with a worker, also after a restart of the gateway.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeSegmentReceipt, type SegmentReceipt, segmentSignedBytes, settleSignedBytes } from '@strata/inference';
import { type PeerNode, verifyPeerSignature } from '@strata/p2p';
import { openStore } from '@strata/store';
import { freshBed } from '../test/network/shared-bed.ts';
import { openSegmentBooks } from './open-segment-books.ts';
import { Settlement } from './settle-segment.ts';
import type { Trust } from './trust.ts';
import type { WorkerSession } from './worker-session.ts';

const HEX = 'ab'.repeat(32);
const nonceOf = (n: number) => new Uint8Array(16).fill(n);

function sessionOf({ id }: PeerNode) {
  const numbers: (number | undefined)[] = [];
  const signatures: Uint8Array[] = [];
  const settle = ([n]: Uint8Array, signature: Uint8Array) => {
    numbers.push(n);
    signatures.push(signature);
  };
  const session = { peer: id, settle } as Pick<WorkerSession, 'peer' | 'settle'> as WorkerSession;
  return { session, numbers, signatures };
}

type Seen = ReturnType<typeof sessionOf>;

describe('settlements', () => {
  it('are repeated once on each new session, the last ones, and to their own worker alone', async () => {
    const { gateway, nodes } = await freshBed();
    const [worker, other] = nodes as [PeerNode, PeerNode];
    await using store = await openStore('sqlite::memory:');
    const { segments } = store;
    const trust = { breach: (_peer: string, reason: string) => assert.fail(reason) } as Partial<Trust> as Trust;
    const start = () => {
      const books = openSegmentBooks({ segments, sign: (bytes) => gateway.sign(bytes), now: () => new Date() });
      return new Settlement({ trust, books, gateway: gateway.id });
    };
    const settle = async (settlement: Settlement, session: WorkerSession, n: number, node = worker) => {
      const receipt: SegmentReceipt = {
        ...{ version: 1, nonce: nonceOf(n), worker: node.id, gateway: gateway.id, modelSha256: HEX },
        ...{ promptSha256: HEX, requestSha256: HEX, from: 0, to: 1, chainHead: HEX },
        ...{ promptTokens: 1, cachedTokens: 0, reason: 'stop', engine: 'test' },
        ...{ startedAtMs: 1, firstTokenAtMs: 2, endedAtMs: 3 },
      };
      const bytes = encodeSegmentReceipt(receipt);
      const signature = await node.sign(segmentSignedBytes(bytes));
      settlement.settle(session, { receipt, bytes, signature }, undefined, receipt);
      await settlement.done();
    };

    const before = start();
    const [first, second, third, elsewhere] = [worker, worker, worker, other].map(sessionOf) as [
      Seen,
      Seen,
      Seen,
      Seen,
    ];
    for (const n of [1, 2]) await settle(before, first.session, n);
    await settle(before, second.session, 3);
    // The gateway restarts, with the same database.
    const after = start();
    await settle(after, third.session, 4);
    await settle(after, elsewhere.session, 5, other);
    const numbers = [first, second, third, elsewhere].map((seen) => seen.numbers.join());
    assert.deepEqual(numbers, ['1,2', '1,2,3', '1,2,3,4', '5']);
    const kept = await segments.get(nonceOf(1));
    const [again] = third.signatures;
    assert.ok(again && kept);
    assert.ok(await verifyPeerSignature(gateway.id, settleSignedBytes(kept.receipt), again));
  });
});
