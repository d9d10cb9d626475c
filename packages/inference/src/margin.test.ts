import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { endMarginOf, MOST_MARGIN_NATS, marginOf } from './margin.ts';
import { type Candidate, chooseToken, GREEDY, type Sampling, type Step } from './sampling.ts';

const start: Step = { position: 0, given: new Map() };
const candidates = (...logits: number[]): Candidate[] => logits.map((logit, token) => ({ token, logit }));

const anySampling: fc.Arbitrary<Sampling> = fc.record({
  temperature: fc.constantFrom(0, 1e-310, 0.01, 0.3, 1, 1, 2),
  topP: fc.constantFrom(0, 0.1, 0.5, 0.9, 1, 1),
  topK: fc.constantFrom(0, 0, 1, 2, 5, 40),
  minP: fc.constantFrom(0, 0, 0.05, 0.5, 1),
  presencePenalty: fc.constantFrom(0, 0, 0.7, -1),
  frequencyPenalty: fc.constantFrom(0, 0, 0.3),
  logitBias: fc.constantFrom(new Map(), new Map([[1, 2]]), new Map([[0, -100]])),
  seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
});
const anyDraw = fc.record({
  logits: fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 1, maxLength: 40 }),
  sampling: anySampling,
  position: fc.nat(10_000),
  given: fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 5 })), { maxLength: 5 }),
  forbidden: fc.constantFrom(new Set<number>(), new Set([0]), new Set([0, 1, 2, 5, 8])),
});
type Draw = typeof anyDraw extends fc.Arbitrary<infer Each> ? Each : never;
const stepOf = ({ position, given, forbidden }: Draw): Step => {
  return { position, given: new Map(given), isAllowed: (token) => !forbidden.has(token) };
};

describe('the margin of a token', () => {
  const drawOf = (asked: Draw, list = candidates(...asked.logits)) => {
    const step = stepOf(asked);
    return { list, context: { sampling: asked.sampling, step }, token: chooseToken(list, asked.sampling, step) };
  };

  it('is exactly 0 for the token that is drawn, whatever is asked', () =>
    holds(2_000, [anyDraw], (asked) => {
      const { list, context, token } = drawOf(asked);
      fc.pre(token !== undefined);
      assert.equal(marginOf(token, list, context), 0);
    }));

  it('is above 0 for another token that could have been drawn, and never more than the most', () =>
    holds(2_000, [anyDraw], (asked) => {
      const { list, context, token: drawn } = drawOf(asked);
      for (const { token } of list) {
        const margin = marginOf(token, list, context);
        assert.ok(margin >= 0 && margin <= MOST_MARGIN_NATS, `${margin}`);
        // At an edge of a cut two may be equally near.
        const { temperature, topK, topP, minP } = asked.sampling;
        if (token !== drawn && temperature === 1 && topK === 0 && topP === 1 && minP === 0)
          assert.ok(margin > 0, `token ${token} beside ${drawn}`);
      }
    }));

  it('is small for the token drawn from logits that were a little others: at most twice their error, cuts or not', () => {
    const error = fc.constantFrom(1e-6, 1e-3, 0.05, 0.5);
    const signs = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 });
    holds(4_000, [anyDraw, error, signs], (asked, most, wobble) => {
      const { list, context } = drawOf(asked);
      const theirs = list.map(({ token, logit }) => ({ token, logit: logit + most * (wobble[token] as number) }));
      const { token } = drawOf(asked, theirs);
      fc.pre(token !== undefined);
      const margin = marginOf(token, list, context);
      assert.ok(margin <= 2 * most + 1e-9, `${margin} nats for errors of ${most}`);
    });
  });

  it('is the lead of the likeliest at temperature 0', () => {
    const list = candidates(1, 3.5, 3, -200);
    const margins = list.map(({ token }) => marginOf(token, list, { sampling: GREEDY, step: start }));
    assert.deepEqual(margins, [2.5, 0, 0.5, MOST_MARGIN_NATS]);
    const step = { ...start, isAllowed: (token: number) => token !== 1 };
    assert.equal(marginOf(2, list, { sampling: GREEDY, step }), 0);
  });

  it('is the most where a token is forbidden, or is no candidate', () => {
    const list = candidates(3, 2);
    for (const sampling of [GREEDY, { ...GREEDY, temperature: 1 }, { ...GREEDY, temperature: 1, topP: 0.9 }]) {
      assert.equal(marginOf(7, list, { sampling, step: start }), MOST_MARGIN_NATS);
      const step = { ...start, isAllowed: (token: number) => token !== 0 };
      assert.equal(marginOf(0, list, { sampling, step }), MOST_MARGIN_NATS);
    }
  });

  it('tells how far beyond an edge a token was cut away', () => {
    // Cold: the draw itself decides for the likeliest, and the cut is what stands before the others.
    const list = candidates(5, 4.99, 4.9, 2);
    for (const [token, cut, expected] of [
      [0, { topK: 1 }, 0],
      [1, { topK: 1 }, 0.01],
      [2, { topK: 1 }, 0.1],
      [2, { minP: 1 }, 0.1],
      [1, { topP: 0 }, 0.01],
      [3, { topK: 1 }, 3],
    ] as const) {
      const sampling = { ...GREEDY, temperature: 1, seed: 3, ...cut };
      const found = marginOf(token, list, { sampling, step: start });
      assert.ok(expected === 0 ? found === 0 : Math.abs(found - expected) < 1e-9, `${found} is not ${expected}`);
    }
  });

  it('of an end is that of the nearest token that ends, and 0 where nothing may come', () => {
    const list = candidates(1, 3.5, 3);
    assert.equal(endMarginOf([0, 2], list, { sampling: GREEDY, step: start }), 0.5);
    assert.equal(endMarginOf([], list, { sampling: GREEDY, step: start }), MOST_MARGIN_NATS);
    const step = { ...start, isAllowed: () => false };
    assert.equal(endMarginOf([0], list, { sampling: GREEDY, step }), 0);
  });
});
