import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseSlot, commonPrefix } from './choose-slot.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('the slot of a prompt', () => {
  const prompt = range(0, 100);
  it('is the one that has read the most of it', () => {
    const slots = [
      { id: 'a', tokens: range(0, 20), usedAt: 1 },
      { id: 'b', tokens: [...range(0, 60), 7], usedAt: 9 },
      { id: 'c', tokens: [], usedAt: 0 },
    ];
    assert.equal(chooseSlot(slots, prompt)?.id, 'b');
    assert.equal(chooseSlot([...slots].reverse(), prompt)?.id, 'b');
  });

  it('is the one unused for the longest time where little is common, or equally much', () => {
    const slots = [
      { id: 'a', tokens: range(0, 10), usedAt: 5 },
      { id: 'b', tokens: range(50, 90), usedAt: 2 },
      { id: 'c', tokens: range(0, 5), usedAt: 9 },
    ];
    assert.equal(chooseSlot(slots, prompt)?.id, 'b');
    const equal = [
      { id: 'x', tokens: range(0, 40), usedAt: 8 },
      { id: 'y', tokens: range(0, 40), usedAt: 3 },
    ];
    assert.equal(chooseSlot(equal, prompt)?.id, 'y');
  });

  it('is the one of the same cache key where that decides between equals, never against a longer beginning', () => {
    const slots = [
      { id: 'a', tokens: range(0, 40), usedAt: 1, cacheKey: 'k' },
      { id: 'b', tokens: range(0, 40), usedAt: 0, cacheKey: 'other' },
      { id: 'c', tokens: range(0, 60), usedAt: 2, cacheKey: undefined },
      { id: 'd', tokens: range(0, 2), usedAt: 0, cacheKey: 'l' },
    ];
    const [a, b, c, d] = slots as [(typeof slots)[0], (typeof slots)[0], (typeof slots)[0], (typeof slots)[0]];
    assert.equal(chooseSlot([a, b], prompt, 'k')?.id, 'a');
    assert.equal(chooseSlot([a, b], prompt)?.id, 'b');
    assert.equal(chooseSlot([a, c], prompt, 'k')?.id, 'c');
    assert.equal(chooseSlot([d, { ...b, tokens: [] }], prompt, 'l')?.id, 'd');
  });

  it('is none where none is free', () => assert.equal(chooseSlot([], prompt), undefined));

  it('counts from the beginning alone', () => {
    assert.equal(commonPrefix([1, 2, 3], [1, 2, 4, 3]), 2);
    assert.equal(commonPrefix([], [1]), 0);
  });
});
