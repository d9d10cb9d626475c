// What the rest of the gateway asks of trust: how far a worker is trusted, and who is told of what it did.
import type { Reputation, Sampling } from '@strata/inference';

/** One finished part of an answer, with all that is needed to check it again. */
export interface SeenAnswer {
  readonly worker: string;
  readonly modelSha256: string;
  readonly prompt: readonly number[];
  /** The whole answer up to the end of this worker's part. */
  readonly answer: readonly number[];
  /** Where this worker's part begins. */
  readonly from: number;
  readonly maxTokens: number;
  /** As the worker had offered it when it was asked. */
  readonly contextLength: number;
  readonly reason: 'stop' | 'length' | 'cancelled';
  readonly sampling: Sampling;
  readonly grammar: string | undefined;
  /** What the worker said that its part reads as: the bytes of its tokens, one after the other. */
  readonly text: Uint8Array;
}

/** What it takes to keep it, in tokens; a byte of text counts like one. */
export const sizeOf = ({ prompt, answer, text }: SeenAnswer): number => prompt.length + answer.length + text.byteLength;

export interface Trust {
  /** 0 to 1; 0: it gets no work. */
  of(peer: string): number;
  reputation(peer: string): Reputation;
  /** Hears every finished part; what is audited, and when, is decided there. Never throws, never waits. */
  answered(answer: SeenAnswer): void;
  /** Something that no honest worker does: a forged receipt, counts that are not so, tokens out of order. */
  breach(peer: string, reason: string): void;
}
