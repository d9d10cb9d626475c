// Random faults of gateways, workers and the database under stored streams, in small: `npm run bench -- faults` takes five minutes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runFaults } from '../../../bench/faults/faults.ts';
import { binaries, notice } from '../../support/database/postgres.ts';

it('streams lose and repeat no token under faults of each kind, and receipts, quotas and accounts of workers add up', {
  skip: binaries ? false : notice,
  timeout: 1_200_000,
}, async () => {
  const { wrong, failed, settled, made } = await runFaults(30);
  assert.deepEqual([wrong, failed], [[], 0]);
  assert.ok(settled > made / 2);
});
