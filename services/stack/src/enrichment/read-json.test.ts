import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readJson } from './read-json.ts';

const read = (text: string) => readJson(Buffer.from(text));

describe('the JSON of publishers', () => {
  it('is what it says, brackets and quotes in texts too', () => {
    for (const value of [
      null,
      'a"b\\',
      { 'x\\"[': ['\\\\', '[[['.repeat(500), '"', { y: [{}] }] },
      Array.from({ length: 1_000 }, (_, n) => ({ n, text: '\\'.repeat(n % 7) })),
    ])
      assert.deepEqual(read(JSON.stringify(value)), value);
    assert.throws(() => read('{"a": '), SyntaxError);
    assert.throws(() => read('"open'), SyntaxError);
  });

  it('is refused where it is a maze, whether it ends or not', () => {
    const deep = '['.repeat(201);
    assert.throws(() => read(deep), RangeError);
    assert.throws(() => read(`{"a":${deep}${']'.repeat(201)}}`), RangeError);
    assert.throws(() => read(`[${'{},'.repeat(4_000_000)}{}]`), RangeError);
    assert.equal((read(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown[]).length, 1);
  });
});
