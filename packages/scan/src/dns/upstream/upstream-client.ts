// One upstream resolver: its sockets, its share of questions in flight, and how it has fared lately.

import { Semaphore } from '../../semaphore.ts';
import { isTruncated } from '../message/message.ts';
import { askOverTcp } from './tcp-exchange.ts';
import type { TimerWheel } from './timer-wheel.ts';
import { type Exchange, labelOf, type StopSwitch, UdpChannel, type Upstream } from './udp-channel.ts';

/** Sockets an upstream: a forger has to guess which port a question left from. */
const CHANNELS = 4;
/** Time-outs in a row after which others are asked first, and for how long. */
const AILING_AFTER = 16;
const AILING_MS = 5_000;

export interface UpstreamStats {
  readonly sent: number;
  readonly timeouts: number;
  readonly overTcp: number;
  readonly strays: number;
}

export class UpstreamClient implements AsyncDisposable {
  readonly upstream: Upstream;
  readonly label: string;
  /** For questions in flight; `ask` is called inside only. */
  readonly slots: Semaphore;
  readonly stats = { sent: 0, timeouts: 0, overTcp: 0, strays: 0 };
  readonly #wheel: TimerWheel;
  #opening: Promise<UdpChannel[]> | undefined;
  #channels: UdpChannel[] | undefined;
  #next = 0;
  #silences = 0;
  #ailingUntil = 0;

  constructor(upstream: Upstream, wheel: TimerWheel, maxInFlight: number) {
    this.upstream = upstream;
    this.label = labelOf(upstream);
    this.#wheel = wheel;
    this.slots = new Semaphore(maxInFlight);
  }

  /** Has been silent for a while: to be asked only when the others fail. */
  get isAiling(): boolean {
    return this.#silences >= AILING_AFTER && performance.now() < this.#ailingUntil;
  }

  /** Asks over UDP, and over TCP when the answer is cut short. Always settles. */
  async ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    const channels = this.#channels ?? (await this.#open());
    const channel = channels[this.#next++ % CHANNELS];
    if (channel === undefined) return { kind: 'unreachable', code: 'no socket' };
    if (stop.isStopped) return { kind: 'stopped' };
    this.stats.sent += 1;
    const exchange = await channel.ask(query, timeoutMs, stop);
    this.#note(exchange);
    if (exchange.kind !== 'answer' || !isTruncated(exchange.bytes) || stop.isStopped) return exchange;
    this.stats.overTcp += 1;
    return askOverTcp(this.upstream, query, timeoutMs, stop);
  }

  #note(exchange: Exchange): void {
    if (exchange.kind === 'answer') this.#silences = 0;
    else if (exchange.kind === 'timeout') {
      this.stats.timeouts += 1;
      this.stats.strays += exchange.strays;
      this.#silences += 1;
      this.#ailingUntil = performance.now() + AILING_MS;
    }
  }

  /** No sockets when none can be opened, and then the next question tries again. */
  async #open(): Promise<UdpChannel[]> {
    this.#opening ??= Promise.all(Array.from({ length: CHANNELS }, () => UdpChannel.open(this.upstream, this.#wheel)));
    try {
      this.#channels = await this.#opening;
      return this.#channels;
    } catch {
      this.#opening = undefined;
      return [];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const channels = await this.#opening?.catch(() => []);
    await Promise.all((channels ?? []).map((channel) => channel[Symbol.asyncDispose]()));
  }
}
