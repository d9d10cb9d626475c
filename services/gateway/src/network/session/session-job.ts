// One request on a channel: what its worker may send next, what came of it, and the reader who takes it.
import { decodeSegmentReceipt, FrameError, type FrameOf } from '@strata/inference';
import { EventQueue } from './event-queue.ts';
import type { SeenPart, SessionEvent, SessionRunOptions, SignedSegment, WorkerLostError } from './worker-session.ts';

/** Tokens that a worker may be ahead of the reader, and how many are read before it is given as many more. */
export const FIRST_CREDIT = 256;
const CREDIT_STEP = 64;
/** Bytes of a token or an alternative beside it: of many on average, and of one alone with all that is around it. */
const MAX_MEAN_BYTES = 4 * 1_024;
const MAX_CHOICE_BYTES = 20 * 1_024;

export type JobFrame = FrameOf<'begin' | 'tokens' | 'done'>;

export interface SessionJobDeps {
  readonly request: FrameOf<'request'>;
  /** Hex, of its encoding. */
  readonly requestSha256: string;
  readonly options: SessionRunOptions;
  readonly send: (frame: FrameOf<'cancel' | 'credit'>) => void;
}

/** `reading`: somebody waits for it. `leaving`: nobody does any more, but its receipt may come. */
type JobState = 'reading' | 'leaving' | 'over';

export class SessionJob {
  readonly id: number;
  readonly events: AsyncIterableIterator<SessionEvent>;
  readonly #deps: SessionJobDeps;
  readonly #queue: EventQueue<SessionEvent>;
  readonly #from: number;
  readonly #seen: SeenPart['tokens'][number][] = [];
  #state: JobState = 'reading';
  #hasBegun = false;
  /** Tokens that it may still send; those that it was given in all; and those that the reader has done with. */
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

  /** Whether somebody waits for more of it. */
  get isRead(): boolean {
    return this.#state === 'reading';
  }

  /** Whether the worker has to wait for the reader. */
  get isHeld(): boolean {
    return this.#credit === 0 && !this.#hasAllCredit;
  }

  /** It may send all that was asked for. */
  get #hasAllCredit(): boolean {
    return this.#from + this.#granted >= this.#deps.request.maxTokens;
  }

  /** Takes what the worker says of it; what it may not say is told in words. */
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

  /** Ends it without a receipt. What was read of it before is still given, unless it is not to be believed. */
  fail(error: WorkerLostError, { isBelieved }: { readonly isBelieved: boolean }): void {
    if (!isBelieved) this.#queue.clear();
    this.#queue.fail(error);
    this.#end();
  }

  /** Nobody reads it any more; the worker is told, and has to say what it has done. */
  cancel(): void {
    if (this.#state !== 'reading') return;
    this.#state = 'leaving';
    this.#deps.options.signal.removeEventListener('abort', this.#abort);
    this.#deps.send({ kind: 'cancel', id: this.id });
  }

  /** The same, for a reader who hears of it after what came before. */
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
    if (cachedTokens > this.#deps.request.prompt.length) return 'more of the prompt was cached than there is';
    this.#hasBegun = true;
    if (this.isRead) this.#queue.push({ kind: 'begin', cachedTokens });
    return undefined;
  }

  #tokens({ position, tokens }: FrameOf<'tokens'>, sizeBytes: number): string | undefined {
    const { maxTokens, topLogprobs = 0 } = this.#deps.request;
    const due = this.#from + this.#seen.length;
    if (!this.#hasBegun) return 'tokens before it began';
    if (position !== due) return `tokens at ${position} where ${due} was due`;
    if (tokens.length > this.#credit) return 'more tokens than it had credit for';
    if (due + tokens.length > maxTokens) return 'more tokens than were asked for';
    if (sizeBytes > MAX_CHOICE_BYTES + MAX_MEAN_BYTES * tokens.length * (1 + topLogprobs))
      return 'tokens that are too long';
    if (tokens.some(({ top }) => top.length > topLogprobs)) return 'alternatives that were not asked for';
    this.#credit -= tokens.length;
    for (const { token, text } of tokens) this.#seen.push({ token, bytes: text });
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
    if (reason === 'cancelled' ? this.isRead : !this.#hasBegun) return `${reason} where it cannot be`;
    let segment: SignedSegment;
    try {
      segment = { receipt: decodeSegmentReceipt(bytes), bytes, signature };
    } catch (error) {
      if (error instanceof FrameError) return 'a receipt that cannot be read';
      throw error;
    }
    const seen: SeenPart = { tokens: this.#seen, requestSha256: this.#deps.requestSha256, reason };
    if (this.isRead) this.#queue.push({ kind: 'end', reason, segment });
    this.#queue.end();
    this.#end();
    this.#deps.options.onSegment(segment, seen);
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
