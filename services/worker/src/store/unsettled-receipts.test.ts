import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SegmentReceipt } from '@strata/inference';
import type { Segments } from '@strata/segments';
import { Receipts } from './receipts.ts';
import { UnsettledReceipts } from './unsettled-receipts.ts';

it('receipts without an agreement are limited per gateway; agreements and time reduce them', () => {
  let nowMs = 0;
  const unsettled = new UnsettledReceipts(() => nowMs);
  const isFull = (gateway = 'silent') => unsettled.isFull(gateway);
  for (let i = 0; i < 1_024; i += 1) {
    assert.equal(isFull(), false);
    unsettled.added('silent');
  }
  assert.deepEqual([isFull(), isFull('another')], [true, false]);
  unsettled.settled('silent');
  assert.equal(isFull(), false);
  unsettled.added('silent');
  nowMs = 9_999;
  assert.equal(isFull(), false, 'a part of one is forgotten');
  unsettled.added('silent');
  assert.equal(isFull(), true);
  nowMs = 30_000;
  assert.equal(isFull(), false);
  for (let i = 0; i < 10_000; i += 1) {
    unsettled.added('honest');
    unsettled.settled('honest');
  }
  assert.equal(isFull('honest'), false, 'never of a gateway that signs');
});
it('receipts without an agreement are counted also for answers without tokens', async () => {
  const HEX = 'ab'.repeat(32);
  const segments = { put: async () => true } as unknown as Segments;
  const receipts = new Receipts(segments, { sign: async () => new Uint8Array(64), nowMs: () => 0 });
  const receipt: SegmentReceipt = {
    ...{ version: 1, nonce: new Uint8Array(16), worker: 'worker', gateway: 'gateway', modelSha256: HEX },
    ...{ promptSha256: HEX, requestSha256: HEX, from: 3, to: 3, chainHead: HEX, promptTokens: 1, cachedTokens: 0 },
    ...{ reason: 'length', engine: 'test', startedAtMs: 1, firstTokenAtMs: 0, endedAtMs: 1 },
  };
  for (let n = 0; n < 1_024; n += 1) assert.ok(!receipts.isRefused('gateway') && (await receipts.keep(receipt)));
  assert.deepEqual([receipts.isRefused('gateway'), receipts.isRefused('another')], [true, false]);
});
