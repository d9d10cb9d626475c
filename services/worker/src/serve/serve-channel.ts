// The worker's end of a channel to a gateway: hello, offers and requests, until one side closes it.
import { decodeFrame, type Frame, FrameError, PROTOCOL_VERSION } from '@strata/inference';
import { type Channel, ChannelError } from '@strata/p2p';
import type { Offers } from '../network/offers.ts';
import { SOFTWARE } from '../version.ts';
import { answerCall, type WorkerCall } from './calls.ts';
import { PendingSends } from './pending-sends.ts';
import { type GivenRequest, type RequestDeps, RequestRun, type StopCause } from './serve-request.ts';

export interface ChannelDeps extends RequestDeps {
  readonly offers: Pick<Offers, 'current' | 'watch'>;
  /** When aborted, new requests are rejected. */
  readonly leaving: AbortSignal;
  /** When aborted, requests in progress are handed back, and the channel is closed. */
  readonly closing: AbortSignal;
  /** Called when the gateway has sent hello and may send requests. */
  readonly onServing: (gateway: string) => void;
  readonly onWork: NoteWork;
}

/**
 * `unfit`: the peer uses another version or protocol, so it should not be retried soon. `silent`: the channel ended
 * before hello.
 */
export type ChannelEnd = 'over' | 'unfit' | 'silent';

/** Called with the number of running requests of a gateway, whenever it changes. */
export type NoteWork = (running: number) => void;

const HELLO_MS = 10_000;
/** A gateway considers a worker stalled after a second without a frame. */
const HEARTBEAT_MS = 250;
const IDLE_HEARTBEATS = 4;
/** A gateway that reads nothing for this long is disconnected, because its requests occupy slots without progress. */
const MAX_UNREAD_MS = 30_000;
/**
 * Maximum number of requests per gateway. Slots and queue are smaller, so more means that the gateway does not read
 * their ends.
 */
const MAX_REQUESTS = 1_024;
const MAX_CALLS = 256;
/** Maximum number of invalid agreements: after a restart one may be outdated, but not this many. */
const MAX_WRONG_SETTLES = 64;
/** How long the last frame may take to arrive. */
const LINGER_MS = 1_000;

/** Serves until the channel is closed; never rejects. All of its requests are stopped then. */
export async function serveChannel(channel: Channel, deps: ChannelDeps): Promise<ChannelEnd> {
  return new ChannelServer(channel, deps).serve();
}

/** The peer violates the protocol, or uses another version. */
class Unfit extends Error {
  override readonly name = 'Unfit';
}

class ChannelServer {
  readonly #channel: Channel;
  readonly #deps: ChannelDeps;
  readonly #sends: PendingSends;
  readonly #runs = new Map<number, RequestRun>();
  readonly #calls = new Map<number, AbortController>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #over = new AbortController();
  /** Calls in progress, including those whose reply is being sent. */
  #pendingCalls = 0;
  /** Parts of files are sent one at a time: a question of 30 bytes requests half a megabyte. */
  #sendingPart: Promise<void> = Promise.resolve();
  #wrongSettles = 0;
  #idleTicks = 0;
  #isGreeted = false;

  constructor(channel: Channel, deps: ChannelDeps) {
    this.#channel = channel;
    this.#deps = deps;
    this.#sends = new PendingSends(channel);
  }

  async serve(): Promise<ChannelEnd> {
    const { logger, closing } = this.#deps;
    const gateway = this.#channel.peer;
    let end: ChannelEnd = 'over';
    let leaving: Promise<void> | undefined;
    const leave = () => {
      leaving = this.#stopAll('leaving').then(() => this.#hangUp());
    };
    closing.addEventListener('abort', leave, { once: true });
    try {
      await this.#listen();
      await this.#hangUp();
    } catch (error) {
      if (error instanceof Unfit || error instanceof FrameError) {
        end = 'unfit';
        logger.warn({ gateway, reason: error.message }, 'the gateway and this worker have incompatible protocols');
        await this.#refuse(error.message);
      } else {
        if (!(error instanceof ChannelError)) logger.error({ err: error, gateway }, 'serving a gateway failed');
        this.#channel.abort(new Error('serving the gateway failed'));
        await this.#stopAll('disconnected');
      }
    } finally {
      closing.removeEventListener('abort', leave);
      this.#over.abort();
    }
    await leaving;
    return end === 'over' && !this.#isGreeted ? 'silent' : end;
  }

