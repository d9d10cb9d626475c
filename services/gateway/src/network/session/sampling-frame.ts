// How tokens are drawn, as it stands in frames: biases as a list.
import type { FrameOf, Sampling } from '@strata/inference';

export function samplingFrame(sampling: Sampling): FrameOf<'request'>['sampling'] {
  return { ...sampling, logitBias: Array.from(sampling.logitBias, ([token, bias]) => ({ token, bias })) };
}

/** Without biases of tokens that the model has not got: they bias nothing, and frames do not hold them. */
export function knownBiases(sampling: Sampling, vocabularySize: number): Sampling {
  return { ...sampling, logitBias: new Map([...sampling.logitBias].filter(([token]) => token < vocabularySize)) };
}
