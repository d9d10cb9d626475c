import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isWanted, openStore, type StreamEvent } from './index.ts';
import { kept, onEach } from './test/places.ts';

const event = (publishedUs: number, more: Partial<StreamEvent> = {}): Omit<StreamEvent, 'seq'> => ({
  ...{ publishedUs, type: 'migration', domain: 'a.com', providers: ['x', 'y'], category: 'dns' },
  body: `{"at":${publishedUs}}`,
  ...more,
});

onEach(kept, 'the public stream', (place) => {
  it('begins once, keeps its order, and is found by number and by time', async () => {
    await using store = await openStore(await place.fresh());
    const { stream } = store;
    assert.deepEqual([await stream.cursor(), await stream.beganUs(), await stream.latest()], [undefined, 0, undefined]);
    await stream.begin(7, 1_000);
    await stream.begin(9, 2_000);
    assert.deepEqual([await stream.cursor(), await stream.beganUs()], [7, 1_000]);
    const events = [event(1_001), event(1_002, { providers: [], category: null, domain: null })];
    const received = (await stream.append(events, { from: 7, to: 12 })) ?? [];
    assert.deepEqual([received[0]?.seq, received[1]?.seq, received.length], [1, 2, 2]);
    assert.equal(await stream.cursor(), 12);
    assert.deepEqual(await stream.since(0, 10), received, 'read back as written');
    assert.deepEqual(await stream.latest(), received[1]);
    assert.deepEqual([await stream.seqAt(1_000), await stream.seqAt(1_001), await stream.seqAt(9_999)], [0, 1, 2]);
  });

  it('is told by one process: who comes second with an old place writes nothing', async () => {
    const url = await place.fresh();
    await using one = await openStore(url);
    await using other = await openStore(url);
    await one.stream.begin(0, 1);
    await one.stream.append([event(10)], { from: 0, to: 5 });
    assert.equal(await other.stream.append([event(11)], { from: 0, to: 5 }), undefined);
    assert.equal((await other.stream.since(0, 10)).length, 1);
  });

  it('moves its place and its events together, or neither', async () => {
    await using store = await openStore(await place.fresh());
    await store.stream.begin(0, 1);
    await store.stream.append([event(10)], { from: 0, to: 5 });
    await assert.rejects(store.stream.append([event(11), event(10)], { from: 5, to: 6 }), 'a time names one event');
    assert.deepEqual([await store.stream.cursor(), (await store.stream.since(0, 10)).length], [5, 1]);
  });

  it('forgets what is old, in steps, and never gives a number twice', async () => {
    await using store = await openStore(await place.fresh());
    const { stream } = store;
    await stream.begin(0, 1);
    await stream.append(
      Array.from({ length: 10 }, (_, i) => event(100 + i)),
      { from: 0, to: 1 },
    );
    assert.equal(await stream.prune(105, 3), 3);
    assert.deepEqual([await stream.prunedThrough(), (await stream.since(0, 1))[0]?.seq], [3, 4]);
    assert.equal(await stream.prune(105, 100), 2);
    assert.equal(await stream.prune(105, 100), 0);
    assert.equal(await stream.prune(1_000, 100), 5);
    const [next] = (await stream.append([event(200)], { from: 1, to: 2 })) ?? [];
    assert.deepEqual([next?.seq, await stream.prunedThrough()], [11, 10]);
  });
});

describe('an event of the public stream', () => {
  it('is wanted by whose filter it fits', () => {
    const received = { seq: 1, ...event(1) };
    const both = { category: 'dns', provider: 'x' };
    for (const filter of [{}, { types: ['migration'] }, { domain: 'a.com' }, { provider: 'y' }, both])
      assert.ok(isWanted(received, filter));
    const others = [{ domain: 'b.com' }, { provider: 'z' }, { category: 'cdn' }, { ...both, provider: 'z' }];
    for (const filter of [{ types: ['anomaly'] }, ...others]) assert.ok(!isWanted(received, filter));
  });
});
