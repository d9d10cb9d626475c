import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DomainIndex } from '@strata/analytics';
import { SegmentCounts } from './segment-counts.ts';

it('the questions of one answer count the same domains, also if the index changes between them', async () => {
  const facts = { scannedAt: 1, sector: 'unknown', posture: 0, holders: 0, score: null, services: [] };
  const index = new DomainIndex();
  const put = (id: number, state: 'active' | 'parked') => {
    index.put({ id, name: `d${id}.com`, state, ...facts });
    index.position = { seq: id, scanId: 0 };
  };
  for (const id of [1, 2, 3]) put(id, id === 3 ? 'parked' : 'active');
  const counts = new SegmentCounts(index);
  const query = () => ({ kind: 'terms', of: 'state', numbers: [0] }) as const;
  const asked = query();
  const sizeOf = async (of = query()) => (await counts.of('state:active', of)).size;
  assert.equal(await sizeOf(asked), 2);
  put(4, 'active');
  assert.deepEqual([await sizeOf(asked), await sizeOf()], [2, 3]);
});
