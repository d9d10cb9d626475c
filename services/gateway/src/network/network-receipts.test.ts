// Receipts of workers compared with what was observed: right ones are signed, wrong ones are breaches, and the answer stays.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeSegmentReceipt, type FrameOf, type SegmentReceipt } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import { at, COUNT, job, killed, truth, until } from '../test/network/answers.ts';
import { networkOf, UNDISTURBED, type WorkerOptions } from '../test/network/shared-bed.ts';

describe('a receipt', () => {
  it('that is right is signed by the gateway', async () => {
    await using net = await networkOf([{}]);
    assert.deepEqual(await net.answer(job(), { caller: 'key-1' }), UNDISTURBED);
    const settle = await net.worker(0).received('settle');
    const [agreed] = net.bed.agreed;
    assert.ok(agreed);
    assert.deepEqual([agreed.receipt.from, agreed.receipt.to, agreed.receipt.reason], [0, COUNT, 'length']);
    assert.deepEqual(settle.nonce, agreed.receipt.nonce);
    assert.ok(await verifyPeerSignature(net.bed.gateway.id, agreed.bytes, settle.signature));
    assert.deepEqual(net.trust.breaches, []);
  });

  it('is of the part of its worker alone, and a worker that was killed has none', async () => {
    await using net = await networkOf([at(12, killed), {}]);
    assert.deepEqual(await net.answer(), UNDISTURBED);
    await until(() => net.bed.agreed.length === 1);
    const [first, second] = [net.bed.peer(0), net.bed.peer(1)];
    assert.partialDeepStrictEqual(net.bed.agreed[0]?.receipt, { worker: second, from: 12, to: COUNT });
    assert.partialDeepStrictEqual(net.trust.answers, [
      { worker: first, from: 0, answer: truth(12), reason: 'cancelled' },
      { worker: second, from: 12, answer: truth(), reason: 'length' },
    ]);
  });

  const changed = (change: (receipt: SegmentReceipt) => Partial<SegmentReceipt>): WorkerOptions => ({
    receipt: (right) => ({ ...right, ...change(right) }),
  });
  // The other fields are compared in the same place: see segment.test.ts of packages/inference.
  const scripts: Readonly<Record<string, WorkerOptions>> = {
    worker: changed(({ gateway }) => ({ worker: gateway })),
    gateway: changed(({ worker }) => ({ gateway: worker })),
    requestSha256: changed(() => ({ requestSha256: 'ab'.repeat(32) })),
    to: changed(({ to }) => ({ to: to + 1 })),
    reason: changed(() => ({ reason: 'stop' })),
    signature: { done: (done) => ({ ...done, signature: new Uint8Array(64) }) },
  };
  for (const [field, script] of Object.entries(scripts))
    it(`with a wrong ${field} is a breach and is not signed`, async () => {
      await using net = await networkOf([script]);
      assert.deepEqual(await net.answer(), UNDISTURBED);
      await until(() => net.trust.breaches.length === 1);
      assert.deepEqual(net.trust.breaches, [{ peer: net.bed.peer(0), reason: `a receipt with a wrong ${field}` }]);
      assert.deepEqual(net.bed.agreed, []);
      assert.ok(!net.worker(0).heard.some(({ kind }) => kind === 'settle'));
    });

  it('of an earlier answer is a breach and is not signed again', async () => {
    let first: FrameOf<'done'> | undefined;
    const done = (own: FrameOf<'done'>): FrameOf<'done'> => {
      first ??= own;
      return { ...own, receipt: first.receipt, signature: first.signature };
    };
    await using net = await networkOf([{ done }]);
    for (let i = 0; i < 2; i += 1) assert.deepEqual(await net.answer(), UNDISTURBED);
    await until(() => net.trust.breaches.length === 1);
    assert.equal(net.trust.breaches[0]?.reason, 'a receipt with a wrong nonce, requestSha256, chainHead');
    assert.equal(net.bed.agreed.length, 1);
    assert.deepEqual(first && decodeSegmentReceipt(first.receipt), net.bed.agreed[0]?.receipt);
  });
});
