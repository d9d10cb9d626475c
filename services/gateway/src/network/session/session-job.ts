// One request on a channel: validates the worker's frames, keeps what was received, and delivers events to the reader.
import { decodeSegmentReceipt, FrameError, type FrameOf } from '@strata/inference';
import { EventQueue } from './event-queue.ts';
import type {
  ObservedPart,
  SessionEvent,
  SessionRunOptions,
  SignedSegment,
  WorkerLostError,
} from './worker-session.ts';

/** Number of tokens that a worker may be ahead of the reader, and the step in which credit is granted. */
export const FIRST_CREDIT = 256;
const CREDIT_STEP = 64;
/** Size limits of a token or alternative: the mean of many, and a single one with its overhead. */
const MAX_MEAN_BYTES = 4 * 1_024;
const MAX_CHOICE_BYTES = 20 * 1_024;

export type JobFrame = FrameOf<'begin' | 'tokens' | 'done'>;

export interface SessionJobDeps {
  readonly request: FrameOf<'request'>;
  /** Hexadecimal digest of the encoded request. */
  readonly requestSha256: string;
  readonly options: SessionRunOptions;
  readonly send: (frame: FrameOf<'cancel' | 'credit'>) => void;
}

/** `reading`: a reader waits for events. `leaving`: cancelled, but the receipt may still arrive. */
type JobState = 'reading' | 'leaving' | 'over';

export class SessionJob {
  readonly id: number;
  readonly events: AsyncIterableIterator<SessionEvent>;
  readonly #deps: SessionJobDeps;
  readonly #queue: EventQueue<SessionEvent>;
  readonly #from: number;
  readonly #tokensReceived: ObservedPart['tokens'][number][] = [];
  #state: JobState = 'reading';
  #hasBegun = false;
  /** Tokens that the worker may still send; tokens granted in total; tokens that the reader has consumed. */
  #credit = FIRST_CREDIT;
  #granted = FIRST_CREDIT;
  #read = 0;

  constructor(deps: SessionJobDeps) {
    const { request, options } = deps;
    this.#deps = deps;
    this.id = request.id;
    this.#from = request.given.length;
    this.#queue = new EventQueue({
      onTaken: (event) => {
        if (event.kind === 'tokens') this.#grant(event.tokens.length);
      },
      onLeft: () => this.cancel(),
    });
    this.events = this.#queue;
    options.signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Whether a reader waits for more events. */
  get isRead(): boolean {
    return this.#state === 'reading';
  }

  /** Whether the worker must wait for the reader. */
  get isHeld(): boolean {
    return this.#credit === 0 && !this.#hasAllCredit;
  }

  /** Whether the worker has credit for all requested tokens. */
  get #hasAllCredit(): boolean {
    return this.#from + this.#granted >= this.#deps.request.maxTokens;
  }

  /** Handles a frame; returns the protocol violation, if any. */
  take(frame: JobFrame, sizeBytes: number): string | undefined {
    switch (frame.kind) {
      case 'begin':
        return this.#begin(frame);
      case 'tokens':
        return this.#tokens(frame, sizeBytes);
      case 'done':
        return this.#done(frame);
      default:
        throw new Error(frame satisfies never);
    }
  }

  /** Ends the job without a receipt. Events received before are still delivered, unless the worker is not believed. */
  fail(error: WorkerLostError, { isBelieved }: { readonly isBelieved: boolean }): void {
    if (!isBelieved) this.#queue.clear();
    this.#queue.fail(error);
    this.#end();
  }

  /** Cancels the job at the worker, which still sends its receipt. */
  cancel(): void {
    if (this.#state !== 'reading') return;
    this.#state = 'leaving';
    this.#deps.options.signal.removeEventListener('abort', this.#abort);
    this.#deps.send({ kind: 'cancel', id: this.id });
  }

  /** Cancels the job; the reader gets the error after the events received before. */
  giveUp(error: unknown): void {
    this.#queue.fail(error);
    this.cancel();
  }

  readonly #abort = (): void => {
    this.#queue.clear();
    this.giveUp(this.#deps.options.signal.reason);
  };

  #end(): void {
    this.#state = 'over';
    this.#deps.options.signal.removeEventListener('abort', this.#abort);
  }

  #begin({ cachedTokens }: FrameOf<'begin'>): string | undefined {
    if (this.#hasBegun) return 'it began twice';
    if (cachedTokens > this.#deps.request.prompt.length) return 'more cached tokens than the prompt has';
    this.#hasBegun = true;
    if (this.isRead) this.#queue.push({ kind: 'begin', cachedTokens });
    return undefined;
  }

  #tokens({ position, tokens }: FrameOf<'tokens'>, sizeBytes: number): string | undefined {
    const { maxTokens, topLogprobs = 0 } = this.#deps.request;
    const due = this.#from + this.#tokensReceived.length;
    if (!this.#hasBegun) return 'tokens before it began';
    if (position !== due) return `tokens at ${position} instead of ${due}`;
    if (tokens.length > this.#credit) return 'more tokens than it had credit for';
    if (due + tokens.length > maxTokens) return 'more tokens than requested';
    if (sizeBytes > MAX_CHOICE_BYTES + MAX_MEAN_BYTES * tokens.length * (1 + topLogprobs))
      return 'tokens that are too long';
    if (tokens.some(({ top }) => top.length > topLogprobs)) return 'alternatives that were not requested';
    this.#credit -= tokens.length;
    for (const { token, text } of tokens) this.#tokensReceived.push({ token, bytes: text });
    if (this.isRead)
      this.#queue.push({
        kind: 'tokens',
        tokens: tokens.map(({ token, text, logprob, top }) => ({
          ...{ token, bytes: text, logprob },
          top: top.map((choice) => ({ token: choice.token, bytes: choice.text, logprob: choice.logprob })),
        })),
      });
    return undefined;
  }

  #done({ reason, receipt: bytes, signature }: FrameOf<'done'>): string | undefined {
    if (reason === 'cancelled' ? this.isRead : !this.#hasBegun) return `an invalid end: ${reason}`;
    let segment: SignedSegment;
    try {
      segment = { receipt: decodeSegmentReceipt(bytes), bytes, signature };
    } catch (error) {
      if (error instanceof FrameError) return 'a malformed receipt';
      throw error;
    }
    const observed: ObservedPart = { tokens: this.#tokensReceived, requestSha256: this.#deps.requestSha256, reason };
    if (this.isRead) this.#queue.push({ kind: 'end', reason, segment });
    this.#queue.end();
    this.#end();
    this.#deps.options.onSegment(segment, observed);
    return undefined;
  }

  #grant(count: number): void {
    this.#read += count;
    const owed = FIRST_CREDIT + this.#read - this.#granted;
    if (!this.isRead || this.#hasAllCredit || owed < CREDIT_STEP) return;
    this.#granted += owed;
    this.#credit += owed;
    this.#deps.send({ kind: 'credit', id: this.id, tokens: owed });
  }
}
