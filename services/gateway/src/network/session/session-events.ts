// A request to a worker as its session gets it, the events that it returns, and the error if the worker is lost.
import type { FailureCode, FrameOf, Sampling, SegmentReceipt } from '@strata/inference';

/** A request without the fields that the session adds: its id on the channel, and credit. */
export type SessionRequest = Omit<FrameOf<'request'>, 'kind' | 'id' | 'credit'>;

/** What a worker reports of a token; its text is not read. */
export interface TokenLogprob {
  readonly token: number;
  readonly logprob: number;
}

export type SessionToken = TokenLogprob & { readonly top: readonly TokenLogprob[] };

export interface SignedSegment {
  readonly receipt: SegmentReceipt;
  /** The signed encoding. */
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
}

/** What was received for a request, including tokens that the reader did not consume. */
export interface ObservedPart {
  readonly tokens: readonly number[];
  /** Hexadecimal SHA-256 of the request frame as sent. */
  readonly requestSha256: string;
  readonly reason: 'stop' | 'length' | 'cancelled';
}

export type SessionEvent =
  | { readonly kind: 'begin'; readonly cachedTokens: number }
  /** Consecutive positions without gaps; anything else is a protocol violation. */
  | { readonly kind: 'tokens'; readonly tokens: readonly SessionToken[] }
  | { readonly kind: 'end'; readonly reason: 'stop' | 'length' | 'cancelled'; readonly segment: SignedSegment };

export type LossCause =
  /** The connection was closed. */
  | 'disconnected'
  /** The worker is silent, or its answer has stalled. */
  | 'stalled'
  /** The worker ended the answer before the requested length: its context is full, or it claims so. */
  | 'full'
  /** Reported by the worker. */
  | FailureCode;

/** This worker cannot finish the job; another one can. */
export class WorkerLostError extends Error {
  override readonly name = 'WorkerLostError';
  readonly peer: string;
  readonly loss: LossCause;

  constructor(peer: string, loss: LossCause, options?: ErrorOptions & { readonly detail?: string }) {
    super(`worker ${peer}: ${loss}${options?.detail ? ` (${options.detail})` : ''}`, options);
    this.peer = peer;
    this.loss = loss;
  }
}

export interface SessionRunOptions {
  readonly signal: AbortSignal;
  /** The deadline of the first token is four times this, plus two seconds. 10,000 by default. */
  readonly expectedFirstTokenMs?: number;
  /** The expected time in which the worker loads the model before; 0 by default. */
  readonly loadMs?: number;
  /** The expected time between tokens, until enough tokens were received to measure it. */
  readonly expectedGapMs?: number;
  /** Factor by which it may be slower than expected; 1 by default. */
  readonly slowness?: number;
  /**
   * Called with the worker's receipt, as received and unverified, and with the observed segment to compare it with.
   * Also called for a cancelled job, after its reader has left.
   */
  readonly onSegment: (segment: SignedSegment, observed: ObservedPart) => void;
}

/** The parameters in frames: the logit bias is a list. */
export function samplingFrame(sampling: Sampling): FrameOf<'request'>['sampling'] {
  return { ...sampling, logitBias: Array.from(sampling.logitBias, ([token, bias]) => ({ token, bias })) };
}

/** Drops biases of tokens that the model does not have: they have no effect, and are not valid in frames. */
export function knownBiases(sampling: Sampling, vocabularySize: number): Sampling {
  return { ...sampling, logitBias: new Map([...sampling.logitBias].filter(([token]) => token < vocabularySize)) };
}
