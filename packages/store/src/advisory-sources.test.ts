import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type Store } from './index.ts';
import { databases, kept, onEach } from './test/places.ts';

const NOW = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(NOW + ms);
const lease = (owner: string, ms = 1_000) => ({ owner, until: at(ms) });
const begin = (store: Store, owner: string, ms = 0) =>
  store.sources.begin('nvd', { startedAt: at(ms), now: at(ms), lease: lease(owner, ms + 1_000) });
const stateAt = async (store: Store, ms = 0) => (await store.sources.list(at(ms)))[0];
const step = { cursor: { at: 1 }, read: 10, skipped: 2, skippedExample: 'x: no JSON' };
const end = { cursor: { done: true }, finishedAt: at(5), nextAt: at(100) };
const failure = { error: 'it is gone', failures: 3, nextAt: at(50) };
const nothing = { read: 0, skipped: 0, skippedExample: null };

onEach(databases, 'leases of sources', (place) => {
  it('are held by one owner until they end', async () => {
    await using store = await openStore(await place.fresh());
    assert.ok(await begin(store, 'a'));
    assert.equal(await begin(store, 'b', 999), undefined);
    assert.ok(await store.sources.renew('nvd', lease('a', 5_000)));
    assert.equal(await begin(store, 'b', 1_500), undefined);
    assert.ok(await begin(store, 'b', 5_000));
    // Whoever had it before can do nothing any more.
    assert.equal(await store.sources.renew('nvd', lease('a')), false);
    assert.equal(await store.sources.step('nvd', step, lease('a')), false);
    assert.equal(await store.sources.finish('nvd', end, lease('a')), false);
    assert.equal(await store.sources.stop('nvd', { ...failure, ...nothing }, lease('a')), false);
    assert.equal((await stateAt(store, 5_001))?.state, 'syncing');
    assert.equal((await stateAt(store, 5_001))?.cursor, null);
  });

  it('are free after the end, whole or not', async () => {
    await using store = await openStore(await place.fresh());
    await begin(store, 'a');
    assert.ok(await store.sources.finish('nvd', end, lease('a')));
    assert.ok(await begin(store, 'b'));
    assert.ok(await store.sources.stop('nvd', { ...failure, ...nothing }, lease('b')));
    assert.ok(await begin(store, 'c'));
  });
});

onEach(kept, 'leases of sources', (place) => {
  it('go to one of many that ask at once, and hold for other processes', async () => {
    const url = await place.fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const first = await Promise.all(['a', 'b', 'c'].map((owner) => begin(one, owner)));
    assert.equal(first.filter((begun) => begun !== undefined).length, 1);
    // What one process holds, another sees.
    assert.equal(await begin(two, 'd', 999), undefined);
    assert.ok(await begin(two, 'd', 1_000));
    assert.equal(await one.sources.renew('nvd', lease('a')), false);
  });
});

onEach(databases, 'states of sources', (place) => {
  it('read as interrupted when the process is gone, and never as complete before the end', async () => {
    await using store = await openStore(await place.fresh());
    assert.deepEqual(await store.sources.list(at(0)), []);
    await begin(store, 'a');
    assert.equal((await stateAt(store, 999))?.state, 'syncing');
    assert.equal((await stateAt(store, 1_000))?.state, 'interrupted');
    await store.sources.step('nvd', step, lease('a', 2_000));
    const under = await stateAt(store, 1_999);
    assert.deepEqual([under?.state, under?.cursor, under?.finishedAt], ['syncing', { at: 1 }, null]);
    assert.equal((await stateAt(store, 2_000))?.state, 'interrupted');
    await store.sources.finish('nvd', end, lease('a'));
    const whole = await stateAt(store, 9_999);
    assert.deepEqual([whole?.state, whole?.finishedAt, whole?.nextAt], ['complete', at(5), at(100)]);
  });

  it('tell of a failure and forget it when all is well', async () => {
    await using store = await openStore(await place.fresh());
    await begin(store, 'a');
    await store.sources.step('nvd', step, lease('a'));
    await store.sources.stop('nvd', { ...failure, read: 10, skipped: 2, skippedExample: 'x' }, lease('a'));
    const failed = await stateAt(store);
    assert.deepEqual(
      [failed?.state, failed?.error, failed?.failures, failed?.cursor, failed?.nextAt],
      ['failed', 'it is gone', 3, { at: 1 }, at(50)],
    );
    assert.equal((await begin(store, 'b'))?.failures, 3);
    await store.sources.finish('nvd', end, lease('b'));
    const well = await stateAt(store);
    assert.deepEqual([well?.state, well?.error, well?.failures], ['complete', null, 0]);
  });

  it('count on what was cut off, and anew what is a sync of its own', async () => {
    await using store = await openStore(await place.fresh());
    await begin(store, 'a');
    await store.sources.step('nvd', step, lease('a'));
    // Killed; another goes on.
    const again = await begin(store, 'b', 2_000);
    assert.deepEqual(
      [again?.read, again?.skipped, again?.skippedExample, again?.cursor],
      [10, 2, 'x: no JSON', { at: 1 }],
    );
    await store.sources.finish('nvd', end, lease('b'));
    // What the last one read is told until this one has read something.
    const fresh = await begin(store, 'c', 3_000);
    assert.deepEqual([fresh?.read, fresh?.skipped, fresh?.skippedExample], [0, 0, null]);
    assert.deepEqual([(await stateAt(store, 3_000))?.read, (await stateAt(store, 3_000))?.state], [10, 'syncing']);
    // Killed before it has: still a sync of its own.
    assert.equal((await stateAt(store, 9_000))?.state, 'interrupted');
    assert.deepEqual((await begin(store, 'd', 9_000))?.read, 0);
    await store.sources.finish('nvd', end, lease('d'));
    assert.deepEqual([(await stateAt(store))?.read, (await stateAt(store))?.skipped], [10, 2]);
    // Failed before it has: nothing is read, and nothing is counted on.
    await begin(store, 'e', 10_000);
    await store.sources.stop('nvd', { ...failure, ...nothing }, lease('e'));
    assert.equal((await begin(store, 'f', 11_000))?.read, 0);
  });
});
