// One request on a channel: validates the worker's frames, keeps what was received, and is the queue of events between
// the session and the one reader. The queue is bounded by the worker's credit.
import { decodeSegmentReceipt, FrameError, type FrameOf, type StallWatch } from '@strata/inference';
import type { WorkerSpan } from '../relay/trace-worker.ts';
import type {
  ObservedPart,
  SessionEvent,
  SessionRunOptions,
  SignedSegment,
  WorkerLostError,
} from './session-events.ts';

/** Number of tokens that a worker may be ahead of the reader, and the step in which credit is granted. */
export const FIRST_CREDIT = 256;
const CREDIT_STEP = 64;
/** Size limits of a token or alternative: the mean of many, and a single one with its overhead. */
const MAX_MEAN_BYTES = 4 * 1_024;
const MAX_CHOICE_BYTES = 20 * 1_024;

export type JobFrame = FrameOf<'begin' | 'tokens' | 'done'>;

export interface SessionJobTask {
  readonly request: FrameOf<'request'>;
  /** Hexadecimal digest of the encoded request. */
  readonly requestSha256: string;
  readonly options: SessionRunOptions;
  readonly span: WorkerSpan;
}

export interface SessionJobDeps {
  readonly watch: Pick<StallWatch, 'phase' | 'tokens' | 'credited'>;
  readonly send: (frame: FrameOf<'cancel' | 'credit'>) => void;
  /** Called for tokens that the reader gets. */
  readonly onWriting: () => void;
  /** Called before the job is cancelled at the worker; its receipt may still arrive. */
  readonly onLeft: () => void;
  readonly onOver: () => void;
}

/** `reading`: a reader waits for events. `leaving`: cancelled, but the receipt may still arrive. */
type JobState = 'reading' | 'leaving' | 'over';

type Result = IteratorResult<SessionEvent, undefined>;

/** Its reader waits for one event at a time. Unlike a generator, it can be left while it waits. */
export class SessionJob implements AsyncIterableIterator<SessionEvent> {
  readonly id: number;
  readonly #task: SessionJobTask;
  readonly #deps: SessionJobDeps;
  readonly #from: number;
  readonly #tokensReceived: ObservedPart['tokens'][number][] = [];
  #events: SessionEvent[] = [];
  #reader: PromiseWithResolvers<Result> | undefined;
  /** The end of the events, with the error that is still to be delivered, if any. */
  #end: { readonly error?: unknown } | undefined;
  #state: JobState = 'reading';
  #hasBegun = false;
  /** Tokens that the worker may still send; tokens granted in total; tokens read, and those in the event read last. */
  #credit = FIRST_CREDIT;
  #granted = FIRST_CREDIT;
  #read = 0;
  #reading = 0;

