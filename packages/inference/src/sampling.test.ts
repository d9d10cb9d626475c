import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { type Candidate, chooseToken, GREEDY, gumbel, type Sampling, type Step, uniform } from './sampling.ts';

const start = { position: 0, given: new Map<number, number>() };
const candidates = (...logits: number[]): Candidate[] => logits.map((logit, token) => ({ token, logit }));
const sampled = (more: Partial<Sampling> = {}): Sampling => ({ ...GREEDY, temperature: 1, ...more });

/** How often each token is chosen over many positions. */
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
  it('is the likeliest at temperature 0, the lower number of two that are equal', () => {
    assert.equal(chooseToken(candidates(1, 3, 3, 2), GREEDY, start), 1);
    assert.equal(chooseToken([], GREEDY, start), undefined);
  });

  it('comes as often as the model says', () => {
    const logits = [0.5, 0.3, 0.2].map(Math.log);
    close(shares(candidates(...logits), sampled()), [0.5, 0.3, 0.2]);
    const squared = [0.25, 0.09, 0.04].map((share) => share / 0.38);
    close(shares(candidates(...logits), sampled({ temperature: 0.5, seed: 7 })), squared);
  });

  it('comes from what top k, top p and min p leave', () => {
    const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);
    close(shares(candidates(...logits), sampled({ topK: 2 })), [0.625, 0.375, 0, 0]);
    close(shares(candidates(...logits), sampled({ topP: 0.6 })), [0.625, 0.375, 0, 0]);
    close(shares(candidates(...logits), sampled({ minP: 0.2 })), [0.5263, 0.3158, 0.1579, 0]);
    close(shares(candidates(...logits), sampled({ topP: 0 })), [1, 0, 0, 0]);
  });

  it('heeds bias and penalties', () => {
    const list = candidates(2, 1.9, 1);
    assert.equal(chooseToken(list, { ...GREEDY, logitBias: new Map([[2, 5]]) }, start), 2);
    assert.equal(chooseToken(list, { ...GREEDY, logitBias: new Map([[0, -100]]) }, start), 1);
    const given = new Map([[0, 3]]);
    assert.equal(chooseToken(list, { ...GREEDY, presencePenalty: 0.2 }, { ...start, given }), 1);
    assert.equal(chooseToken(list, { ...GREEDY, frequencyPenalty: 0.02 }, { ...start, given }), 0);
    assert.equal(chooseToken(list, { ...GREEDY, frequencyPenalty: 0.04 }, { ...start, given }), 1);
  });

  it('is one that the grammar allows, as often among them as the model says', () => {
    const logits = [0.6, 0.2, 0.1, 0.1].map(Math.log);
    const isAllowed = (token: number) => token !== 0;
    for (const sampling of [sampled(), sampled({ topP: 0.999_999 })])
      close(shares(candidates(...logits), sampling, { isAllowed }), [0, 0.5, 0.25, 0.25]);
    assert.equal(chooseToken(candidates(1, 2), GREEDY, { ...start, isAllowed: () => false }), undefined);
  });

  it('asks the grammar of few', () => {
    let asked = 0;
    const isAllowed = () => {
      asked += 1;
      return true;
    };
    chooseToken(candidates(...Array.from({ length: 1_000 }, (_, i) => -i)), sampled(), { ...start, isAllowed });
    assert.equal(asked, 1);
  });

  it('depends on seed and position alone, whatever stands beside it', () => {
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

describe('the draw', () => {
  it('is even, and other for each seed, position and token', () => {
    const bins = new Array<number>(16).fill(0);
    const seen = new Set<number>();
    for (let i = 0; i < 32_000; i += 1) {
      const value = uniform(i % 20, Math.floor(i / 20) % 40, Math.floor(i / 800));
      assert.ok(value > 0 && value < 1);
      seen.add(value);
      const bin = Math.floor(value * 16);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    assert.equal(seen.size, 32_000);
    for (const count of bins) assert.ok(Math.abs(count - 2_000) < 200, bins.join());
  });

  it('is finite at its edges', () => {
    assert.ok(Number.isFinite(gumbel(0, 0, 0)) && Number.isFinite(gumbel(2 ** 32 - 1, 2 ** 31, 2 ** 20)));
  });
});
