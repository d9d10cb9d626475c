// One connected worker, as the rest of the gateway sees it: jobs in, events out, and word at once when it is gone or stands still.
import type { TokenChoice } from '@strata/engine';
import type { FailureCode, FrameOf, SegmentReceipt } from '@strata/inference';

/** A request without what the session adds: its number on the channel, and credit. */
export type SessionRequest = Omit<FrameOf<'request'>, 'kind' | 'id' | 'credit'>;

export type SessionToken = TokenChoice & { readonly top: readonly TokenChoice[] };

export interface SignedSegment {
  readonly receipt: SegmentReceipt;
  /** As it was signed. */
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
}

/** What came of a request, all that was received counted: also what its reader did not take any more. */
export interface SeenPart {
  readonly tokens: readonly Pick<SessionToken, 'token' | 'bytes'>[];
  /** Hex SHA-256 of the request frame as it was sent. */
  readonly requestSha256: string;
  readonly reason: 'stop' | 'length' | 'cancelled';
}

export type SessionEvent =
  | { readonly kind: 'begin'; readonly cachedTokens: number }
  /** In the order of their positions, without gaps: what comes otherwise is a breach of the protocol. */
  | { readonly kind: 'tokens'; readonly tokens: readonly SessionToken[] }
  | { readonly kind: 'end'; readonly reason: 'stop' | 'length' | 'cancelled'; readonly segment: SignedSegment };

export type LossCause =
  /** The connection is over. */
  | 'gone'
  /** It says nothing, or its answer stands still. */
  | 'stalled'
  /** It ended the answer before its length was reached: it has no room for more, or says so. */
  | 'full'
  /** It said so. */
  | FailureCode;

/** This worker will not finish it; another one may. */
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
  /** As it last said, ours among them; and of these, those that are not ours. */
  readonly running: number;
  readonly waiting: number;
  readonly others: number;
  /** Answers of ours now; and those of which tokens have come, and more are wanted. */
  readonly own: number;
  readonly writing: number;
  /** Questions of ours now: scores, embeddings, vocabularies. */
  readonly calls: number;
}

/** All calls reject with WorkerLostError once the worker is gone; jobs under way do so at once. */
export interface WorkerSession extends AsyncDisposable {
  readonly peer: string;
  readonly isAlive: boolean;
  readonly load: SessionLoad;
  /** Median of the last pings. */
  readonly rttMs: number;
  /**
   * Whoever stops reading before the end cancels the job; its receipt comes to `onSegment` all the same. What is not read makes
   * the worker wait.
   */
  run(request: SessionRequest, options: SessionRunOptions): AsyncIterable<SessionEvent>;
  score(request: Omit<FrameOf<'score'>, 'kind' | 'id'>, signal: AbortSignal): Promise<readonly number[]>;
  embed(request: Omit<FrameOf<'embed'>, 'kind' | 'id'>, signal: AbortSignal): Promise<Float32Array>;
  /** The vocabulary file with this digest; its bytes are checked. */
  vocabulary(sha256: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Tells the worker that its receipt is agreed to. */
  settle(nonce: Uint8Array, signature: Uint8Array): void;
}

export interface SessionRunOptions {
  readonly signal: AbortSignal;
  /** Before its first token it may take four times as long, and two seconds. 10,000 by default. */
  readonly expectedFirstTokenMs?: number;
  /** Between its tokens, before it has given enough of them to go by. */
  readonly expectedGapMs?: number;
  /**
   * Hears the worker's receipt, as it came and unchecked, also that of a cancelled job, which comes after the reader has gone;
   * and what to hold it against.
   */
  readonly onSegment: (segment: SignedSegment, seen: SeenPart) => void;
}
