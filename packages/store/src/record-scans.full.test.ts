// More of the histories of record-scans.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { kept, onEach } from './test/places.ts';
import { compareBatches } from './test/scan-histories.ts';

onEach(kept, 'scans in batches', (place) => {
  it('leave every table as the same scans do one by one', async () => {
    let changes = 0;
    for (let seed = 1; seed <= 12; seed += 1) changes += await compareBatches(place, seed);
    assert.ok(changes > 100, `${changes} changes were confirmed`);
  });
});
