import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isWanted, openStore } from './index.ts';
import { kept, onEach } from './test/places.ts';
import { streamEvent } from './test/records.ts';

onEach(kept, 'the public stream', (_place, test) => {
  test('begins once, keeps its order, and is found by number and by time', async ({ stream }) => {
    assert.deepEqual([await stream.cursor(), await stream.beganUs(), await stream.latest()], [undefined, 0, undefined]);
    await stream.begin(7, 1_000);
    await stream.begin(9, 2_000);
    assert.deepEqual([await stream.cursor(), await stream.beganUs()], [7, 1_000]);
    const events = [streamEvent(1_001), streamEvent(1_002, { providers: [], category: null, domain: null })];
    const appended = (await stream.append(events, { from: 7, to: 12 })) ?? [];
    assert.deepEqual(
      appended.map(({ seq }) => seq),
      [1, 2],
    );
    assert.equal(await stream.cursor(), 12);
    assert.deepEqual(await stream.since(0, 10), appended, 'read back as written');
    assert.deepEqual(await stream.latest(), appended[1]);
    assert.deepEqual([await stream.seqAt(1_000), await stream.seqAt(1_001), await stream.seqAt(9_999)], [0, 1, 2]);
  });

  test('is written by one process: a second one with an old position writes nothing', async ({ stream }, url) => {
    await using other = await openStore(url);
    await stream.begin(0, 1);
    await stream.append([streamEvent(10)], { from: 0, to: 5 });
    assert.equal(await other.stream.append([streamEvent(11)], { from: 0, to: 5 }), undefined);
    // Its position and its events move together, or neither: a time names one event.
    await assert.rejects(stream.append([streamEvent(11), streamEvent(10)], { from: 5, to: 6 }));
    assert.deepEqual([await stream.cursor(), (await other.stream.since(0, 10)).length], [5, 1]);
  });

  test('deletes what is old, in steps, and never reuses a number', async ({ stream }) => {
    await stream.begin(0, 1);
    const events = Array.from({ length: 10 }, (_, i) => streamEvent(100 + i));
    await stream.append(events, { from: 0, to: 1 });
    assert.equal(await stream.prune(105, 3), 3);
    assert.deepEqual([await stream.prunedThrough(), (await stream.since(0, 1))[0]?.seq], [3, 4]);
    assert.equal(await stream.prune(105, 100), 2);
    assert.equal(await stream.prune(105, 100), 0);
    assert.equal(await stream.prune(1_000, 100), 5);
    const [next] = (await stream.append([streamEvent(200)], { from: 1, to: 2 })) ?? [];
    assert.deepEqual([next?.seq, await stream.prunedThrough()], [11, 10]);
  });
});

describe('an event of the public stream', () => {
  it('passes the filters that it matches', () => {
    const event = { seq: 1, ...streamEvent(1) };
    const both = { category: 'dns', provider: 'x' };
    for (const filter of [{}, { types: ['migration'] }, { domain: 'a.com' }, { provider: 'y' }, both])
      assert.ok(isWanted(event, filter));
    const others = [{ domain: 'b.com' }, { provider: 'z' }, { category: 'cdn' }, { ...both, provider: 'z' }];
    for (const filter of [{ types: ['anomaly'] }, ...others]) assert.ok(!isWanted(event, filter));
  });
});
