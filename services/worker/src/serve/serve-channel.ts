// The worker's end of one channel to a gateway: greeting, offer, and whatever the gateway asks, until one of them leaves.
import { decodeFrame, type Frame, FrameError, PROTOCOL_VERSION } from '@strata/inference';
import { type Channel, ChannelError } from '@strata/p2p';
import type { Offers } from '../network/offers.ts';
import { SOFTWARE } from '../version.ts';
import { type Ask, answerAsk } from './calls.ts';
import { PendingSends } from './pending-sends.ts';
import { type GivenRequest, type RequestDeps, RequestRun, type StopCause } from './serve-request.ts';

export interface ChannelDeps extends RequestDeps {
  readonly offers: Pick<Offers, 'current' | 'watch'>;
  /** Aborted: requests that come are refused. */
  readonly leaving: AbortSignal;
  /** Aborted: what is still running is handed back, and the channel closed. */
  readonly closing: AbortSignal;
  /** Hears that the gateway has greeted and may send requests. */
  readonly onServing: (gateway: string) => void;
  readonly onWork: NoteWork;
}

/** `unfit`: it speaks another version, or no protocol at all; it need not be asked again soon. `silent`: it was over before a greeting. */
export type ChannelEnd = 'over' | 'unfit' | 'silent';

/** Hears how much of a gateway's work is under way, whenever that changes. */
export type NoteWork = (running: number) => void;

const HELLO_MS = 10_000;
/** A gateway takes a worker for stalled after a second without word. */
const BUSY_PULSE_MS = 250;
const IDLE_PULSES = 4;
/** A gateway that takes nothing from the connection for so long holds places for nobody. */
const MAX_UNREAD_MS = 30_000;
/** Of one gateway; places and their line are fewer, so these are requests whose ends it does not read. */
const MAX_REQUESTS = 1_024;
const MAX_ASKS = 256;
/** Agreements to nothing: one may be lost in a restart, so many are no accident. */
const MAX_WRONG_SETTLES = 64;
/** What was said last is given so long to arrive. */
const LINGER_MS = 1_000;

/** Serves until the channel is over; never rejects. All that ran for it is stopped then. */
export async function serveChannel(channel: Channel, deps: ChannelDeps): Promise<ChannelEnd> {
  return new ChannelServer(channel, deps).serve();
}

/** What was said is not the protocol, or not this version of it. */
class Unfit extends Error {
  override readonly name = 'Unfit';
}

