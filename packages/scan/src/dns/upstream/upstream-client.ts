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
/** Connections per upstream, and queries that share a write. Unbound reads no further query of a connection that waits for 32. */
const TCP_CHANNELS = 32;
const MAX_BURST = 32;
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
  #opening: Promise<Channel[]> | undefined;
  #channels: readonly Channel[] | undefined;
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
    const channel = this.#nextOf(channels);
    if (channel === undefined) return { kind: 'unreachable', code: 'no socket' };
    if (stop.isStopped) return { kind: 'stopped' };
    this.stats.sent += 1;
    let exchange = await channel.ask(query, timeoutMs, stop);
    // A kept connection may end while a query is in flight: it is asked again on a new one (RFC 7766 §6.2.4).
    if (exchange.kind === 'unreachable' && this.upstream.transport === 'tcp' && !stop.isStopped)
      exchange = await channel.ask(query, timeoutMs, stop);
    this.#note(exchange);
    if (exchange.kind !== 'answer' || !isTruncated(exchange.bytes) || stop.isStopped) return exchange;
    this.stats.overTcp += 1;
    return askOverTcp(this.upstream, query, timeoutMs, stop);
  }

  /** The queries of a burst share a channel that can send them together. */
  #nextOf(channels: readonly Channel[]): Channel | undefined {
    const current = channels[this.#next];
    if (current !== undefined && current.unsent > 0 && current.unsent < MAX_BURST) return current;
    this.#next = (this.#next + 1) % Math.max(1, channels.length);
    return channels[this.#next];
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