  async #listen(): Promise<void> {
    const { offers, onServing } = this.#deps;
    await this.#sends.send({ kind: 'hello', version: PROTOCOL_VERSION, software: SOFTWARE, role: 'worker' });
    const late = setTimeout(() => this.#channel.abort(new Error('no hello was received')), HELLO_MS);
    let heartbeat: NodeJS.Timeout | undefined;
    try {
      for await (const bytes of this.#channel.messages) {
        const frame = decodeFrame(bytes);
        if (this.#isGreeted) await this.#receive(frame, bytes);
        else {
          checkHello(frame);
          clearTimeout(late);
          this.#isGreeted = true;
          await this.#sends.send({ kind: 'offer', ...offers.current });
          offers.watch((signed) => this.#send({ kind: 'offer', ...signed }), this.#over.signal);
          heartbeat = setInterval(() => this.#heartbeat(), HEARTBEAT_MS);
          onServing(this.#channel.peer);
        }
      }
    } finally {
      clearTimeout(late);
      clearInterval(heartbeat);
    }
  }

  /** Resolves when the next frame can be processed. */
  async #receive(frame: Frame, bytes: Uint8Array): Promise<void> {
    switch (frame.kind) {
      case 'request':
        this.#checkId(frame.id);
        if (this.#deps.leaving.aborted) this.#send({ kind: 'failed', id: frame.id, ...LEAVING });
        else if (this.#runs.size >= MAX_REQUESTS) this.#send({ kind: 'failed', id: frame.id, ...BUSY });
        else this.#run({ request: frame, bytes, gateway: this.#channel.peer, send: this.#sends.send });
        return;
      case 'cancel':
        this.#runs.get(frame.id)?.stop('cancelled');
        this.#calls.get(frame.id)?.abort();
        return;
      case 'credit':
        this.#runs.get(frame.id)?.grant(frame.tokens);
        return;
      case 'score':
      case 'embed':
      case 'vocabularyAsk':
      case 'chunkAsk':
        this.#checkId(frame.id);
        if (this.#deps.leaving.aborted) this.#send({ kind: 'failed', id: frame.id, ...LEAVING });
        else if (this.#pendingCalls >= MAX_CALLS) this.#send({ kind: 'failed', id: frame.id, ...BUSY });
        else this.#call(frame);
        return;
      case 'settle':
        // One at a time, because each is looked up, verified and written.
        return this.#settle(frame.nonce, frame.signature);
      case 'failed':
        throw new Unfit(`it closed the channel: ${frame.message}`);
      default:
        throw new Unfit(`a gateway does not send ${frame.kind}`);
    }
  }

  #checkId(id: number): void {
    if (this.#runs.has(id) || this.#calls.has(id)) throw new Unfit(`id ${id} is already in use`);
  }

  #run(given: GivenRequest): void {
    const { id } = given.request;
    const run = new RequestRun(given, this.#deps);
    this.#runs.set(id, run);
    this.#noteWork();
    this.#watch(
      run.run().finally(() => {
        this.#runs.delete(id);
        this.#noteWork();
      }),
    );
  }

  #noteWork(): void {
    this.#deps.onWork(this.#runs.size + this.#calls.size);
  }

  #call(call: WorkerCall): void {
    const stopping = new AbortController();
    this.#calls.set(call.id, stopping);
    this.#pendingCalls += 1;
    if (call.kind === 'vocabularyAsk' || call.kind === 'chunkAsk') {
      this.#sendingPart = this.#sendingPart.then(() => this.#reply(call, stopping.signal));
      this.#watch(this.#sendingPart);
    } else {
      this.#noteWork();
      this.#watch(this.#reply(call, stopping.signal).finally(() => this.#noteWork()));
    }
  }

  async #reply(call: WorkerCall, signal: AbortSignal): Promise<void> {
    const frame = await answerCall(call, this.#deps, { gateway: this.#channel.peer, signal });
    // Before sending: the gateway requests the next part of a vocabulary with the same id, as soon as it has this one.
    this.#calls.delete(call.id);
    // A closed channel is noticed by the reading loop.
    if (frame !== undefined) await this.#sends.send(frame).catch(() => {});
    this.#pendingCalls -= 1;
  }

  async #settle(nonce: Uint8Array, signature: Uint8Array): Promise<void> {
    const { receipts, logger } = this.#deps;
    const gateway = this.#channel.peer;
    try {
      if (await receipts.settle(gateway, nonce, signature)) return;
      this.#wrongSettles += 1;
      if (this.#wrongSettles === 1)
        logger.warn(
          { gateway },
          'a gateway sent an agreement for a receipt of another gateway, or with an invalid signature',
        );
    } catch (error) {
      logger.error({ err: error, gateway }, 'storing an agreement failed');
    }
    if (this.#wrongSettles > MAX_WRONG_SETTLES) throw new Unfit('it sends too many invalid agreements');
  }

  #heartbeat(): void {
    if (this.#sends.waitingMs > MAX_UNREAD_MS) this.#channel.abort(new Error('the gateway does not read'));
    this.#idleTicks += 1;
    if (this.#runs.size === 0 && this.#idleTicks < IDLE_HEARTBEATS) return;
    // If the gateway does not read, heartbeats are skipped instead of queued; the next one is more current.
    if (this.#sends.waitingMs > HEARTBEAT_MS) return;
    this.#idleTicks = 0;
    const { running, waiting } = this.#deps.slots;
    const jobs = Array.from(this.#runs, ([id, { phase }]) => ({ id, phase }));
    this.#send({ kind: 'pulse', running, waiting, jobs });
  }

  /** Sends without waiting for the result. */
  #send(frame: Frame): void {
    this.#watch(this.#sends.send(frame).catch(() => {}));
  }

  #watch(task: Promise<void>): void {
    const watched: Promise<void> = task.finally(() => {
      this.#tasks.delete(watched);
    });
    this.#tasks.add(watched);
  }

  async #stopAll(cause: StopCause): Promise<void> {
    for (const run of this.#runs.values()) run.stop(cause);
    for (const stopping of this.#calls.values()) stopping.abort();
    await Promise.all(this.#tasks);
  }

  /** Reports the reason, and closes the channel. */
  async #refuse(message: string): Promise<void> {
    this.#send({ kind: 'failed', id: 0, code: 'protocol', message: message.slice(0, 1_000) });
    await this.#hangUp();
  }

  /** Closes the channel, by force if the gateway does not read the last frame. */
  async #hangUp(): Promise<void> {
    setTimeout(() => this.#channel.abort(new Error('the channel is closed')), LINGER_MS).unref();
    await this.#stopAll('disconnected');
    await this.#channel.close();
  }
}

const LEAVING = { code: 'leaving', message: 'the worker is leaving' } as const;
const BUSY = { code: 'busy', message: 'too many concurrent requests' } as const;

/** Throws Unfit. */
function checkHello(frame: Frame): void {
  if (frame.kind === 'failed') throw new Unfit(`it closed the channel: ${frame.message}`);
  if (frame.kind !== 'hello') throw new Unfit('the first frame must be hello');
  if (frame.version !== PROTOCOL_VERSION)
    throw new Unfit(`this worker uses version ${PROTOCOL_VERSION} of the protocol, not ${frame.version}`);
  if (frame.role !== 'gateway') throw new Unfit('this is a worker, which only serves gateways');
}
