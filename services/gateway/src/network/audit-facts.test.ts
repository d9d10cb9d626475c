// Ends and texts of answers, judged without any model.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONTEXT, trueAnswer, truth } from '../test/network/audited-network.ts';
import { hasDrawnEnd, isCutShort, isReadRight } from './audit-facts.ts';
import type { SeenAnswer } from './trust.ts';

const answerOf = (tokens: number, more: Partial<SeenAnswer> = {}): SeenAnswer => ({
  ...trueAnswer('ann', 1),
  answer: Array.from({ length: tokens }, () => 7),
  maxTokens: 200,
  reason: 'length',
  ...more,
});
const grammar = 'root ::= "a"+';

describe('an answer that is said to be at its limit', () => {
  const cases: [string, SeenAnswer, boolean][] = [
    ['at the limit', answerOf(200), false],
    ['one before it', answerOf(199), true],
    ['brought to a close by its grammar', answerOf(168, { grammar }), false],
    ['with a grammar, and closed too early', answerOf(167, { grammar }), true],
    ['a short one with a grammar, half of it', answerOf(5, { grammar, maxTokens: 10 }), false],
    ['in a full context', answerOf(100, { prompt: Array.from({ length: CONTEXT - 100 }, () => 1) }), false],
    ['ended by the model', answerOf(100, { reason: 'stop' }), false],
    ['cancelled', answerOf(100, { reason: 'cancelled' }), false],
  ];
  for (const [what, answer, isShort] of cases) {
    it(`is ${isShort ? '' : 'not '}cut short: ${what}`, () => assert.equal(isCutShort(answer), isShort));
  }
});

describe('the end of an answer', () => {
  it('is a draw of the model where it stopped, or where its grammar was brought to a close', () => {
    assert.equal(hasDrawnEnd(answerOf(100, { reason: 'stop' })), true);
    assert.equal(hasDrawnEnd(answerOf(180, { grammar })), true);
    for (const answer of [answerOf(200), answerOf(200, { grammar }), answerOf(9, { reason: 'cancelled' })])
      assert.equal(hasDrawnEnd(answer), false);
  });
});

describe('the text of an answer', () => {
  it('must be what its tokens read as, from where the worker began', async () => {
    const answer = trueAnswer('ann', 3);
    assert.equal(await isReadRight(answer, truth), true);
    assert.equal(await isReadRight({ ...answer, from: 1 }, truth), false);
    assert.equal(await isReadRight({ ...answer, text: Buffer.concat([answer.text, Buffer.from('!')]) }, truth), false);
  });
});
