import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { figuresOf } from './answer-figures.ts';
import { answer } from './test/turns.ts';

const whole = answer('a', 'q', 1);

describe('the figures of an answer', () => {
  it('are tokens, speed, the time to the first one and who made it', () => {
    const workers = ['12D3KooWaaaaaaAAAAAA', '12D3KooWbbbbbbBBBBBB'];
    const segments = workers.map((worker, i) => ({ worker, from: i, to: i + 1 }));
    assert.deepEqual(figuresOf({ ...whole, segments }), [
      ...['m', '11 tokens', '100 tokens/s', 'first after 10 ms', 'by workers …AAAAAA, then …BBBBBB'],
    ]);
  });

  it('count reasoning apart, and leave it out of the speed', () => {
    const figures = figuresOf({ ...whole, tokens: 111, reasoningTokens: 100 });
    assert.deepEqual(figures.slice(1, 4), ['111 tokens', '100 of them reasoning', '100 tokens/s']);
  });

  it('are unknown where they are, never zero', () => {
    const unknown = { ...whole, tokens: null, firstTokenMs: null, writingMs: null, segments: [] };
    assert.deepEqual(figuresOf(unknown), ['m', 'tokens unknown', 'speed unknown']);
    assert.deepEqual(figuresOf({ ...whole, tokens: 1 }).slice(1, 3), ['1 token', 'speed unknown']);
    assert.equal(figuresOf({ ...whole, state: 'stopped' })[2], 'speed unknown');
    assert.equal(figuresOf({ ...whole, writingMs: 0 })[2], 'speed unknown');
  });
});
