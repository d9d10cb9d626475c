// Seeded margins as audits measure them: a model with many logits, sampled by a worker whose logits have small errors. Sampling is the real code; only the logits are simulated.
import { normal } from '../../../../../tests/support/random.ts';
import { gumbel } from '../../sampling.ts';

export interface MarginOptions {
  /** Standard deviation of the error of each logit between worker and verifier, nats: 0.02 to 0.05 is rounding, 0.2 four bits. */
  readonly error: number;
  /** Standard deviation of the logits themselves: small values cause many near ties. */
  readonly spread?: number;
  readonly temperature?: number;
  readonly tokens: number;
  /** The sampling that the worker uses if it differs from the request. */
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

const highest = (values: readonly number[]): number =>
  values.reduce((best, value, i) => (value > (values[best] as number) ? i : best), 0);
