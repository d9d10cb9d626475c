// One upstream resolver: its sockets, its slots for concurrent queries, and its recent time-outs.

import { Semaphore } from '@strata/limits';
import { isTruncated } from '../message/message.ts';
import { askOverTcp } from './tcp-exchange.ts';
import type { TimerWheel } from './timer-wheel.ts';
import { type Exchange, labelOf, type StopSwitch, UdpChannel, type Upstream } from './udp-channel.ts';

/** Sockets per upstream: a forger has to guess the source port. */
const CHANNELS = 4;
/** After this many consecutive time-outs other upstreams are preferred, for this long. */
const UNRESPONSIVE_AFTER = 16;
const UNRESPONSIVE_MS = 5_000;

export class UpstreamClient implements AsyncDisposable {
  readonly upstream: Upstream;
  readonly label: string;
  /** Slots for queries in flight; `ask` requires one. */
  readonly slots: Semaphore;
  readonly stats = { sent: 0, timeouts: 0, overTcp: 0, strays: 0 };
  readonly #wheel: TimerWheel;
  #opening: Promise<UdpChannel[]> | undefined;
  #channels: UdpChannel[] | undefined;
  #next = 0;
  #timeoutsInRow = 0;
  #unresponsiveUntil = 0;

  constructor(upstream: Upstream, wheel: TimerWheel, maxInFlight: number) {
    this.upstream = upstream;
    this.label = labelOf(upstream);
    this.#wheel = wheel;
    this.slots = new Semaphore(maxInFlight);
  }

  /** Recent queries timed out: used only if other upstreams fail. */
  get isUnresponsive(): boolean {
    return this.#timeoutsInRow >= UNRESPONSIVE_AFTER && performance.now() < this.#unresponsiveUntil;
  }

  /** Queries over UDP, and over TCP if the answer is truncated. Always settles. */
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
    if (exchange.kind === 'answer') this.#timeoutsInRow = 0;
    else if (exchange.kind === 'timeout') {
      this.stats.timeouts += 1;
      this.stats.strays += exchange.strays;
      this.#timeoutsInRow += 1;
      this.#unresponsiveUntil = performance.now() + UNRESPONSIVE_MS;
    }
  }

  /** No sockets if none can be opened; the next query tries again. */
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
