// How tokens are drawn, as it stands in frames: biases as a list.
import type { FrameOf, Sampling } from '@strata/inference';

export function samplingFrame(sampling: Sampling): FrameOf<'request'>['sampling'] {
  return { ...sampling, logitBias: Array.from(sampling.logitBias, ([token, bias]) => ({ token, bias })) };
}
