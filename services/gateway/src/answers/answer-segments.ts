// The segments of an answer that workers of the network generated, as listed in its receipt.
import type { JobContext } from '@strata/engine';

/** Token positions in the choice: from `from` up to, not including, `to`. */
export interface AnswerSegment {
  readonly choice: number;
  /** Peer id. */
  readonly worker: string;
  /** Hexadecimal; identifies the worker's receipt. */
  readonly nonce: string;
  readonly from: number;
  readonly to: number;
  /** Hexadecimal head of the hash chain over the tokens. */
  readonly chainHead: string;
}

/** Maximum number of segments in a receipt. A choice has one segment unless workers fail. */
export const MAX_SEGMENTS = 1_000;

export class AnswerSegments {
  readonly #segments: AnswerSegment[] = [];

  ofChoice(choice: number): NonNullable<JobContext['onSegment']> {
    return ({ worker, nonce, from, to, chainHead }) => {
      if (this.#segments.length >= MAX_SEGMENTS) return;
      this.#segments.push({ choice, worker, nonce, from, to, chainHead });
    };
  }

  /** The segments so far, by choice, each choice in order. */
  segments(): readonly AnswerSegment[] {
    return this.#segments.toSorted((a, b) => a.choice - b.choice);
  }
}
