import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../tests/support/property.ts';
import { casesOf } from '../../../tests/support/vectors.ts';
import { endMarginOf, MAX_MARGIN_NATS, marginOf } from './margin.ts';
import {
  type Candidate,
  chooseToken,
  cut,
  draw,
  GREEDY,
  gumbel,
  hasCut,
  rank,
  type Sampling,
  type Step,
  uniform,
} from './sampling.ts';

const start: Step = { position: 0, given: new Map() };
const candidates = (...logits: number[]): Candidate[] => logits.map((logit, token) => ({ token, logit }));
const sampled = (more: Partial<Sampling> = {}): Sampling => ({ ...GREEDY, temperature: 1, ...more });

function shares(list: readonly Candidate[], sampling: Sampling, more: Partial<Step> = {}): number[] {
  const rounds = 20_000;
  const counts = list.map(() => 0);
  for (let position = 0; position < rounds; position += 1) {
    const token = chooseToken(list, sampling, { ...start, ...more, position }) as number;
    counts[token] = (counts[token] ?? 0) + 1;
  }
  return counts.map((count) => count / rounds);
}
function close(found: readonly number[], expected: readonly number[]): void {
  const isClose = found.every((share, i) => Math.abs(share - (expected[i] ?? 0)) < 0.015);
  assert.ok(isClose, `${found} is not ${expected}`);
}

describe('the next token', () => {
  it('is the most likely one at temperature 0, and the lower number of two equal ones', () => {
    assert.equal(chooseToken(candidates(1, 3, 3, 2), GREEDY, start), 1);
    assert.equal(chooseToken([], GREEDY, start), undefined);
  });
  it('is drawn with the frequency that the model specifies', () => {
    const logits = [0.5, 0.3, 0.2].map(Math.log);
    close(shares(candidates(...logits), sampled()), [0.5, 0.3, 0.2]);
    const squared = [0.25, 0.09, 0.04].map((share) => share / 0.38);
    close(shares(candidates(...logits), sampled({ temperature: 0.5, seed: 7 })), squared);
  });
  it('is within the cuts of top k, top p and min p', () => {
    const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
    close(shares(candidates(...logits), sampled({ topK: 2 })), [0.625, 0.375, 0, 0]);
    close(shares(candidates(...logits), sampled({ topP: 0.6 })), [0.625, 0.375, 0, 0]);
    close(shares(candidates(...logits), sampled({ minP: 0.2 })), [0.5263, 0.3158, 0.1579, 0]);
    close(shares(candidates(...logits), sampled({ topP: 0 })), [1, 0, 0, 0]);
  });
  it('respects bias and penalties', () => {
    const list = candidates(2, 1.9, 1);
    assert.equal(chooseToken(list, { ...GREEDY, logitBias: new Map([[2, 5]]) }, start), 2);
    assert.equal(chooseToken(list, { ...GREEDY, logitBias: new Map([[0, -100]]) }, start), 1);
    const given = new Map([[0, 3]]);
    assert.equal(chooseToken(list, { ...GREEDY, presencePenalty: 0.2 }, { ...start, given }), 1);
    assert.equal(chooseToken(list, { ...GREEDY, frequencyPenalty: 0.02 }, { ...start, given }), 0);
    assert.equal(chooseToken(list, { ...GREEDY, frequencyPenalty: 0.04 }, { ...start, given }), 1);
  });
  it('is allowed by the grammar, with the relative frequency that the model specifies', () => {
    const logits = [0.6, 0.2, 0.1, 0.1].map(Math.log);
    const isAllowed = (token: number) => token !== 0;
    for (const sampling of [sampled(), sampled({ topP: 0.999_999 })])
      close(shares(candidates(...logits), sampling, { isAllowed }), [0, 0.5, 0.25, 0.25]);
    assert.equal(chooseToken(candidates(1, 2), GREEDY, { ...start, isAllowed: () => false }), undefined);
    // The grammar is called for few tokens.
    const asked: number[] = [];
    const isNoted = (token: number) => asked.push(token) > 0;
    const many = candidates(...Array.from({ length: 1_000 }, (_, i) => -i));
    chooseToken(many, sampled(), { ...start, isAllowed: isNoted });
    assert.equal(asked.length, 1);
  });
  it('is that of the cut of all that the grammar allows, though few are checked', () => {
    const logit = fc.integer({ min: -60, max: 60 }).map((tenths) => tenths / 10);
    const share = fc.constantFrom(0, 0.05, 0.5, 0.9, 1);
    const temperature = fc.constantFrom(0.3, 1, 2);
    const cuts = fc.record({ topK: fc.constantFrom(0, 0, 3), topP: share, minP: share, temperature });
    holds(
      500,
      [fc.array(logit, { maxLength: 40 }), fc.nat(9), cuts, fc.nat(9)],
      (logits, forbidden, cutBy, position) => {
        const [list, sampling] = [candidates(...logits), sampled(cutBy)];
        const isAllowed = (token: number) => (token * 7 + forbidden) % 10 > forbidden / 2;
        const ranked = rank(list, sampling, new Map()).filter(({ token }) => isAllowed(token));
        const [expected] = draw(hasCut(sampling) ? cut(ranked, sampling) : ranked, { ...sampling, position });
        assert.equal(chooseToken(list, sampling, { ...start, position, isAllowed }), expected?.token);
      },
    );
    let checks = 0;
    const isAllowed = () => ++checks > 0;
    const steep = candidates(...Array.from({ length: 1_000 }, (_, i) => -i / 2));
    for (let position = 0; position < 100; position += 1)
      chooseToken(steep, sampled({ topP: 0.9 }), { ...start, position, isAllowed });
    assert.ok(checks < 1_000, `${checks} of 100,000`);
  });
  it('depends only on seed and position, not on other candidates', () => {
    const anyLogits = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 2, maxLength: 50 });
    holds(100, [anyLogits, fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.nat(100_000)], (logits, seed, position) => {
      const chosen = (list: readonly Candidate[]) => chooseToken(list, sampled({ seed }), { ...start, position });
      const list = candidates(...logits);
      const token = chosen(list);
      assert.equal(chosen([...list].reverse()), token);
      assert.equal(chosen(list.filter((each) => each.token === token || each.token % 2 === 0)), token);
    });
  });
});

