// How tokens are drawn, as it stands in frames: biases as a list.
import type { FrameOf, Sampling } from '@strata/inference';

/** Biases of tokens that the model has not got bias nothing, and are left out. */
export function samplingFrame(sampling: Sampling, vocabularySize: number): FrameOf<'request'>['sampling'] {
  const biases = [...sampling.logitBias].filter(([token]) => token < vocabularySize);
  return { ...sampling, logitBias: biases.map(([token, bias]) => ({ token, bias })) };
}
