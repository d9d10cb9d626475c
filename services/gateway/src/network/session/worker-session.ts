// The session with one connected worker: jobs in, events out, and an immediate error when the worker is lost or stalls.
// Validates every received frame, and passes it to the job or call that it belongs to.
import { EngineError } from '@strata/engine';
import {
  bytesSha256,
  decodeFrame,
  decodeOffer,
  encodeFrame,
  type Frame,
  FrameError,
  type FrameOf,
  type Offer,
  offerSignedBytes,
} from '@strata/inference';
import { RateLimiter } from '@strata/limits';
import { type Channel, MAX_MESSAGE_BYTES, verifyPeerSignature } from '@strata/p2p';
import { startInSpan } from '../relay/trace-worker.ts';
import { chunkCall, embedCall, SessionCalls, scoreCall, vocabularyCall } from './session-calls.ts';
import { type LossCause, type SessionRequest, type SessionRunOptions, WorkerLostError } from './session-events.ts';
import { FIRST_CREDIT, type SessionJob } from './session-job.ts';
import { SessionJobs } from './session-jobs.ts';

/**
 * Limits of unsolicited frames: heartbeats, offers, and late frames of finished jobs. An honest worker sends a heartbeat
 * per tick and occasionally an offer; the rest allows for our own late ticks.
 */
const FRAMES_PER_TICK = { limit: 1_000, period: 1, refill: 'window' } as const;
const BYTES_PER_TICK = { limit: 1024 * 1024, period: 1, refill: 'window' } as const;
/** Offers whose signature is verified: 30 at once, and one each 8 ticks. */
const OFFERS = { limit: 30, period: 30 * 8, refill: 'steady' } as const;
/** More than the largest requests, and less than the channel buffers: a worker with this much unsent is not reading. */
const MAX_UNSENT_BYTES = 30 * 1024 * 1024;

type FromGateway = 'request' | 'cancel' | 'credit' | 'score' | 'embed' | 'vocabularyAsk' | 'chunkAsk' | 'settle';

export interface SessionOptions {
  /** Round-trip time of the connection, measured elsewhere; undefined: not measured yet. */
  readonly roundTripMs: () => number | undefined;
  /** Called for each offer with a valid signature of the channel's peer. */
  readonly onOffer: (offer: Offer) => void;
  /** Called once when the worker is lost, with the reason; `breach` is the protocol violation, if any. */
  readonly onEnd: (end: { readonly loss: string; readonly breach: string | undefined }) => void;
}

interface SessionDeps {
  readonly channel: Channel;
  /** The messages after hello. */
  readonly messages: AsyncIterator<Uint8Array>;
  /** Interval of liveness checks; deadlines in ticks depend on it. */
  readonly tickMs: number;
  /** Reports a protocol violation to the worker, and closes the channel. */
  readonly farewell: (breach: string) => Promise<void>;
}

/** After the worker is lost all calls reject with WorkerLostError, and jobs in progress fail immediately. */
export class WorkerSession implements AsyncDisposable {
  readonly peer: string;
  readonly #deps: SessionDeps;
  readonly #options: SessionOptions;
  readonly #jobs: SessionJobs;
  readonly #calls: SessionCalls;
  #ticks = 0;
  readonly #frames = new RateLimiter({ ...FRAMES_PER_TICK, now: () => this.#ticks });
  readonly #bytes = new RateLimiter({ ...BYTES_PER_TICK, now: () => this.#ticks });
  readonly #offers = new RateLimiter({ ...OFFERS, now: () => this.#ticks });
  readonly #timer: NodeJS.Timeout;
  readonly #reading: Promise<void>;
  #farewell: Promise<void> = Promise.resolve();
  /** The load in the last heartbeat, and the part of it that belongs to other gateways. */
  #reported = { running: 0, waiting: 0, otherGateways: 0 };
  #lastId = 0;
  #lost: WorkerLostError | undefined;
  /** Given to the channel and not accepted by the connection yet. */
  #unsentBytes = 0;
  #hasSendFailed = false;

