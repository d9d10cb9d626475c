// Receipts over a real store: how many a gateway gets that agrees to none.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SegmentReceipt } from '@strata/inference';
import { openStore } from '@strata/store';
import { Receipts } from './receipts.ts';

const HEX = 'ab'.repeat(32);

it('a gateway that agrees to no receipt gets a number of them, also of answers without a token', async () => {
  await using store = await openStore('sqlite::memory:');
  let nowMs = 0;
  const receipts = new Receipts(store.segments, { sign: async () => new Uint8Array(64), nowMs: () => nowMs });
  const receipt = (n: number): SegmentReceipt => ({
    ...{ version: 1, nonce: new Uint8Array(16), worker: 'worker', gateway: 'gateway', modelSha256: HEX },
    ...{ promptSha256: HEX, requestSha256: HEX, from: 3, to: 3, chainHead: HEX, promptTokens: 1, cachedTokens: 0 },
    ...{ reason: 'length', engine: 'test', startedAtMs: 1, firstTokenAtMs: 0, endedAtMs: 1 },
    nonce: Uint8Array.from({ length: 16 }, (_, i) => (n >> (i * 8)) & 0xff),
  });
  for (let n = 0; n < 1_024; n += 1) {
    assert.equal(receipts.isRefused('gateway'), false);
    assert.ok(await receipts.keep(receipt(n)));
  }
  assert.equal(receipts.isRefused('gateway'), true);
  assert.equal(receipts.isRefused('another'), false);
  nowMs = 60_000;
  assert.equal(receipts.isRefused('gateway'), false);
});
