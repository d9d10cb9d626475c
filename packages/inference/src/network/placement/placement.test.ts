import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf, randomFrom } from '../../../../../tests/support/index.ts';
import { weightedDraw } from '../audit/weighted-draw.ts';
import { evictionMs } from './eviction.ts';
import { type Candidate, type CandidateField, choosePlacement, expectedFirstTokenMs } from './placement.ts';
import { PrefixMap } from './prefix-map.ts';
import { replayOf } from './replay.ts';

const idle: Candidate = {
  ...{ peer: 'idle', slots: 4, jobs: 0, rttMs: 10, loadMs: 0, isLoading: false, evictionMs: 0 },
  ...{ prefillTokensPerSecond: 1_000, decodeTokensPerSecond: 50 },
  ...{ cachedTokens: 0, reputation: 1, isOpen: false },
};
const request = { promptTokens: 1_000, replayTokens: 0 };

function fieldOf(candidates: readonly Candidate[], holders: readonly number[] = []) {
  const inspected: number[] = [];
  const field: CandidateField = {
    size: candidates.length,
    at: (index) => {
      inspected.push(index);
      return candidates[index] as Candidate;
    },
    draw: weightedDraw(candidates.map(({ slots, decodeTokensPerSecond }) => slots * (decodeTokensPerSecond || 1))),
    holders,
  };
  return { field, inspected };
}

const random = randomFrom(11);
const choose = (candidates: readonly Candidate[], holders?: readonly number[]) =>
  choosePlacement(fieldOf(candidates, holders).field, request, random);

it('expected time to the first token is the round trip, the prompt and one token if no job is ahead', () => {
  assert.equal(expectedFirstTokenMs(idle, request), 10 + 1_000 + 20);
  assert.equal(expectedFirstTokenMs({ ...idle, cachedTokens: 900 }, request), 10 + 100 + 20);
  assert.equal(expectedFirstTokenMs({ ...idle, cachedTokens: 5_000 }, request), 10 + 20);
});
it('expected time to the first token includes the jobs that must end first, spread over the slots', () => {
  const jobMs = 300 + 200 * 20;
  const expected = [3, 4, 8].map((jobs) => expectedFirstTokenMs({ ...idle, jobs }, request));
  assert.deepEqual(expected, [1_030, 1_030 + jobMs / 4, 1_030 + (jobMs * 5) / 4]);
});
it('expected time to the first token includes the replay of a short answer token by token, and of a long one in a batch', () => {
  const after = (replayTokens: number) => expectedFirstTokenMs(idle, { promptTokens: 0, replayTokens }) - 30;
  assert.deepEqual([40, 60].map(after), [800, 60]);
});
it('expected time to the first token assumes a slow worker if the speed is unknown', () => {
  const unknown = { ...idle, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0 };
  assert.equal(expectedFirstTokenMs(unknown, request), 10 + 10_000 + 100);
});

