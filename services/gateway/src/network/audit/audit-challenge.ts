// Whether verifiers do look: now and then one is given an answer of which the truth is known, as it is or with tokens changed.
import type { ScoreJob } from '@strata/engine';
import { deviation, TOLERATED_DEVIATION } from '@strata/inference';
import { ownPart } from './audit-panel.ts';

export interface KnownAnswer {
  readonly modelSha256: string;
  readonly job: ScoreJob;
  /** Peers that made or scored it: they would know it again. */
  readonly seenBy: readonly string[];
}

export interface Challenge {
  readonly job: ScoreJob;
  /** Positions of tokens that were changed; empty: it is as it was. */
  readonly changed: readonly number[];
}

const MAX_KNOWN = 16;
/** Long ones are not kept: sixteen stay in memory all the time. */
const MAX_TOKENS = 8_192;
/** Shorter ones have no room for tokens to be changed. */
const MIN_ANSWER = 8;
const CHANGED_TOKENS = 3;
/** A changed token may by chance be nearly as good; that each of three is, one in ten thousand times. */
const SEEN_NATS = 0.2;
/** A short clean answer may for once deviate more than is tolerated in the long run. */
const FALSE_ALARM_FACTOR = 4;

/** Answers that two verifiers, or our own engine, found clean; the newest few. */
export class KnownAnswers {
  readonly #answers: KnownAnswer[] = [];

  keep(answer: KnownAnswer): void {
    const { prompt, answer: tokens } = answer.job;
    if (tokens.length < MIN_ANSWER || prompt.length + tokens.length > MAX_TOKENS) return;
    this.#answers.push(answer);
    if (this.#answers.length > MAX_KNOWN) this.#answers.shift();
  }

  /** One that this verifier has not seen, if there is; each is used once. Half of them are tampered with. */
  challenge(peer: string, modelSha256: string, random: () => number): Challenge | undefined {
    const index = this.#answers.findIndex((each) => each.modelSha256 === modelSha256 && !each.seenBy.includes(peer));
    const [known] = index < 0 ? [] : this.#answers.splice(index, 1);
    if (!known) return undefined;
    return random() < 0.5 ? { job: known.job, changed: [] } : tampered(known.job, random);
  }
}

/** Whether a verifier's margins are what the truth about a challenge is. */
export function isPassed({ job, changed }: Challenge, margins: readonly number[]): boolean {
  if (margins.length !== job.answer.length + (job.hasEnd ? 1 : 0)) return false;
  if (changed.length > 0) return changed.some((position) => (margins[position] as number) > SEEN_NATS);
  return deviation(ownPart(job, margins, 0)) <= FALSE_ALARM_FACTOR * TOLERATED_DEVIATION;
}

/** Tokens of the same text take the places of others: nothing in it looks strange. */
function tampered(job: ScoreJob, random: () => number): Challenge {
  const source = [...job.prompt, ...job.answer];
  const answer = [...job.answer];
  const changed: number[] = [];
  for (let i = 0; i < CHANGED_TOKENS; i += 1) {
    const position = Math.floor(random() * answer.length);
    const others = source.filter((token) => token !== job.answer[position]);
    const other = others[Math.floor(random() * others.length)];
    if (other === undefined || changed.includes(position)) continue;
    answer[position] = other;
    changed.push(position);
  }
  return { job: { ...job, answer }, changed };
}
