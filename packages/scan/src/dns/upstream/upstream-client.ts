// One upstream resolver: its sockets, its slots for concurrent queries, and its recent time-outs.

import { Semaphore } from '@strata/limits';
import { isTruncated } from '../message/message.ts';
import { type Channel, type Exchange, labelOf, type StopSwitch, type Upstream } from './exchange.ts';
import { TcpChannel } from './tcp-channel.ts';
import { askOverTcp } from './tcp-exchange.ts';
import type { TimerWheel } from './timer-wheel.ts';
import { UdpChannel } from './udp-channel.ts';

/** Sockets per upstream: a forger has to guess the source port. */
const UDP_CHANNELS = 4;
/** Connections per upstream, and queries in flight on each before another opens: Unbound reads no further query of one with 32. */
const TCP_CHANNELS = 32;
const TCP_IN_FLIGHT = 32;
/** After this many consecutive failures to respond other upstreams are preferred, for this long. */
const UNRESPONSIVE_AFTER = 16;
const UNRESPONSIVE_MS = 5_000;

export class UpstreamClient implements AsyncDisposable {
  readonly upstream: Upstream;
  readonly label: string;
  /** Slots for queries in flight; `ask` requires one. */
  readonly slots: Semaphore;
  readonly stats = { sent: 0, timeouts: 0, overTcp: 0, strays: 0 };
  readonly #wheel: TimerWheel;
  #opening: Promise<Channel[]> | undefined;
  #channels: readonly Channel[] | undefined;
  #next = 0;
  #failuresInRow = 0;
  #unresponsiveUntil = 0;

  constructor(upstream: Upstream, wheel: TimerWheel, maxInFlight: number) {
    this.upstream = upstream;
    this.label = labelOf(upstream);
    this.#wheel = wheel;
    this.slots = new Semaphore(maxInFlight);
  }

  /** Recent queries had no response: used only if other upstreams fail. */
  get isUnresponsive(): boolean {
    return this.#failuresInRow >= UNRESPONSIVE_AFTER && performance.now() < this.#unresponsiveUntil;
  }

  /** Queries over UDP, and over TCP if the answer is truncated. Always settles. */
  async ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    const channels = this.#channels ?? (await this.#open());
    const channel = this.#nextOf(channels);
    if (channel === undefined) return { kind: 'unreachable', code: 'no socket' };
    if (stop.isStopped) return { kind: 'stopped' };
    this.stats.sent += 1;
    const deadline = performance.now() + timeoutMs;
    let exchange = await channel.ask(query, timeoutMs, stop);
    // A server may end a connection after some answers: the rest is asked again on a new one (RFC 7766 §6.2.4).
    while (exchange.kind === 'unreachable' && exchange.hasAnswered === true && !stop.isStopped) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) break;
      exchange = await channel.ask(query, leftMs, stop);
    }
    this.#note(exchange);
    if (exchange.kind !== 'answer' || !isTruncated(exchange.bytes) || stop.isStopped) return exchange;
    this.stats.overTcp += 1;
    return askOverTcp(this.upstream, query, timeoutMs, stop);
  }

  /**
   * Over TCP the fewest that suffice: a server limits its connections, and the queries of a burst share a write. Over UDP the next
   * one each time.
   */
  #nextOf(channels: readonly Channel[]): Channel | undefined {
    const free = this.upstream.transport && channels.find(({ waiting }) => waiting < TCP_IN_FLIGHT);
    this.#next = (this.#next + 1) % Math.max(1, channels.length);
    return free ?? channels[this.#next];
  }

  #note(exchange: Exchange): void {
    if (exchange.kind === 'answer') this.#failuresInRow = 0;
    if (exchange.kind === 'timeout') {
      this.stats.timeouts += 1;
      this.stats.strays += exchange.strays;
    }
    if (exchange.kind === 'timeout' || exchange.kind === 'unreachable') {
      this.#failuresInRow += 1;
      this.#unresponsiveUntil = performance.now() + UNRESPONSIVE_MS;
    }
  }

  /** No sockets if none can be opened; the next query tries again. */
  async #open(): Promise<readonly Channel[]> {
    const many = <T>(length: number, one: () => T) => Array.from({ length }, one);
    this.#opening ??=
      this.upstream.transport === 'tcp'
        ? Promise.resolve(many(TCP_CHANNELS, () => new TcpChannel(this.upstream, this.#wheel)))
        : Promise.all(many(UDP_CHANNELS, () => UdpChannel.open(this.upstream, this.#wheel)));
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
