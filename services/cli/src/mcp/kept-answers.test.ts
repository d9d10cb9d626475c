// What is kept for verification is bounded, by number and by size.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeptAnswers } from './kept-answers.ts';

describe('kept answers', () => {
  it('are the newest 200', () => {
    const kept = new KeptAnswers();
    for (let at = 0; at < 201; at += 1) kept.keep(`rwr_${at}`, `text ${at}`);
    assert.deepEqual([kept.get('rwr_0'), kept.get('rwr_1'), kept.get('rwr_200')], [undefined, 'text 1', 'text 200']);
  });

  it('are those of which 16 million characters hold the newest', () => {
    const kept = new KeptAnswers();
    const long = 'x'.repeat(6 * 1024 * 1024);
    for (const id of ['a', 'b', 'c']) kept.keep(id, long);
    const held = () => ['a', 'b', 'c'].filter((id) => kept.get(id) === long).join('');
    assert.equal(held(), 'bc');
    // An answer that comes again counts once, and is new again.
    kept.keep('b', long);
    kept.keep('d', long);
    assert.equal(held(), 'b');
  });
});
