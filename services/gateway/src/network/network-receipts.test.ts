// Receipts of workers held against what was seen: right ones are agreed to, wrong ones are told to trust, and the answer stays.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { decodeSegmentReceipt, type FrameOf, type SegmentReceipt } from '@strata/inference';
import { verifyPeerSignature } from '@strata/p2p';
import { createSimulatedEngine } from '@strata/testnet';
import { answerOf, at, COUNT, job, killed, MODEL, truth, until } from '../test/network/answers.ts';
import { NetworkBed } from '../test/network/network-bed.ts';
import type { WorkerScript } from '../test/network/scripted-worker.ts';

let bed: NetworkBed;
before(async () => {
  bed = await NetworkBed.start(2);
});
after(() => bed?.[Symbol.asyncDispose]());

const whole = { tokens: truth(), kinds: ['begin', 'length'] };
const OTHER = 'ab'.repeat(32);

describe('a receipt', () => {
  it('that is right is agreed to, and the worker has our signature', async () => {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine, job(), { caller: 'key-1' }), whole);
    await until(() => worker.heard.some(({ kind }) => kind === 'settle'));
    const settle = worker.heard.find(({ kind }) => kind === 'settle') as FrameOf<'settle'>;
    const [agreed] = bed.agreed;
    assert.ok(agreed);
    assert.deepEqual([agreed.receipt.from, agreed.receipt.to, agreed.receipt.reason], [0, COUNT, 'length']);
    assert.deepEqual(settle.nonce, agreed.receipt.nonce);
    assert.ok(await verifyPeerSignature(bed.gateway.id, agreed.bytes, settle.signature));
    assert.deepEqual(bed.trust.breaches, []);
  });

  it('is of its worker’s part alone, and a worker that was killed has none', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), at(12, killed));
    await bed.worker(1, createSimulatedEngine());
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
    await until(() => bed.agreed.length === 1);
    const receipt = bed.agreed[0]?.receipt;
    assert.deepEqual([receipt?.worker, receipt?.from, receipt?.to], [bed.nodes[1]?.id, 12, COUNT]);
    assert.deepEqual(
      bed.trust.answers.map(({ worker, from, answer, reason }) => [worker, from, answer, reason]),
      [
        [bed.nodes[0]?.id, 0, truth(12), 'cancelled'],
        [bed.nodes[1]?.id, 12, truth(), 'length'],
      ],
    );
  });

  it('of an answer of nothing is no excuse: trust hears of its end', async () => {
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine({ answerTokens: 0 }));
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), { tokens: [], kinds: ['begin', 'stop'] });
    assert.deepEqual(
      bed.trust.answers.map(({ worker, answer, reason }) => [worker, answer, reason]),
      [[bed.nodes[0]?.id, [], 'stop']],
    );
  });

  const wrong: readonly { readonly field: string; readonly receipt: (receipt: SegmentReceipt) => SegmentReceipt }[] = [
    { field: 'nonce', receipt: (receipt) => ({ ...receipt, nonce: new Uint8Array(16) }) },
    { field: 'worker', receipt: (receipt) => ({ ...receipt, worker: receipt.gateway }) },
    { field: 'gateway', receipt: (receipt) => ({ ...receipt, gateway: receipt.worker }) },
    { field: 'modelSha256', receipt: (receipt) => ({ ...receipt, modelSha256: OTHER }) },
    { field: 'promptSha256', receipt: (receipt) => ({ ...receipt, promptSha256: OTHER }) },
    { field: 'requestSha256', receipt: (receipt) => ({ ...receipt, requestSha256: OTHER }) },
    { field: 'chainHead', receipt: (receipt) => ({ ...receipt, chainHead: OTHER }) },
    { field: 'to', receipt: (receipt) => ({ ...receipt, to: receipt.to + 1 }) },
    { field: 'promptTokens', receipt: (receipt) => ({ ...receipt, promptTokens: receipt.promptTokens + 100 }) },
    { field: 'reason', receipt: (receipt) => ({ ...receipt, reason: 'stop' }) },
    { field: 'cachedTokens', receipt: (receipt) => ({ ...receipt, cachedTokens: receipt.promptTokens + 1 }) },
  ];
  for (const { field, receipt } of wrong)
    it(`with a wrong ${field} is told to trust and not agreed to; the answer stays`, async () => {
      await refused({ receipt }, field);
    });

  it('with a wrong signature is told to trust and not agreed to', async () => {
    await refused({ done: (done) => ({ ...done, signature: new Uint8Array(64) }) }, 'signature');
  });

  it('of before is told to trust and not agreed to', async () => {
    let first: FrameOf<'done'> | undefined;
    const replaying: WorkerScript = {
      done(done) {
        first ??= done;
        return { ...done, receipt: first.receipt, signature: first.signature };
      },
    };
    await bed.fresh();
    await bed.worker(0, createSimulatedEngine(), replaying);
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
    assert.deepEqual(await answerOf(engine), whole);
    await until(() => bed.trust.breaches.length === 1);
    assert.equal(bed.trust.breaches[0]?.reason, 'a receipt with a wrong nonce, requestSha256, chainHead');
    assert.equal(bed.agreed.length, 1);
    assert.ok(first);
    assert.deepEqual(decodeSegmentReceipt(first.receipt), bed.agreed[0]?.receipt);
  });

  async function refused(script: WorkerScript, field: string): Promise<void> {
    await bed.fresh();
    const worker = await bed.worker(0, createSimulatedEngine(), script);
    await using engine = bed.engine(MODEL);
    assert.deepEqual(await answerOf(engine), whole);
    await until(() => bed.trust.breaches.length === 1);
    assert.deepEqual(bed.trust.breaches, [{ peer: bed.nodes[0]?.id, reason: `a receipt with a wrong ${field}` }]);
    assert.deepEqual(bed.agreed, []);
    assert.ok(!worker.heard.some(({ kind }) => kind === 'settle'));
  }
});
