import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PrefixMap } from './prefix-map.ts';

const MODEL = 'ab'.repeat(32);
const counting = (length: number, from = 0) => Array.from({ length }, (_, i) => from + i);

describe('prefix map', () => {
  it('knows how much of a conversation each worker has read, the one with the most first', () => {
    const map = new PrefixMap();
    const conversation = counting(1_000);
    map.note('some', MODEL, conversation.slice(0, 300));
    map.note('all', MODEL, conversation);
    const cached = [...map.cachedTokens(MODEL, [...conversation, 7, 8, 9])].map(([peer, count]) => `${peer} ${count}`);
    assert.deepEqual(cached, ['all 960', 'some 256']);
    assert.equal(map.cachedTokens(MODEL, conversation.slice(0, 63)).size, 0);
  });

  it('takes a block for known only where all before it is the same, in the same model', () => {
    const map = new PrefixMap();
    map.note('w', MODEL, counting(640));
    assert.equal(map.cachedTokens(MODEL, [5, ...counting(640).slice(1)]).size, 0);
    assert.equal(map.cachedTokens(MODEL, counting(64, 64)).size, 0);
    assert.equal(map.cachedTokens('cd'.repeat(32), counting(640)).size, 0);
    const turned = [...counting(128), ...counting(128, 9_000)];
    assert.equal(map.cachedTokens(MODEL, turned).get('w'), 128);
  });

  it('keeps so many blocks and no more, and lets the oldest go, their ends first', () => {
    const map = new PrefixMap({ mostBlocks: 10 });
    map.note('w', MODEL, counting(64 * 8));
    map.note('w', MODEL, counting(64 * 6, 100_000));
    assert.equal(map.size, 10);
    assert.equal(map.cachedTokens(MODEL, counting(64 * 6, 100_000)).get('w'), 64 * 6);
    assert.equal(map.cachedTokens(MODEL, counting(64 * 8)).get('w'), 64 * 4);
    map.note('w', MODEL, counting(64 * 1_000, 500_000));
    assert.equal(map.size, 10);
  });

  it('forgets a worker that has lost its cache, and may learn of it again', () => {
    const map = new PrefixMap();
    map.note('a', MODEL, counting(128));
    map.note('b', MODEL, counting(128));
    map.forget('a');
    assert.deepEqual([...map.cachedTokens(MODEL, counting(128)).keys()], ['b']);
    map.note('a', MODEL, counting(64));
    assert.equal(map.cachedTokens(MODEL, counting(128)).get('a'), 64);
  });

  it('remembers few of the many that have read the same beginning', () => {
    const map = new PrefixMap();
    for (let i = 0; i < 1_000; i++) map.note(`w${i}`, MODEL, counting(128));
    const found = map.cachedTokens(MODEL, counting(128));
    assert.equal(found.size, 8);
    assert.ok(found.has('w999'));
  });

  it('tells 50,000 beginnings that differ in one token apart', () => {
    const map = new PrefixMap({ mostBlocks: 50_000 });
    for (let i = 0; i < 50_000; i++) map.note('w', MODEL, [...counting(63), i]);
    assert.equal(map.size, 50_000);
  });
});