  constructor(deps: SessionDeps, options: SessionOptions) {
    const { channel, tickMs } = deps;
    this.peer = channel.peer;
    this.#deps = deps;
    this.#options = options;
    this.#jobs = new SessionJobs({ peer: channel.peer, tickMs, send: (frame) => this.#send(frame) });
    this.#calls = new SessionCalls({
      peer: channel.peer,
      send: (question) => this.#send(question),
      onGivenUp: (id) => this.#jobs.expectLate(id),
    });
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#timer.unref();
    this.#reading = this.#read();
  }

  get isAlive(): boolean {
    return this.#lost === undefined;
  }

  /** In its last heartbeat, including ours; our answers, those that expect more tokens, and our other calls. */
  get load() {
    return { ...this.#reported, own: this.#jobs.size, calls: this.#calls.size, writing: this.#jobs.writing };
  }

  /** Median of the recent pings. */
  get rttMs(): number {
    return this.#options.roundTripMs() ?? 0;
  }

  /**
   * The job is cancelled if the reader stops before the end; its receipt is still passed to `onSegment`. A slow reader
   * slows down the worker.
   */
  run(request: SessionRequest, options: SessionRunOptions): SessionJob {
    options.signal.throwIfAborted();
    const id = this.#newId();
    return startInSpan(this.peer, (span) => {
      const frame = { kind: 'request', id, credit: FIRST_CREDIT, ...request, ...span.field } as const;
      const bytes = this.#encoded(frame);
      const job = this.#jobs.start({ request: frame, requestSha256: bytesSha256(bytes), options, span });
      this.#sendBytes(bytes);
      return job;
    });
  }

  async score(request: Omit<FrameOf<'score'>, 'kind' | 'id'>, signal: AbortSignal): Promise<readonly number[]> {
    return this.#calls.ask(scoreCall({ kind: 'score', id: this.#newId(), ...request }), signal);
  }

  async embed(request: Omit<FrameOf<'embed'>, 'kind' | 'id'>, signal: AbortSignal): Promise<Float32Array> {
    return this.#calls.ask(embedCall({ kind: 'embed', id: this.#newId(), ...request }), signal);
  }

  /** The vocabulary file with this digest, verified. */
  async vocabulary(vocabularySha256: string, signal: AbortSignal): Promise<Uint8Array> {
    const question = { kind: 'vocabularyAsk', id: this.#newId(), vocabularySha256, from: 0 } as const;
    return this.#calls.ask(vocabularyCall(question), signal);
  }

  /** An unverified chunk of the model file; the worker's offer must have a `fileTreeSha256`. */
  async chunk(modelSha256: string, index: number, signal: AbortSignal): Promise<FrameOf<'chunk'>> {
    return this.#calls.ask(chunkCall({ kind: 'chunkAsk', id: this.#newId(), modelSha256, index }), signal);
  }

  /** Accepts the worker's receipt. */
  settle(nonce: Uint8Array, signature: Uint8Array): void {
    this.#send({ kind: 'settle', nonce, signature });
  }

  /** Closes the channel; jobs in progress are lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end('disconnected');
    await this.#reading;
    await this.#farewell;
  }

  /** Throws EngineError `job-too-long` for a request that every worker would reject. */
  #encoded(frame: Frame): Uint8Array {
    try {
      const bytes = encodeFrame(frame);
      if (bytes.byteLength <= MAX_MESSAGE_BYTES) return bytes;
      throw new FrameError('not-allowed', 'a frame that is longer than a message');
    } catch (cause) {
      if (cause instanceof FrameError)
        throw new EngineError('job-too-long', 'the request is too large for a worker', { cause });
      throw cause;
    }
  }

  #newId(): number {
    if (this.#lost) throw this.#lost;
    this.#lastId += 1;
    return this.#lastId;
  }

  #send(frame: Frame): void {
    this.#sendBytes(this.#encoded(frame));
  }

  #sendBytes(bytes: Uint8Array): void {
    if (this.#lost || this.#hasSendFailed) return;
    if (this.#unsentBytes + bytes.byteLength > MAX_UNSENT_BYTES) {
      this.#end('stalled');
      return;
    }
    this.#unsentBytes += bytes.byteLength;
    this.#deps.channel.send(bytes).then(
      () => {
        this.#unsentBytes -= bytes.byteLength;
      },
      () => {
        this.#hasSendFailed = true;
      },
    );
  }

  async #read(): Promise<void> {
    const { messages } = this.#deps;
    try {
      for (let next = await messages.next(); !next.done && !this.#lost; next = await messages.next()) {
        this.#jobs.received();
        const breach = await this.#take(next.value);
        if (breach !== undefined) this.#end('protocol', { breach });
      }
      this.#end('disconnected');
    } catch (error) {
      if (error instanceof FrameError) this.#end('protocol', { breach: error.message });
      else this.#end('disconnected', { cause: error });
    }
  }

  /** Returns the protocol violation, if any. */
  #take(message: Uint8Array): string | undefined | Promise<string | undefined> {
    const frame = decodeFrame(message);
    const size = message.byteLength;
    switch (frame.kind) {
      case 'begin':
      case 'tokens':
      case 'done': {
        const job = this.#jobs.get(frame.id);
        return job ? job.take(frame, size) : this.#takeLate(frame, size);
      }
      case 'scored':
      case 'embedded':
      case 'vocabularyPart':
      case 'chunk':
        return this.#calls.has(frame.id) ? this.#calls.take(frame) : this.#takeLate(frame, size);
      case 'failed':
        return this.#takeFailed(frame, size);
      case 'pulse':
        this.#takeHeartbeat(frame);
        return this.#isWithinLimits(size) ? undefined : 'too many heartbeats';
      case 'offer':
        if (!this.#isWithinLimits(size)) return 'too many offers';
        return this.#offers.take(this.peer) === 0 ? this.#takeOffer(frame) : undefined;
      case 'hello':
        return 'hello twice';
      default:
        return `${(frame satisfies FrameOf<FromGateway>).kind}, which only a gateway sends`;
    }
  }

  /** The worker's count of our jobs is outdated as soon as one ends: only the jobs of other gateways are taken from it. */
  #takeHeartbeat(heartbeat: FrameOf<'pulse'>): void {
    const { running, waiting } = heartbeat;
    const own = this.#jobs.takeHeartbeat(heartbeat) + this.#calls.holdingSlots;
    this.#reported = { running, waiting, otherGateways: Math.max(0, running + waiting - own) };
  }

  #takeFailed(frame: FrameOf<'failed'>, sizeBytes: number): string | undefined {
    const { id, code, message } = frame;
    const error = new WorkerLostError(this.peer, code, { detail: message });
    const job = this.#jobs.get(id);
    if (id === 0) this.#end(code, { cause: error });
    else if (job) job.fail(error, { isBelieved: true });
    else if (this.#calls.has(id)) this.#calls.fail(id, error);
    else return this.#takeLate(frame, sizeBytes);
    return undefined;
  }

  #takeLate({ kind, id }: Frame & { readonly id: number }, sizeBytes: number): string | undefined {
    if (!this.#jobs.isLate(id)) return `${kind} of ${id}, which was not requested`;
    return this.#isWithinLimits(sizeBytes) ? undefined : 'too many late frames';
  }

  /** Counts an unsolicited frame. */
  #isWithinLimits(sizeBytes: number): boolean {
    if (sizeBytes > BYTES_PER_TICK.limit || this.#frames.take(this.peer) > 0) return false;
    return this.#bytes.take(this.peer, sizeBytes) === 0;
  }

  async #takeOffer({ offer: bytes, signature }: FrameOf<'offer'>): Promise<string | undefined> {
    const offer = decodeOffer(bytes);
    if (offer.peer !== this.peer) return 'an offer of another peer';
    if (!(await verifyPeerSignature(this.peer, offerSignedBytes(bytes), signature)))
      return 'an offer with an invalid signature';
    if (!this.#lost) this.#options.onOffer(offer);
    return undefined;
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#jobs.tick()) this.#end('stalled');
    // Not immediately: frames that arrived before the channel broke are still read, and may contain the reason.
    else if (this.#hasSendFailed) this.#end('disconnected');
  }

  #end(loss: LossCause, { breach, cause }: { readonly breach?: string; readonly cause?: unknown } = {}): void {
    if (this.#lost) return;
    clearInterval(this.#timer);
    this.#lost = new WorkerLostError(this.peer, loss, {
      ...(cause === undefined ? {} : { cause }),
      ...(breach === undefined ? {} : { detail: breach }),
    });
    this.#jobs.failAll(this.#lost, { isBelieved: breach === undefined });
    this.#calls.failAll(this.#lost);
    if (breach === undefined) this.#deps.channel.abort(this.#lost);
    else this.#farewell = this.#deps.farewell(breach);
    this.#options.onEnd({ loss, breach });
  }
}
