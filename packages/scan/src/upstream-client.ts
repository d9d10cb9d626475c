// One upstream resolver: its sockets, its share of questions in flight, and how it has fared lately.
import { isTruncated } from './message.ts';
import { askOverTcp } from './tcp-exchange.ts';
import type { TimerWheel } from './timer-wheel.ts';
import { type Exchange, type StopSwitch, UdpChannel, type Upstream } from './udp-channel.ts';

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
  readonly stats = { sent: 0, timeouts: 0, overTcp: 0, strays: 0 };
  readonly #wheel: TimerWheel;
  readonly #maxInFlight: number;
  readonly #line: (() => void)[] = [];
  #lineHead = 0;
  #inFlight = 0;
  #opening: Promise<UdpChannel[]> | undefined;
  #channels: UdpChannel[] | undefined;
  #next = 0;
  #silences = 0;
  #ailingUntil = 0;

  constructor(upstream: Upstream, wheel: TimerWheel, maxInFlight: number) {
    this.upstream = upstream;
    this.label = upstream.address.includes(':')
      ? `[${upstream.address}]:${upstream.port}`
      : `${upstream.address}:${upstream.port}`;
    this.#wheel = wheel;
    this.#maxInFlight = maxInFlight;
  }

  /** Has been silent for a while: to be asked only when the others fail. */
  get isAiling(): boolean {
    return this.#silences >= AILING_AFTER && performance.now() < this.#ailingUntil;
  }

  /** Waits for room among the questions in flight; undefined when there is room at once. Give the place back. */
  enter(): Promise<void> | undefined {
    if (this.#inFlight < this.#maxInFlight) {
      this.#inFlight += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  /** The place goes to the next in line, so the count stays as it is. */
  leave(): void {
    const next = this.#line[this.#lineHead];
    if (next === undefined) {
      this.#inFlight -= 1;
      return;
    }
    this.#lineHead += 1;
    if (this.#lineHead === this.#line.length) {
      this.#line.length = 0;
      this.#lineHead = 0;
    }
    next();
  }

  /** Asks over UDP, and over TCP when the answer is cut short. Only inside `enter` and `leave`; always settles. */
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
