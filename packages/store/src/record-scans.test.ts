// Scans recorded in batches: as if one after another, whatever they are of, and whoever records beside.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { kept, onEach, postgres } from './test/places.ts';
import { assertAsOneAfterAnother } from './test/replay.ts';
import { compareBatches } from './test/scan-histories.ts';
import { confirm, day, exchangeOn, GOOGLE, scanOf } from './test/scans.ts';

onEach(kept, 'scans in batches', (place) => {
  // More histories: record-scans.full.test.ts.
  it('leave every table as the same scans do one by one', async () => {
    const [first, second] = [await compareBatches(place, 1), await compareBatches(place, 2)];
    assert.ok(first + second > 15, `${first} + ${second} changes were confirmed`);
  });

  it('are recorded but for those that cannot be', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const good = (n: number) => scanOf(`d${n}.com`, day(0), GOOGLE);
    const timeless = { ...good(3), profile: { ...good(3).profile, observedAt: 'yesterday' } };
    const refused = { ...good(5), startedAt: new Date(Number.NaN) };
    const batch = [good(0), good(1), good(2), timeless, good(4), refused, good(6), good(0)];
    const results = await store.recordScans(batch, confirm);
    assert.deepEqual(
      results.map(({ status }) => status),
      batch.map((scan) => (scan === timeless || scan === refused ? 'rejected' : 'fulfilled')),
    );
    const [, , , why] = results;
    assert.match(String(why?.status === 'rejected' && why.reason), /d3\.com does not say when it was made/);
    assert.deepEqual(await store.counts(), { domains: 5, scannedDomains: 5, services: 15, scans: 6, changes: 0 });
    await assert.rejects(store.recordScan(refused, confirm));
    assert.deepEqual(await store.recordScans([], confirm), []);
  });

  it('are more than a transaction takes, and each once', async () => {
    await using store = await openStore(await place.fresh());
    const scans = Array.from({ length: 700 }, (_, n) => scanOf(`d${n}.com`, day(0), GOOGLE));
    const results = await store.recordScans(scans, confirm);
    assert.equal(results.filter((each) => each.status === 'fulfilled' && each.value.isFirst).length, 700);
    assert.deepEqual(await store.counts(), {
      domains: 700,
      scannedDomains: 700,
      services: 2_100,
      scans: 700,
      changes: 0,
    });
  });
});

onEach([postgres], 'batches of several processes', ({ fresh }) => {
  it('are of the same domains, and come out as if one scan had been recorded after another', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const names = Array.from({ length: 10 }, (_, n) => `d${n}.com`);
    const look = (n: number) => names.map((name) => scanOf(name, day(n), exchangeOn(n)));
    // All at once: what is planned before the turn is overtaken by others' writing again and again.
    const recorded = await Promise.all(
      [one, two].flatMap((store) => Array.from({ length: 8 }, (_, n) => store.recordScans(look(n), confirm))),
    );
    assert.ok(recorded.flat().every(({ status }) => status === 'fulfilled'));
    assert.equal((await one.counts()).scans, 160);
    await assertAsOneAfterAnother(url, one);
  });
});