describe('placement', () => {
  it('chooses the faster one of two', () => {
    for (let i = 0; i < 20; i++) assert.equal(choose([{ ...idle, peer: 'far', rttMs: 300 }, idle])?.peer, 'idle');
    assert.deepEqual(choose([idle]), { index: 0, peer: 'idle', expectedFirstTokenMs: 1_030 });
    assert.equal(choose([]), undefined);
  });
  it('loads the model elsewhere only if the workers that have loaded it are full, for more than half of the load', () => {
    const cold = { ...idle, peer: 'cold', loadMs: 4_000 };
    for (let i = 0; i < 20; i++) assert.equal(choose([cold, cold, { ...idle, rttMs: 5_000 }])?.peer, 'idle');
    assert.equal(choose([cold, { ...idle, jobs: 4 }])?.peer, 'idle');
    assert.equal(
      choose([
        { ...cold, evictionMs: 4_000 },
        { ...idle, jobs: 5 },
      ])?.peer,
      'idle',
    );
    assert.equal(choose([cold, { ...idle, jobs: 5 }])?.expectedFirstTokenMs, 5_030);
  });
  it('loads one at a time, where that costs other models least', () => {
    const cold = { ...idle, peer: 'cold', loadMs: 2_000 };
    const loading = { ...cold, peer: 'loading', loadMs: 30_000, isLoading: true };
    const evicting = { ...cold, peer: 'evicting', loadMs: 1_000, evictionMs: 5_000 };
    const small = { ...cold, peer: 'small', loadMs: 1_000, evictionMs: Number.POSITIVE_INFINITY };
    assert.equal(choose([evicting, cold, small])?.peer, 'cold');
    assert.equal(choose([small]), undefined);
    assert.equal(choose([cold, { ...loading, jobs: 3 }])?.peer, 'loading');
    assert.equal(choose([cold, { ...loading, jobs: 4 }])?.peer, 'cold', 'demand exceeds what it will serve');
    assert.equal(choose([cold, { ...idle, peer: 'doubted', reputation: 0.1 }])?.peer, 'cold');
  });
  it('of what a load would close, counts recent use and what must be loaded again', () => {
    const [idleFor, used] = [
      { memoryBytes: 4, loadMs: 1_000, idleMs: 540_000 },
      { memoryBytes: 4, loadMs: 1_000, idleMs: 0 },
    ];
    assert.deepEqual([evictionMs(4, 4, [used]), evictionMs(4, 0, [used, idleFor])], [0, 400]);
    assert.deepEqual([evictionMs(8, 0, [used, idleFor]), evictionMs(9, 0, [used, idleFor])], [4_400, Infinity]);
  });
  it('returns a conversation to the worker with its prefix, unless that worker is full', () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ ...idle, peer: `w${i}` }));
    const reader = { ...idle, peer: 'reader', cachedTokens: 960 };
    assert.equal(choose([...many, reader], [100])?.peer, 'reader');
    assert.notEqual(choose([...many, { ...reader, jobs: 4 }], [100])?.peer, 'reader');
    // All workers are full: the one with the fewest tokens left to read is chosen.
    const full = many.map((each) => ({ ...each, jobs: 4 }));
    assert.equal(choose([...full, { ...reader, jobs: 4 }], [100])?.peer, 'reader');
  });
  it('finds the last free slot among a thousand workers', () => {
    const workers = Array.from({ length: 1_000 }, (_, i) => ({ ...idle, peer: `w${i}`, jobs: i === 777 ? 3 : 4 }));
    assert.deepEqual(choose(workers)?.peer, 'w777');
  });
  it('chooses the fastest of all if no slot is free', () => {
    const workers = Array.from({ length: 50 }, (_, i) => ({ ...idle, peer: `w${i}`, jobs: 54 - i }));
    assert.equal(choose(workers)?.peer, 'w49');
  });
  it('prefers waiting for a full worker to a free slot of one that would take hours', () => {
    const full = { ...idle, peer: 'full', jobs: 4 };
    for (const claim of [{ decodeTokensPerSecond: 0.001 }, { prefillTokensPerSecond: 0.001 }]) {
      const snail = { ...idle, peer: 'snail', ...claim };
      assert.equal(choose([snail, full], [0])?.peer, 'full');
      assert.equal(choose([snail])?.peer, 'snail', 'if there is no other worker');
    }
  });
  it('never chooses a quarantined worker, or one whose breaker is open', () => {
    const bad = [{ reputation: 0 }, { isOpen: true }].map((more) => ({ ...idle, ...more }));
    assert.equal(choose(bad, [0, 1]), undefined);
    assert.equal(choose([...bad, { ...idle, peer: 'slow', rttMs: 60_000 }], [0, 1])?.peer, 'slow');
  });
  it('chooses a doubted worker only if there is no other, and a half-trusted one if it is twice as fast', () => {
    const doubted = { ...idle, peer: 'doubted', reputation: 0.1, rttMs: 0, cachedTokens: 1_000 };
    const full = { ...idle, peer: 'full', jobs: 94 };
    assert.deepEqual([choose([doubted, full], [0])?.peer, choose([doubted])?.peer], ['full', 'doubted']);
    const half = { ...idle, peer: 'half', reputation: 0.5 };
    assert.equal(choose([half, { ...idle, rttMs: 900 }])?.peer, 'idle');
    assert.equal(choose([half, { ...idle, rttMs: 1_100 }])?.peer, 'half');
  });
  it('inspects few of many workers', () => {
    const { field, inspected } = fieldOf(Array.from({ length: 1_000 }, (_, i) => ({ ...idle, jobs: i % 5 })));
    for (let i = 0; i < 100; i++) assert.notEqual((choosePlacement(field, request, random)?.index ?? 4) % 5, 4);
    assert.ok(inspected.length < 100 * 5, `${inspected.length}`);
  });
  it('draws in proportion to weight, and never a weight of zero', () => {
    const { draw } = weightedDraw([0, 1, 0, 3, 0]);
    const drawn = Array.from({ length: 1_000 }, (_, i) => draw(i / 1_000));
    assert.deepEqual(drawn, [...Array(250).fill(1), ...Array(750).fill(3)]);
    assert.deepEqual([weightedDraw([0, 0]).draw(0.5), weightedDraw([]).draw(0)], [-1, -1]);
  });
});

