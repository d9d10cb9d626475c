// Receipts of workers compared with observed segments: correct ones are signed, incorrect ones are breaches, and the answer is not affected.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  decodeSegmentReceipt,
  encodeSegmentReceipt,
  type FrameOf,
  type SegmentReceipt,
  segmentSignedBytes,
  settleSignedBytes,
} from '@strata/inference';
import { type PeerNode, verifyPeerSignature } from '@strata/p2p';
import { openStore } from '../store/index.ts';
import { at, COUNT, killed, truth, until } from '../test/network/answers.ts';
import { freshBed, networkOf, UNDISTURBED, type WorkerOptions } from '../test/network/shared-bed.ts';
import type { Trust } from './audit/trust.ts';
import type { WorkerSession } from './session/worker-session.ts';
import { Settlement } from './settlement.ts';

it('a receipt covers only the part of its worker, and is signed by the gateway; a killed worker has none', async () => {
  await using net = await networkOf([at(12, killed), {}]);
  assert.deepEqual(await net.answer(), UNDISTURBED);
  const { nonce, signature } = await net.worker(1).received('settle');
  assert.equal(net.bed.agreed.length, 1);
  const agreed = net.bed.agreed[0] ?? assert.fail();
  const [first, second] = [net.bed.peer(0), net.bed.peer(1)];
  assert.partialDeepStrictEqual(agreed.receipt, { worker: second, from: 12, to: COUNT, reason: 'length', nonce });
  assert.ok(await verifyPeerSignature(net.bed.gateway.id, settleSignedBytes(agreed.bytes), signature));
  assert.deepEqual(net.trust.breaches, []);
  assert.partialDeepStrictEqual(net.trust.answers, [
    { worker: first, from: 0, answer: truth(12), reason: 'cancelled' },
    { worker: second, from: 12, answer: truth(), reason: 'length' },
  ]);
});

const changed = (change: (receipt: SegmentReceipt) => Partial<SegmentReceipt>): WorkerOptions => ({
  receipt: (right) => ({ ...right, ...change(right) }),
});
// The other fields are compared in the same function: see segment.test.ts of packages/inference.
const scripts: Readonly<Record<string, WorkerOptions>> = {
  worker: changed(({ gateway }) => ({ worker: gateway })),
  gateway: changed(({ worker }) => ({ gateway: worker })),
  requestSha256: changed(() => ({ requestSha256: 'ab'.repeat(32) })),
  to: changed(({ to }) => ({ to: to + 1 })),
  reason: changed(() => ({ reason: 'stop' })),
  signature: { done: (done) => ({ ...done, signature: new Uint8Array(64) }) },
};
for (const [field, script] of Object.entries(scripts))
  it(`a receipt with an incorrect ${field} is a breach and is not signed`, async () => {
    await using net = await networkOf([script]);
    assert.deepEqual(await net.answer(), UNDISTURBED);
    await until(() => net.trust.breaches.length === 1);
    const breach = { peer: net.bed.peer(0), reason: `a receipt with an incorrect ${field}` };
    assert.deepEqual([net.trust.breaches, net.bed.agreed], [[breach], []]);
    assert.ok(!net.worker(0).frames.some(({ kind }) => kind === 'settle'));
  });

it('a receipt of an earlier answer is a breach and is not signed again', async () => {
  let first: FrameOf<'done'> | undefined;
  const done = (own: FrameOf<'done'>): FrameOf<'done'> => {
    first ??= own;
    return { ...own, receipt: first.receipt, signature: first.signature };
  };
  await using net = await networkOf([{ done }]);
  for (let i = 0; i < 2; i += 1) assert.deepEqual(await net.answer(), UNDISTURBED);
  await until(() => net.trust.breaches.length === 1);
  assert.equal(net.trust.breaches[0]?.reason, 'a receipt with an incorrect nonce, requestSha256, chainHead');
  assert.equal(net.bed.agreed.length, 1);
  assert.deepEqual(first && decodeSegmentReceipt(first.receipt), net.bed.agreed[0]?.receipt);
});

const HEX = 'ab'.repeat(32);
const nonceOf = (n: number) => new Uint8Array(16).fill(n);

function sessionOf(node: PeerNode) {
  const settled: { readonly n: number | undefined; readonly signature: Uint8Array }[] = [];
  const settle: WorkerSession['settle'] = ([n], signature) => void settled.push({ n, signature });
  return { node, settled, session: { peer: node.id, settle } as Partial<WorkerSession> as WorkerSession };
}

// They may not have arrived.
it('recent settlements are repeated once in each new session, only to their own worker', async () => {
  const { gateway, nodes } = await freshBed();
  const [worker, other] = nodes as [PeerNode, PeerNode];
  await using store = await openStore('sqlite::memory:');
  const { segments } = store;
  const trust = { breach: (_peer: string, reason: string) => assert.fail(reason) } as Partial<Trust> as Trust;
  const sign = (bytes: Uint8Array) => gateway.sign(bytes);
  const start = () => new Settlement({ trust, segments, gateway: gateway.id, sign, now: () => new Date() });
  const sessions = [worker, worker, worker, other].map(sessionOf);
  const settle = async (settlement: Settlement, at: number, n: number) => {
    const { node, session } = sessions[at] ?? assert.fail();
    const receipt: SegmentReceipt = {
      ...{ version: 1, nonce: nonceOf(n), worker: node.id, gateway: gateway.id, modelSha256: HEX },
      ...{ promptSha256: HEX, requestSha256: HEX, from: 0, to: 1, chainHead: HEX },
      ...{ promptTokens: 1, cachedTokens: 0, reason: 'stop', engine: 'test' },
      ...{ startedAtMs: 1, firstTokenAtMs: 2, endedAtMs: 3 },
    };
    const bytes = encodeSegmentReceipt(receipt);
    const signature = await node.sign(segmentSignedBytes(bytes));
    settlement.settle(session, { receipt, bytes, signature }, undefined, receipt);
    await settlement[Symbol.asyncDispose]();
  };

  const before = start();
  for (const n of [1, 2]) await settle(before, 0, n);
  await settle(before, 1, 3);
  // The gateway restarts, with the same database.
  const after = start();
  await settle(after, 2, 4);
  await settle(after, 3, 5);
  const numbers = sessions.map(({ settled }) => settled.map(({ n }) => n).join());
  assert.deepEqual(numbers, ['1,2', '1,2,3', '1,2,3,4', '5']);
  const kept = await segments.get(nonceOf(1));
  const [again] = sessions[2]?.settled ?? [];
  assert.ok(again && kept);
  assert.ok(await verifyPeerSignature(gateway.id, settleSignedBytes(kept.receipt), again.signature));
});
