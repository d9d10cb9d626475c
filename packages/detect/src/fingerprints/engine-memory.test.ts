import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EngineMemory } from './engine-memory.ts';

describe('EngineMemory', () => {
  it('makes every engine begin anew after so many steps of all together, and counts from there', () => {
    const memory = new EngineMemory();
    const forgotten: string[] = [];
    const engine = (name: string) => ({ forget: () => void forgotten.push(name) });
    const [a, b, c] = [engine('a'), engine('b'), engine('c')];
    for (let i = 0; i < 64; i++) memory.count(i % 2 === 0 ? a : b, 2 ** 22);
    assert.deepEqual(forgotten, []);
    memory.count(c, 1);
    assert.deepEqual(forgotten, ['a', 'b'], 'the one that is about to run stays');
    memory.count(a, 2 ** 28 - 1);
    assert.equal(forgotten.length, 2);
    memory.count(b, 1);
    assert.deepEqual(forgotten, ['a', 'b', 'c', 'a']);
  });
});