const MODEL = 'ab'.repeat(32);
const counting = (length: number, from = 0) => Array.from({ length }, (_, i) => from + i);

it('prefix map knows how much of a conversation each worker has read, longest prefix first', () => {
  const map = new PrefixMap();
  const conversation = counting(1_000);
  map.note('some', MODEL, conversation.slice(0, 300));
  map.note('all', MODEL, conversation);
  const cached = [...map.cachedTokens(MODEL, [...conversation, 7, 8, 9])].map(([peer, count]) => `${peer} ${count}`);
  assert.deepEqual(cached, ['all 960', 'some 256']);
  assert.equal(map.cachedTokens(MODEL, conversation.slice(0, 63)).size, 0);
});
it('prefix map knows a block only if all blocks before it are the same, in the same model', () => {
  const map = new PrefixMap();
  map.note('w', MODEL, counting(640));
  assert.equal(map.cachedTokens(MODEL, [5, ...counting(640).slice(1)]).size, 0);
  assert.equal(map.cachedTokens(MODEL, counting(64, 64)).size, 0);
  assert.equal(map.cachedTokens('cd'.repeat(32), counting(640)).size, 0);
  assert.equal(map.cachedTokens(MODEL, [...counting(128), ...counting(128, 9_000)]).get('w'), 128);
});
it('prefix map is bounded, and evicts the oldest blocks, last blocks of a prefix first', () => {
  const map = new PrefixMap({ maxBlocks: 10 });
  map.note('w', MODEL, counting(64 * 8));
  map.note('w', MODEL, counting(64 * 6, 100_000));
  assert.equal(map.size, 10);
  assert.equal(map.cachedTokens(MODEL, counting(64 * 6, 100_000)).get('w'), 64 * 6);
  assert.equal(map.cachedTokens(MODEL, counting(64 * 8)).get('w'), 64 * 4);
  map.note('w', MODEL, counting(64 * 1_000, 500_000));
  assert.equal(map.size, 10);
});
it('prefix map forgets a worker that has lost its cache, and can learn about it again', () => {
  const map = new PrefixMap();
  map.note('a', MODEL, counting(128));
  map.note('b', MODEL, counting(128));
  map.forget('a');
  assert.deepEqual([...map.cachedTokens(MODEL, counting(128)).keys()], ['b']);
  map.note('a', MODEL, counting(64));
  assert.equal(map.cachedTokens(MODEL, counting(128)).get('a'), 64);
});
it('prefix map remembers few of the many workers that have read the same prefix', () => {
  const map = new PrefixMap();
  for (let i = 0; i < 1_000; i++) map.note(`w${i}`, MODEL, counting(128));
  const found = map.cachedTokens(MODEL, counting(128));
  assert.equal(found.size, 8);
  assert.ok(found.has('w999'));
});
it('prefix map distinguishes 50,000 prefixes that differ in one token', () => {
  const map = new PrefixMap({ maxBlocks: 50_000 });
  for (let i = 0; i < 50_000; i++) map.note('w', MODEL, [...counting(63), i]);
  assert.equal(map.size, 50_000);
});

for (const [givenTokens, speed, budgetMs, replay] of casesOf<[number, string, number, string][]>(
  'inference',
  'replays',
))
  it(`${givenTokens} tokens at ${speed} a second within ${budgetMs} ms are replayed ${replay}`, () => {
    const decodeTokensPerSecond = speed === 'undefined' ? undefined : Number(speed);
    assert.equal(replayOf({ givenTokens, decodeTokensPerSecond, budgetMs }), replay);
  });
