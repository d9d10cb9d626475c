// The interface of the auditor: how far a worker is trusted, and where observations are reported.
import type { Reputation, Sampling, Verified } from '@strata/inference';

/** A finished part of an answer, with everything needed to check it. */
export interface ObservedAnswer {
  readonly worker: string;
  readonly modelSha256: string;
  readonly prompt: readonly number[];
  /** The complete answer up to the end of this worker's part. */
  readonly answer: readonly number[];
  /** Where this worker's part begins. */
  readonly from: number;
  readonly maxTokens: number;
  /** From the worker's offer at the time of the request. */
  readonly contextLength: number;
  readonly reason: 'stop' | 'length' | 'cancelled';
  readonly sampling: Sampling;
  readonly grammar: string | undefined;
}

/** The memory for an answer, in tokens. */
export const sizeOf = ({ prompt, answer }: ObservedAnswer): number => prompt.length + answer.length;

export interface Trust {
  /** 0 to 1; with 0 the worker gets no requests. */
  of(peer: string): number;
  reputation(peer: string): Reputation;
  /** How far it is proved that the worker runs the model that it claims. */
  verified(peer: string, modelSha256: string): Verified;
  /** Reports a finished part, which may be audited later. Never throws, never waits. */
  answered(answer: ObservedAnswer): void;
  /** Reports proven misbehaviour: a forged receipt, false token counts, tokens out of order. */
  breach(peer: string, reason: string): void;
}
