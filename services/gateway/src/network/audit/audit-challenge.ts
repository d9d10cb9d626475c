// Challenges for verifiers: occasionally a verifier scores an answer whose result is known, unchanged or with tokens
// replaced.
import type { ScoreJob } from '@strata/engine';
import { deviation, TOLERATED_DEVIATION } from '@strata/inference';
import { ownPart } from './audit-panel.ts';

export interface KnownAnswer {
  readonly modelSha256: string;
  readonly job: ScoreJob;
  /** Peers that generated or scored it, and would recognise it. */
  readonly knownTo: readonly string[];
}

export interface Challenge {
  readonly job: ScoreJob;
  /** Positions of replaced tokens; empty if the answer is unchanged. */
  readonly changed: readonly number[];
}

const MAX_KNOWN = 16;
/** Longer answers are not kept, because sixteen are always in memory. */
const MAX_TOKENS = 8_192;
/** Shorter answers are not suitable for replacing tokens. */
const MIN_ANSWER = 8;
const CHANGED_TOKENS = 3;
/** A replaced token can by chance be nearly as likely; that all three are happens once in ten thousand times. */
const DETECTED_NATS = 0.2;
/** A short clean answer may deviate more than the tolerated mean. */
const FALSE_ALARM_FACTOR = 4;

/** Answers that two verifiers, or our own engine, found clean; the most recent ones. */
export class KnownAnswers {
  readonly #answers: KnownAnswer[] = [];

  keep(answer: KnownAnswer): void {
    const { prompt, answer: tokens } = answer.job;
    if (tokens.length < MIN_ANSWER || prompt.length + tokens.length > MAX_TOKENS) return;
    this.#answers.push(answer);
    if (this.#answers.length > MAX_KNOWN) this.#answers.shift();
  }

  /** An answer that this verifier does not know, if there is one; each is used once. Half of them are modified. */
  challenge(peer: string, modelSha256: string, random: () => number): Challenge | undefined {
    const index = this.#answers.findIndex((each) => each.modelSha256 === modelSha256 && !each.knownTo.includes(peer));
    const [known] = index < 0 ? [] : this.#answers.splice(index, 1);
    if (!known) return undefined;
    return random() < 0.5 ? { job: known.job, changed: [] } : tampered(known.job, random);
  }
}

/** Whether a verifier's margins match the known result. */
export function isPassed({ job, changed }: Challenge, margins: readonly number[]): boolean {
  if (margins.length !== job.answer.length + (job.hasEnd ? 1 : 0)) return false;
  if (changed.length > 0) return changed.some((position) => (margins[position] as number) > DETECTED_NATS);
  return deviation(ownPart(job, margins, 0)) <= FALSE_ALARM_FACTOR * TOLERATED_DEVIATION;
}

/** Replaces tokens by different ones from the same text, so that they are plausible. */
function tampered(job: ScoreJob, random: () => number): Challenge {
  const source = [...job.prompt, ...job.answer];
  const answer = [...job.answer];
  const changed: number[] = [];
  for (let i = 0; i < CHANGED_TOKENS; i += 1) {
    const position = Math.floor(random() * answer.length);
    const alternatives = source.filter((token) => token !== job.answer[position]);
    const other = alternatives[Math.floor(random() * alternatives.length)];
    if (other === undefined || changed.includes(position)) continue;
    answer[position] = other;
    changed.push(position);
  }
  return { job: { ...job, answer }, changed };
}
