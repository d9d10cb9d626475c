// The day's step of a level, compared with the steps of its window.
import { studentChance } from './anomaly-chance.ts';

/** One day of a series. */
export interface Sample {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  readonly value: number;
  /** Number of domains that were followed that day: values scale with it. */
  readonly exposure: number;
  /** An anomaly on its day: excluded from the usual values, but the next day's step of a level starts here. */
  readonly isAnomaly?: boolean;
}

interface StepJudgement {
  /** The step minus the drift of the window. */
  readonly surprise: number;
  readonly sigma: number;
  /** Two-sided, 0–1. */
  readonly chance: number;
}

interface Step {
  readonly size: number;
  readonly days: number;
}

/**
 * `past`: in order of days, at least two steps that end on a usual day. A step over a gap counts by its length: the variance
 * of a level over g days is g times that of one day.
 */
export function judgeStep(past: readonly Sample[], today: Sample): StepJudgement {
  const steps: Step[] = [];
  let before: Sample | undefined;
  for (const sample of past) {
    if (before && !sample.isAnomaly) steps.push(stepBetween(before, sample, today.exposure));
    before = sample;
  }
  const last = before ?? today;
  const { size, days } = stepBetween(last, today, today.exposure);

  const observedDays = steps.reduce((total, step) => total + step.days, 0);
  const drift = steps.reduce((total, step) => total + step.size, 0) / observedDays;
  const squares = steps.reduce((total, step) => total + (step.size - drift * step.days) ** 2 / step.days, 0);
  const freedom = steps.length - 1;
  const daily = Math.max(squares / freedom, 1);
  // Domains that join or leave the panel have the subject in proportion only on average: the variance of that.
  const growth = today.exposure / last.exposure;
  const ofPanel = Math.abs(last.value) * Math.abs(growth - 1) * growth;
  const variance = daily * days * (1 + days / observedDays) + ofPanel;

  const surprise = size - drift * days;
  const sigma = surprise / Math.sqrt(variance);
  return { surprise, sigma, chance: studentChance(sigma, freedom) };
}

function stepBetween(from: Sample, to: Sample, exposure: number): Step {
  return {
    size: to.value * (exposure / to.exposure) - from.value * (exposure / from.exposure),
    days: to.day - from.day,
  };
}
