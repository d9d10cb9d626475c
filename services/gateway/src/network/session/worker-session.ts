// The interface of one connected worker: jobs in, events out, and an immediate error when it is lost or stalls.
import type { TokenChoice } from '@strata/engine';
import type { FailureCode, FrameOf, SegmentReceipt } from '@strata/inference';

/** A request without the fields that the session adds: its id on the channel, and credit. */
export type SessionRequest = Omit<FrameOf<'request'>, 'kind' | 'id' | 'credit'>;

export type SessionToken = TokenChoice & { readonly top: readonly TokenChoice[] };

export interface SignedSegment {
  readonly receipt: SegmentReceipt;
  /** The signed encoding. */
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
}

/** What was received for a request, including tokens that the reader did not consume. */
export interface ObservedPart {
  readonly tokens: readonly Pick<SessionToken, 'token' | 'bytes'>[];
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

export interface SessionLoad {
  /** The load in its last heartbeat, including ours; and the part of it that belongs to other gateways. */
  readonly running: number;
  readonly waiting: number;
  readonly otherGateways: number;
  /** Our current answers; and those that have received tokens and expect more. */
  readonly own: number;
  readonly writing: number;
  /** Our current calls: scores, embeddings, vocabularies. */
  readonly calls: number;
}

/** After the worker is lost all calls reject with WorkerLostError, and jobs in progress fail immediately. */
export interface WorkerSession extends AsyncDisposable {
  readonly peer: string;
  readonly isAlive: boolean;
  readonly load: SessionLoad;
  /** Median of the recent pings. */
  readonly rttMs: number;
  /**
   * The job is cancelled if the reader stops before the end; its receipt is still passed to `onSegment`. A slow reader
   * slows down the worker.
   */
  run(request: SessionRequest, options: SessionRunOptions): AsyncIterable<SessionEvent>;
  score(request: Omit<FrameOf<'score'>, 'kind' | 'id'>, signal: AbortSignal): Promise<readonly number[]>;
  embed(request: Omit<FrameOf<'embed'>, 'kind' | 'id'>, signal: AbortSignal): Promise<Float32Array>;
  /** The vocabulary file with this digest; its content is verified. */
  vocabulary(sha256: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Accepts the worker's receipt. */
  settle(nonce: Uint8Array, signature: Uint8Array): void;
}

export interface SessionRunOptions {
  readonly signal: AbortSignal;
  /** The deadline of the first token is four times this, plus two seconds. 10,000 by default. */
  readonly expectedFirstTokenMs?: number;
  /** The expected time between tokens, until enough tokens were received to measure it. */
  readonly expectedGapMs?: number;
  /**
   * Called with the worker's receipt, as received and unverified, and with the observed segment to compare it with.
   * Also called for a cancelled job, after its reader has left.
   */
  readonly onSegment: (segment: SignedSegment, observed: ObservedPart) => void;
}
