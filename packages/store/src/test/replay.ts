// What several processes have recorded at once, recorded again by one.
import assert from 'node:assert/strict';
import { openStore, type Store } from '../index.ts';
import { rows } from './places.ts';
import { confirm, day, exchangeOn, HOUR, scanOf } from './scans.ts';

/**
 * The order in which scans were written is that of their numbers: fails unless one store alone makes the same of it. The scans are those
 * of `exchangeOn`.
 */
export async function assertAsOneAfterAnother(url: string, store: Store): Promise<void> {
  const order = await rows(
    url,
    'select name, observed_at from scans join domains on domains.id = domain_id order by scans.id',
  );
  await using alone = await openStore('sqlite::memory:');
  for (const { name, observed_at } of order) {
    const n = (Number(observed_at) - Date.parse(day(0))) / (24 * HOUR);
    await alone.recordScan(scanOf(String(name), day(n), exchangeOn(n)), confirm);
  }
  assert.deepEqual(await store.eventsSince(0, 10_000), await alone.eventsSince(0, 10_000));
  const page = { limit: 100, offset: 0 };
  for (const name of new Set(order.map(({ name }) => String(name)))) {
    assert.deepEqual(await store.domain(name), await alone.domain(name));
    assert.deepEqual(await store.changes(name, page), await alone.changes(name, page));
  }
}
