// Which workers of the network made which part of an answer, as its receipt tells it.
import type { JobContext } from '@strata/engine';

/** Positions are of tokens in the choice: from `from` up to, not including, `to`. */
export interface AnswerSegment {
  readonly choice: number;
  /** Peer id. */
  readonly worker: string;
  /** Hex; names the worker's own receipt. */
  readonly nonce: string;
  readonly from: number;
  readonly to: number;
  /** Hex; of the hash chain over the tokens. */
  readonly chainHead: string;
}

/** A receipt tells of so many at most: a choice has one worker, unless workers died. */
export const MAX_SEGMENTS = 1_000;

export class AnswerSegments {
  readonly #segments: AnswerSegment[] = [];

  ofChoice(choice: number): NonNullable<JobContext['onSegment']> {
    return ({ worker, nonce, from, to, chainHead }) => {
      if (this.#segments.length >= MAX_SEGMENTS) return;
      this.#segments.push({ choice, worker, nonce, from, to, chainHead });
    };
  }

  /** Those heard of until now, choice by choice, each in its order. */
  segments(): readonly AnswerSegment[] {
    return this.#segments.toSorted((a, b) => a.choice - b.choice);
  }
}
