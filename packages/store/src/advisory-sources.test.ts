import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openStore, type Store } from './index.ts';
import { databases, kept, onEach, postgres } from './test/places.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
const lease = (owner: string, ms = 1_000) => ({ owner, until: at(ms) });
const begin = ({ sources }: Store, owner: string, ms = 0) =>
  sources.begin('nvd', { startedAt: at(ms), now: at(ms), lease: lease(owner, ms + 1_000) });
const sourceAt = async ({ sources }: Store, ms = 0) => (await sources.list(at(ms)))[0];
const stateAt = async (store: Store, ms = 0) => (await sourceAt(store, ms))?.state;
const step = { cursor: { at: 1 }, read: 10, skipped: 2, skippedExample: 'x: no JSON' };
const end = { cursor: { done: true }, finishedAt: at(5), nextAt: at(100) };
const failure = { error: 'it is gone', failures: 3, nextAt: at(50), read: 0, skipped: 0, skippedExample: null };

onEach(databases, 'leases of sources', (_place, test) => {
  test('are held by one owner until they end', async (store) => {
    const { sources } = store;
    assert.ok(await begin(store, 'a'));
    assert.equal(await begin(store, 'b', 999), undefined);
    assert.ok(await sources.renew('nvd', lease('a', 5_000)));
    assert.equal(await begin(store, 'b', 1_500), undefined);
    assert.ok(await begin(store, 'b', 5_000));
    // The previous owner can do nothing any more.
    assert.equal(await sources.renew('nvd', lease('a')), false);
    assert.equal(await sources.step('nvd', step, lease('a')), false);
    assert.equal(await sources.finish('nvd', end, lease('a')), false);
    assert.equal(await sources.stop('nvd', failure, lease('a')), false);
    assert.partialDeepStrictEqual(await sourceAt(store, 5_001), { state: 'syncing', cursor: null });
  });

  test('are free after the end, complete or not', async (store) => {
    await begin(store, 'a');
    assert.ok(await store.sources.finish('nvd', end, lease('a')));
    assert.ok(await begin(store, 'b'));
    assert.ok(await store.sources.stop('nvd', failure, lease('b')));
    assert.ok(await begin(store, 'c'));
  });

  test('read as interrupted without their process, and never as complete before the end', async (store) => {
    assert.deepEqual(await store.sources.list(at(0)), []);
    await begin(store, 'a');
    assert.deepEqual([await stateAt(store, 999), await stateAt(store, 1_000)], ['syncing', 'interrupted']);
    await store.sources.step('nvd', step, lease('a', 2_000));
    const running = { state: 'syncing', cursor: { at: 1 }, finishedAt: null };
    assert.partialDeepStrictEqual(await sourceAt(store, 1_999), running);
    assert.equal(await stateAt(store, 2_000), 'interrupted');
    await store.sources.finish('nvd', end, lease('a'));
    const complete = { state: 'complete', finishedAt: at(5), nextAt: at(100) };
    assert.partialDeepStrictEqual(await sourceAt(store, 9_999), complete);
  });

  test('leave states that report a failure until the next success', async (store) => {
    await begin(store, 'a');
    await store.sources.step('nvd', step, lease('a'));
    await store.sources.stop('nvd', { ...failure, read: 10, skipped: 2, skippedExample: 'x' }, lease('a'));
    const failed = { state: 'failed', error: 'it is gone', failures: 3, cursor: { at: 1 }, nextAt: at(50) };
    assert.partialDeepStrictEqual(await sourceAt(store), failed);
    assert.equal((await begin(store, 'b'))?.failures, 3);
    await store.sources.finish('nvd', end, lease('b'));
    assert.partialDeepStrictEqual(await sourceAt(store), { state: 'complete', error: null, failures: 0 });
  });

  test('leave figures that go on counting what was cut off, and anew in a sync of its own', async (store) => {
    await begin(store, 'a');
    await store.sources.step('nvd', step, lease('a'));
    // Killed; another process goes on.
    assert.partialDeepStrictEqual(await begin(store, 'b', 2_000), step);
    await store.sources.finish('nvd', end, lease('b'));
    // The figures of the last sync are reported until this one has read something.
    const fresh = await begin(store, 'c', 3_000);
    assert.partialDeepStrictEqual(fresh, { read: 0, skipped: 0, skippedExample: null });
    assert.partialDeepStrictEqual(await sourceAt(store, 3_000), { read: 10, state: 'syncing' });
    // Killed before it has: still a sync of its own.
    assert.equal(await stateAt(store, 9_000), 'interrupted');
    assert.equal((await begin(store, 'd', 9_000))?.read, 0);
    await store.sources.finish('nvd', end, lease('d'));
    assert.partialDeepStrictEqual(await sourceAt(store), { read: 10, skipped: 2 });
    // Failed before it has: nothing is read, and nothing is counted on.
    await begin(store, 'e', 10_000);
    await store.sources.stop('nvd', failure, lease('e'));
    assert.equal((await begin(store, 'f', 11_000))?.read, 0);
  });
});

onEach(kept, 'leases of sources', (place) => {
  it('go to one of many that ask at once, and hold for other processes', async () => {
    const url = await place.fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    // A transaction on a file blocks the event loop of another that waits for it.
    const other = place === postgres ? two : one;
    const first = await Promise.all(['a', 'b', 'c', 'd'].map((owner, i) => begin(i % 2 ? one : other, owner)));
    assert.equal(first.filter((begun) => begun !== undefined).length, 1);
    assert.deepEqual([await begin(one, 'e', 999), await begin(two, 'e', 999)], [undefined, undefined]);
    assert.ok(await begin(two, 'e', 1_000));
    for (const owner of ['a', 'b', 'c', 'd']) assert.equal(await one.sources.renew('nvd', lease(owner)), false);
  });
});
