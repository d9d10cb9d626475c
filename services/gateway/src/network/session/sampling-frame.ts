// Sampling parameters in frames: the logit bias is a list.
import type { FrameOf, Sampling } from '@strata/inference';

export function samplingFrame(sampling: Sampling): FrameOf<'request'>['sampling'] {
  return { ...sampling, logitBias: Array.from(sampling.logitBias, ([token, bias]) => ({ token, bias })) };
}

/** Drops biases of tokens that the model does not have: they have no effect, and are not valid in frames. */
export function knownBiases(sampling: Sampling, vocabularySize: number): Sampling {
  return { ...sampling, logitBias: new Map([...sampling.logitBias].filter(([token]) => token < vocabularySize)) };
}