it('the noise is uniform, and differs for each seed, position and token', () => {
  const bins = new Array<number>(16).fill(0);
  const values = new Set<number>();
  for (let i = 0; i < 32_000; i += 1) {
    const value = uniform(i % 20, Math.floor(i / 20) % 40, Math.floor(i / 800));
    assert.ok(value > 0 && value < 1);
    values.add(value);
    const bin = Math.floor(value * 16);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  assert.equal(values.size, 32_000);
  for (const count of bins) assert.ok(Math.abs(count - 2_000) < 200, bins.join());
  // It is finite at the limits.
  assert.ok(Number.isFinite(gumbel(0, 0, 0)) && Number.isFinite(gumbel(2 ** 32 - 1, 2 ** 31, 2 ** 20)));
});

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

  it('is 0 for the drawn token, above 0 for other candidates, and at most the maximum', () =>
    holds(1_000, [anyDraw], (asked) => {
      const { list, context, token: drawn } = drawOf(asked);
      // At the edge of a cut two tokens may be equally near.
      const { temperature, topK, topP, minP } = asked.sampling;
      const isUncut = temperature === 1 && topK === 0 && topP === 1 && minP === 0;
      for (const { token } of list) {
        const margin = marginOf(token, list, context);
        if (token === drawn) assert.equal(margin, 0);
        else assert.ok(margin >= 0 && margin <= MAX_MARGIN_NATS && !(isUncut && margin === 0), `${token}: ${margin}`);
      }
    }));
  it('is small for a token drawn from slightly different logits: at most twice their error, with or without cuts', () => {
    const error = fc.constantFrom(1e-6, 1e-3, 0.05, 0.5);
    const signs = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 });
    holds(1_500, [anyDraw, error, signs], (asked, max, wobble) => {
      const { list, context } = drawOf(asked);
      const theirs = list.map(({ token, logit }) => ({ token, logit: logit + max * (wobble[token] as number) }));
      const { token } = drawOf(asked, theirs);
      fc.pre(token !== undefined);
      const margin = marginOf(token, list, context);
      assert.ok(margin <= 2 * max + 1e-9, `${margin} nats for errors of ${max}`);
    });
  });
  it('is the lead of the most likely token at temperature 0', () => {
    const list = candidates(1, 3.5, 3, -200);
    const margins = list.map(({ token }) => marginOf(token, list, { sampling: GREEDY, step: start }));
    assert.deepEqual(margins, [2.5, 0, 0.5, MAX_MARGIN_NATS]);
    const step = { ...start, isAllowed: (token: number) => token !== 1 };
    assert.equal(marginOf(2, list, { sampling: GREEDY, step }), 0);
  });
  it('is the maximum for a token that is forbidden or not a candidate', () => {
    const list = candidates(3, 2);
    for (const sampling of [GREEDY, { ...GREEDY, temperature: 1 }, { ...GREEDY, temperature: 1, topP: 0.9 }]) {
      assert.equal(marginOf(7, list, { sampling, step: start }), MAX_MARGIN_NATS);
      const step = { ...start, isAllowed: (token: number) => token !== 0 };
      assert.equal(marginOf(0, list, { sampling, step }), MAX_MARGIN_NATS);
    }
  });
  it('includes the distance to the edge of a cut', () => {
    // At low temperature the draw itself chooses the most likely token, and the cut excludes the rest.
    const list = candidates(5, 4.99, 4.9, 2);
    const cases = casesOf<[number, Partial<Sampling>, number][]>('inference', 'margins at a cut');
    for (const [token, cut, expected] of cases) {
      const sampling = { ...GREEDY, temperature: 1, seed: 3, ...cut };
      const found = marginOf(token, list, { sampling, step: start });
      assert.ok(expected === 0 ? found === 0 : Math.abs(found - expected) < 1e-9, `${found} is not ${expected}`);
    }
  });
  it('of an end is that of the nearest end token, and 0 if no token is allowed', () => {
    const list = candidates(1, 3.5, 3);
    assert.equal(endMarginOf([0, 2], list, { sampling: GREEDY, step: start }), 0.5);
    assert.equal(endMarginOf([], list, { sampling: GREEDY, step: start }), MAX_MARGIN_NATS);
    const step = { ...start, isAllowed: () => false };
    assert.equal(endMarginOf([0], list, { sampling: GREEDY, step }), 0);
  });
});