  constructor(task: SessionJobTask, deps: SessionJobDeps) {
    this.#task = task;
    this.#deps = deps;
    this.id = task.request.id;
    this.#from = task.request.given.length;
    task.options.signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** The next event; credit for the previous one is granted. Events received before an error are delivered first. */
  next(): Promise<Result> {
    this.#grant();
    const event = this.#events.shift();
    if (event) return Promise.resolve(this.#handOver(event));
    this.#reader = Promise.withResolvers();
    const { promise } = this.#reader;
    this.#deliverEnd();
    return promise;
  }

  /** The reader stops before the end. */
  async return(): Promise<Result> {
    this.#events = [];
    this.#reading = 0;
    this.#close({});
    this.#cancel();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
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
    if (!isBelieved) this.#events = [];
    this.#close({ error });
    this.#over();
  }

  /** Cancels the job; the reader gets the error after the events received before. */
  giveUp(error: unknown): void {
    this.#close({ error });
    this.#cancel();
  }

  readonly #abort = (): void => {
    this.#events = [];
    this.giveUp(this.#task.options.signal.reason);
  };

  /** Cancels the job at the worker, which still sends its receipt. */
  #cancel(): void {
    if (this.#state !== 'reading') return;
    this.#state = 'leaving';
    this.#task.options.signal.removeEventListener('abort', this.#abort);
    this.#deps.onLeft();
    this.#deps.send({ kind: 'cancel', id: this.id });
  }

  #over(): void {
    this.#state = 'over';
    this.#task.options.signal.removeEventListener('abort', this.#abort);
    this.#deps.onOver();
  }

  #begin({ cachedTokens }: FrameOf<'begin'>): string | undefined {
    if (this.#hasBegun) return 'it began twice';
    if (cachedTokens > this.#task.request.prompt.length) return 'more cached tokens than the prompt has';
    this.#hasBegun = true;
    this.#push({ kind: 'begin', cachedTokens });
    this.#deps.watch.phase(this.id, 'reading');
    return undefined;
  }

  #tokens({ position, tokens }: FrameOf<'tokens'>, sizeBytes: number): string | undefined {
    const { maxTokens, topLogprobs = 0 } = this.#task.request;
    const due = this.#from + this.#tokensReceived.length;
    if (!this.#hasBegun) return 'tokens before it began';
    if (position !== due) return `tokens at ${position} instead of ${due}`;
    if (tokens.length > this.#credit) return 'more tokens than it had credit for';
    if (due + tokens.length > maxTokens) return 'more tokens than requested';
    if (sizeBytes > MAX_CHOICE_BYTES + MAX_MEAN_BYTES * tokens.length * (1 + topLogprobs))
      return 'tokens that are too long';
    if (tokens.some(({ top }) => top.length > topLogprobs)) return 'alternatives that were not requested';
    this.#credit -= tokens.length;
    for (const { token } of tokens) this.#tokensReceived.push(token);
    if (this.#state === 'reading') {
      this.#push({ kind: 'tokens', tokens });
      this.#deps.onWriting();
    }
    // Held: the worker must wait for the reader.
    const isHeld = this.#credit === 0 && !this.#hasAllCredit;
    this.#deps.watch.tokens(this.id, tokens.length, { nowMs: performance.now(), isHeld });
    return undefined;
  }

  #done({ reason, receipt: bytes, signature }: FrameOf<'done'>): string | undefined {
    if (reason === 'cancelled' ? this.#state === 'reading' : !this.#hasBegun) return `an invalid end: ${reason}`;
    let segment: SignedSegment;
    try {
      segment = { receipt: decodeSegmentReceipt(bytes), bytes, signature };
    } catch (error) {
      if (error instanceof FrameError) return 'a malformed receipt';
      throw error;
    }
    const { requestSha256, options } = this.#task;
    this.#push({ kind: 'end', reason, segment });
    this.#close({});
    this.#over();
    options.onSegment(segment, { tokens: this.#tokensReceived, requestSha256, reason });
    return undefined;
  }

  /** Whether the worker has credit for all requested tokens. */
  get #hasAllCredit(): boolean {
    return this.#from + this.#granted >= this.#task.request.maxTokens;
  }

  /** Grants credit for the tokens of the event that the reader has read. */
  #grant(): void {
    this.#read += this.#reading;
    this.#reading = 0;
    const owed = FIRST_CREDIT + this.#read - this.#granted;
    if (this.#state !== 'reading' || this.#hasAllCredit || owed < CREDIT_STEP) return;
    this.#granted += owed;
    this.#credit += owed;
    this.#deps.watch.credited(this.id, performance.now());
    this.#deps.send({ kind: 'credit', id: this.id, tokens: owed });
  }

  /** Delivers an event, or queues it; without a reader it is dropped. */
  #push(event: SessionEvent): void {
    if (this.#end) return;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) reader.resolve(this.#handOver(event));
    else this.#events.push(event);
  }

  #handOver(event: SessionEvent): Result {
    this.#reading = event.kind === 'tokens' ? event.tokens.length : 0;
    return { done: false, value: event };
  }

  #close(end: { readonly error?: unknown }): void {
    if (this.#end) return;
    this.#end = end;
    this.#task.span.end(end.error);
    this.#deliverEnd();
  }

  /** An error is delivered once; afterwards the events are at their end. */
  #deliverEnd(): void {
    const [reader, end] = [this.#reader, this.#end];
    if (!reader || !end) return;
    this.#reader = undefined;
    this.#end = {};
    if ('error' in end) reader.reject(end.error);
    else reader.resolve({ done: true, value: undefined });
  }
}