class ChannelServer {
  readonly #channel: Channel;
  readonly #deps: ChannelDeps;
  readonly #sends: PendingSends;
  readonly #runs = new Map<number, RequestRun>();
  readonly #asks = new Map<number, AbortController>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #over = new AbortController();
  /** Those whose answer is on its way counted. */
  #pendingAsks = 0;
  /** One part of a vocabulary is on its way at a time: 30 bytes ask for half a megabyte. */
  #parting: Promise<void> = Promise.resolve();
  #wrongSettles = 0;
  #silentPulses = 0;
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
        logger.warn({ gateway, reason: error.message }, 'the gateway and this worker do not understand each other');
        await this.#refuse(error.message);
      } else {
        if (!(error instanceof ChannelError)) logger.error({ err: error, gateway }, 'serving a gateway failed');
        this.#channel.abort(new Error('the worker is done with it'));
        await this.#stopAll('gone');
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
    const late = setTimeout(() => this.#channel.abort(new Error('no greeting came')), HELLO_MS);
    let pulse: NodeJS.Timeout | undefined;
    try {
      for await (const bytes of this.#channel.messages) {
        const frame = decodeFrame(bytes);
        if (this.#isGreeted) await this.#hear(frame, bytes);
        else {
          checkHello(frame);
          clearTimeout(late);
          this.#isGreeted = true;
          await this.#sends.send({ kind: 'offer', ...offers.current });
          offers.watch((signed) => this.#say({ kind: 'offer', ...signed }), this.#over.signal);
          pulse = setInterval(() => this.#pulse(), BUSY_PULSE_MS);
          onServing(this.#channel.peer);
        }
      }
    } finally {
      clearTimeout(late);
      clearInterval(pulse);
    }
  }

  /** Resolves when the next one may be heard. */
  async #hear(frame: Frame, bytes: Uint8Array): Promise<void> {
    switch (frame.kind) {
      case 'request':
        this.#checkId(frame.id);
        if (this.#deps.leaving.aborted) this.#say({ kind: 'failed', id: frame.id, ...LEAVING });
        else if (this.#runs.size >= MAX_REQUESTS) this.#say({ kind: 'failed', id: frame.id, ...BUSY });
        else this.#run({ request: frame, bytes, gateway: this.#channel.peer, send: this.#sends.send });
        return;
      case 'cancel':
        this.#runs.get(frame.id)?.stop('cancelled');
        this.#asks.get(frame.id)?.abort();
        return;
      case 'credit':
        this.#runs.get(frame.id)?.grant(frame.tokens);
        return;
      case 'score':
      case 'embed':
      case 'vocabularyAsk':
        this.#checkId(frame.id);
        if (this.#deps.leaving.aborted) this.#say({ kind: 'failed', id: frame.id, ...LEAVING });
        else if (this.#pendingAsks >= MAX_ASKS) this.#say({ kind: 'failed', id: frame.id, ...BUSY });
        else this.#ask(frame);
        return;
      case 'settle':
        // One at a time: each is looked up, verified and written.
        return this.#settle(frame.nonce, frame.signature);
      case 'failed':
        throw new Unfit(`it hangs up: ${frame.message}`);
      default:
        throw new Unfit(`a gateway does not say ${frame.kind}`);
    }
  }

  #checkId(id: number): void {
    if (this.#runs.has(id) || this.#asks.has(id)) throw new Unfit(`${id} is asked already`);
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
    this.#deps.onWork(this.#runs.size + this.#asks.size);
  }

  #ask(ask: Ask): void {
    const stopping = new AbortController();
    this.#asks.set(ask.id, stopping);
    this.#pendingAsks += 1;
    if (ask.kind === 'vocabularyAsk') {
      this.#parting = this.#parting.then(() => this.#answer(ask, stopping.signal));
      this.#watch(this.#parting);
    } else {
      this.#noteWork();
      this.#watch(this.#answer(ask, stopping.signal).finally(() => this.#noteWork()));
    }
  }

  async #answer(ask: Ask, signal: AbortSignal): Promise<void> {
    const frame = await answerAsk(ask, this.#deps, { gateway: this.#channel.peer, signal });
    // Before it is sent: the next part of a vocabulary is asked for by the same number, as soon as this one has come.
    this.#asks.delete(ask.id);
    // A channel that is over is seen where it is read.
    if (frame !== undefined) await this.#sends.send(frame).catch(() => {});
    this.#pendingAsks -= 1;
  }

  async #settle(nonce: Uint8Array, signature: Uint8Array): Promise<void> {
    const { receipts, logger } = this.#deps;
    const gateway = this.#channel.peer;
    try {
      if (await receipts.settle(gateway, nonce, signature)) return;
      this.#wrongSettles += 1;
      if (this.#wrongSettles === 1)
        logger.warn({ gateway }, 'a gateway settled what is not its own, or not with its own signature');
    } catch (error) {
      logger.error({ err: error, gateway }, 'keeping an agreement failed');
    }
    if (this.#wrongSettles > MAX_WRONG_SETTLES) throw new Unfit('it settles what is not its own');
  }

  #pulse(): void {
    if (this.#sends.waitingMs > MAX_UNREAD_MS) this.#channel.abort(new Error('nothing is read'));
    this.#silentPulses += 1;
    if (this.#runs.size === 0 && this.#silentPulses < IDLE_PULSES) return;
    // The next one says more; those that nobody reads are not piled up.
    if (this.#sends.waitingMs > BUSY_PULSE_MS) return;
    this.#silentPulses = 0;
    const { running, waiting } = this.#deps.places;
    const jobs = Array.from(this.#runs, ([id, { phase }]) => ({ id, phase }));
    this.#say({ kind: 'pulse', running, waiting, jobs });
  }

  /** Sent when there is room; nobody waits for it. */
  #say(frame: Frame): void {
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
    for (const stopping of this.#asks.values()) stopping.abort();
    await Promise.all(this.#tasks);
  }

  /** Says why, and hangs up. */
  async #refuse(message: string): Promise<void> {
    this.#say({ kind: 'failed', id: 0, code: 'protocol', message: message.slice(0, 1_000) });
    await this.#hangUp();
  }

  /** Whoever does not take what was said last is hung up on all the same. */
  async #hangUp(): Promise<void> {
    setTimeout(() => this.#channel.abort(new Error('the channel is over')), LINGER_MS).unref();
    await this.#stopAll('gone');
    await this.#channel.close();
  }
}

const LEAVING = { code: 'leaving', message: 'the worker is leaving' } as const;
const BUSY = { code: 'busy', message: 'too much is asked at once' } as const;

/** Throws Unfit. */
function checkHello(frame: Frame): void {
  if (frame.kind === 'failed') throw new Unfit(`it hangs up: ${frame.message}`);
  if (frame.kind !== 'hello') throw new Unfit('the first frame is hello');
  if (frame.version !== PROTOCOL_VERSION)
    throw new Unfit(`this worker speaks version ${PROTOCOL_VERSION} of the protocol, not ${frame.version}`);
  if (frame.role !== 'gateway') throw new Unfit('this is a worker: it serves gateways');
}
