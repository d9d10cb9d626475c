import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnswerEvent, AnswerPace, tokensPerSecond } from './index.ts';

const text = (words: string): AnswerEvent => ({ kind: 'text', text: words });
const reasoning = (words: string): AnswerEvent => ({ kind: 'reasoning', text: words });

describe('the pace of an answer', () => {
  const cases: readonly {
    readonly what: string;
    readonly seen: readonly (readonly [number, AnswerEvent])[];
    readonly figures: readonly (number | null)[];
  }[] = [
    { what: 'nothing came', seen: [], figures: [null, null, null] },
    {
      what: 'reasoning is no visible word',
      seen: [[150, reasoning('hm')]],
      figures: [null, null, null],
    },
    {
      what: 'the first token is the first that can be seen, after reasoning and blanks',
      seen: [
        [120, reasoning('hm')],
        [200, text('\n')],
        [250, text('A')],
        [260, text('b')],
        [300, text('c')],
      ],
      figures: [150, 50, 40],
    },
    { what: 'one piece has no pace', seen: [[130, text('all')]], figures: [30, 0, null] },
    {
      what: 'blanks within an answer count as text',
      seen: [
        [110, text('a')],
        [150, text(' ')],
        [160, { kind: 'finished', reason: 'stop' }],
      ],
      figures: [10, 40, 40],
    },
  ];
  for (const { what, seen, figures } of cases)
    it(what, () => {
      const pace = new AnswerPace(100);
      for (const [at, event] of seen) pace.see(event, at);
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
