import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnswerEvent, AnswerPace, tokensPerSecond } from './index.ts';

const text = (words: string): AnswerEvent => ({ kind: 'text', text: words });
const reasoning = (words: string): AnswerEvent => ({ kind: 'reasoning', text: words });

describe('the pace of an answer', () => {
  const pieces = { 250: text('A'), 260: text('b'), 300: text('c') };
  const stop: AnswerEvent = { kind: 'finished', reason: 'stop' };
  for (const [what, events, figures] of [
    ['no event', {}, [null, null, null]],
    ['reasoning is no visible text', { 150: reasoning('hm') }, [null, null, null]],
    ['the first token is visible', { 120: reasoning('hm'), 200: text('\n'), ...pieces }, [150, 50, 40]],
    ['one piece has no pace', { 130: text('all') }, [30, 0, null]],
    ['blanks within an answer are text', { 110: text('a'), 150: text(' '), 160: stop }, [10, 40, 40]],
  ] as [string, Record<number, AnswerEvent>, (number | null)[]][])
    it(what, () => {
      const pace = new AnswerPace(100);
      for (const [at, event] of Object.entries(events)) pace.see(event, Number(at));
      const { firstTokenMs, writingMs, pauseMs } = pace.figures();
      assert.deepEqual([firstTokenMs, writingMs, pauseMs], figures);
    });

  it('gives tokens a second of the visible ones, and is unknown rather than wrong', () => {
    const of = (completionTokens: number, reasoningTokens: number | null) => ({ completionTokens, reasoningTokens });
    assert.equal(tokensPerSecond(of(11, 0), 1_000), 10);
    assert.equal(tokensPerSecond(of(11, null), 1_000), 10);
    assert.equal(tokensPerSecond(of(111, 100), 1_000), 10);
    for (const [usage, ms] of [
      [null, 1_000],
      [of(11, 0), null],
      [of(11, 0), 0],
      [of(1, 0), 1_000],
      [of(100, 100), 1_000],
      [of(10, 20), 1_000],
    ] as const)
      assert.equal(tokensPerSecond(usage, ms), null);
  });
});
