// Margins as audits find them, from a seed: a model of many logits, drawn from by one who has them a little wrong.
// The draw is the product's own; only the logits are made up.
import { normal } from '../../../../../tests/support/random.ts';
import { gumbel } from '../../sampling.ts';

export interface MarginOptions {
  /** Standard deviation of the error of each logit between worker and verifier, nats: 0.02 to 0.05 is rounding, 0.2 four bits. */
  readonly error: number;
  /** Standard deviation of the logits themselves: small ones have many near ties. */
  readonly spread?: number;
  readonly temperature?: number;
  readonly tokens: number;
  /** What the worker draws with, where it is not what it was asked to. */
  readonly drawnAt?: { readonly temperature?: number; readonly seed?: number };
}

const CANDIDATES = 32;
const SEED = 7;

export function marginsOf(options: MarginOptions, random: () => number): readonly number[] {
  const { error, spread = 3, temperature = 1, tokens, drawnAt = {} } = options;
  const drawn = { temperature, seed: SEED, ...drawnAt };
  const first = Math.floor(random() * 2 ** 31);
  return Array.from({ length: tokens }, (_, i) => {
    const truth = Array.from({ length: CANDIDATES }, () => spread * normal(random));
    const position = first + i;
    const scores = truth.map((logit, token) => logit + temperature * gumbel(SEED, position, token));
    const chosen = highest(
      truth.map((logit, token) => {
        const noise = drawn.temperature === 0 ? 0 : drawn.temperature * gumbel(drawn.seed, position, token);
        return logit + error * normal(random) + noise;
      }),
    );
    return (scores[highest(scores)] as number) - (scores[chosen] as number);
  });
}

function highest(values: readonly number[]): number {
  return values.reduce((best, value, i) => (value > (values[best] as number) ? i : best), 0);
}
