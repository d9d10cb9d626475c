// Scans recorded in batches: as if one after another, whatever they contain, and whichever processes record at the same time.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { kept, memory, onEach, postgres, rows } from './test/places.ts';
import { compareBatches } from './test/scan-histories.ts';
import { confirm, day, exchangeOn, GOOGLE, HOUR, scanOf } from './test/scans.ts';

onEach(kept, 'scans in batches', (place, test) => {
  // More histories: record-scans.full.test.ts. More scans than fit one transaction: backup.test.ts.
  it('leave every table as the same scans do one by one', async () => {
    const [first, second] = [await compareBatches(place, 1), await compareBatches(place, 2)];
    assert.ok(first + second > 15, `${first} + ${second} changes were confirmed`);
  });

  test('are recorded but for those that cannot be', async (store) => {
    const good = (n: number) => scanOf(`d${n}.com`, day(0), GOOGLE);
    const timeless = { ...good(3), profile: { ...good(3).profile, observedAt: 'yesterday' } };
    const refused = { ...good(5), startedAt: new Date(Number.NaN) };
    const batch = [good(0), good(1), good(2), timeless, good(4), refused, good(6), good(0)];
    const results = await store.recordScans(batch, confirm);
    const recorded = results.map(({ status }) => status === 'fulfilled');
    const isGood = batch.map((scan) => scan !== timeless && scan !== refused);
    assert.deepEqual(recorded, isGood);
    const why = results[3];
    assert.match(String(why?.status === 'rejected' && why.reason), /d3\.com does not say when it was made/);
    assert.deepEqual(await store.counts(), { domains: 5, scannedDomains: 5, services: 15, scans: 6, changes: 0 });
    await assert.rejects(store.recordScan(refused, confirm));
    assert.deepEqual(await store.recordScans([], confirm), []);
  });
});

onEach([postgres], 'batches of several processes', (_place, test) => {
  test('are of the same domains, and come out as if one scan had been recorded after another', async (one, url) => {
    await using two = await openStore(url);
    const names = Array.from({ length: 10 }, (_, n) => `d${n}.com`);
    const scans = (n: number) => names.map((name) => scanOf(name, day(n), exchangeOn(n)));
    // All at once: what is planned before the transaction is outdated by other processes' writes again and again.
    const recorded = await Promise.all(
      [one, two].flatMap((store) => Array.from({ length: 8 }, (_, n) => store.recordScans(scans(n), confirm))),
    );
    assert.ok(recorded.flat().every(({ status }) => status === 'fulfilled'));
    assert.equal((await one.counts()).scans, 160);
    // The order in which they were written is that of their numbers: one store alone makes the same of it.
    await using alone = await openStore(await memory.fresh());
    for (const { name, observed_at } of await rows(
      url,
      'select name, observed_at from scans join domains on domains.id = domain_id order by scans.id',
    )) {
      const n = (Number(observed_at) - Date.parse(day(0))) / (24 * HOUR);
      await alone.recordScan(scanOf(String(name), day(n), exchangeOn(n)), confirm);
    }
    assert.deepEqual(await one.eventsSince(0, 10_000), await alone.eventsSince(0, 10_000));
    const page = { limit: 100, offset: 0 };
    for (const name of names) {
      assert.deepEqual(await one.domain(name), await alone.domain(name));
      assert.deepEqual(await one.changes(name, page), await alone.changes(name, page));
    }
  });
});
