import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Unsettled } from './unsettled.ts';

describe('receipts that are not agreed to', () => {
  it('are so many for each gateway; agreements and time make room', () => {
    let nowMs = 0;
    const unsettled = new Unsettled(() => nowMs);
    for (let i = 0; i < 1_024; i += 1) unsettled.given('silent');
    assert.equal(unsettled.isFull('silent'), true);
    assert.equal(unsettled.isFull('another'), false);
    unsettled.settled('silent');
    assert.equal(unsettled.isFull('silent'), false);
    unsettled.given('silent');
    nowMs = 9_999;
    assert.equal(unsettled.isFull('silent'), false, 'part of one is forgotten');
    unsettled.given('silent');
    assert.equal(unsettled.isFull('silent'), true);
    nowMs = 30_000;
    assert.equal(unsettled.isFull('silent'), false);
  });

  it('of one who agrees are never too many', () => {
    const unsettled = new Unsettled(() => 0);
    for (let i = 0; i < 10_000; i += 1) {
      unsettled.given('honest');
      assert.equal(unsettled.isFull('honest'), false);
      unsettled.settled('honest');
    }
  });
});
