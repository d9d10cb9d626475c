// One question to one name server: over sockets that are nobody's own, with the fallbacks that servers need.
import { encodeQuery, isTruncated, RCODE, rcodeOf, repeatsCase, scrambleCase } from '../message.ts';
import { random16 } from '../random.ts';
import type { RecordType } from '../records.ts';
import { askOverTcp } from '../tcp-exchange.ts';
import { TimerWheel } from '../timer-wheel.ts';
import type { Exchange, StopSwitch } from '../udp-channel.ts';
import { ChannelPool } from './channel-pool.ts';
import type { NameServer } from './name-server.ts';

export interface WireQuestion {
  /** Whose server is asked. */
  readonly zone: string;
  readonly name: string;
  readonly type: RecordType;
  readonly timeoutMs: number;
}

/** An exchange with the bytes that were sent last, and how long it took without the time in line (ms). */
export interface Sent {
  readonly exchange: Exchange;
  readonly query: Buffer;
  readonly tookMs: number;
}

export class ServerWire implements AsyncDisposable {
  readonly stats = { sent: 0, timeouts: 0, overTcp: 0, strays: 0 };
  readonly #wheel = new TimerWheel();
  readonly #pools = { 4: new ChannelPool(4, this.#wheel), 6: new ChannelPool(6, this.#wheel) } as const;
  #isDisposed = false;

  /** Waits in line for the server, asks, and takes note of how it fared. Always settles. */
  async ask(server: NameServer, question: WireQuestion, stop: StopSwitch): Promise<Sent> {
    const room = server.places.enter();
    if (room !== undefined) await room;
    const startedAt = performance.now();
    try {
      let { exchange, query } = await this.#send(server, question, stop);
      if (exchange.kind === 'answer' && server.knowsEdns && isUnreadable(rcodeOf(exchange.bytes))) {
        server.knowsEdns = false;
        ({ exchange, query } = await this.#send(server, question, stop));
      }
      if (exchange.kind === 'answer' && this.#needsTcp(server, exchange.bytes, query) && !stop.isStopped) {
        this.stats.overTcp += 1;
        exchange = await askOverTcp(server.upstream, query, question.timeoutMs, stop);
      }
      return { exchange, query, tookMs: performance.now() - startedAt };
    } finally {
      server.places.leave();
    }
  }

  async #send(server: NameServer, { zone, name, type, timeoutMs }: WireQuestion, stop: StopSwitch) {
    const query = encodeQuery(name, type, { hasEdns: server.knowsEdns, isRecursive: false });
    if (server.keepsCase) scrambleCase(query, random16);
    const pool = this.#pools[server.upstream.address.includes(':') ? 6 : 4];
    if (!pool.isOpen) await pool.open();
    if (this.#isDisposed || stop.isStopped) return { exchange: { kind: 'stopped' } as const, query };
    const channel = pool.draw();
    if (channel === undefined) return { exchange: { kind: 'unreachable', code: 'no socket' } as const, query };
    this.stats.sent += 1;
    const sentAt = performance.now();
    const exchange = await channel.ask(query, timeoutMs, stop, server.upstream);
    const now = performance.now();
    if (exchange.kind === 'answer') server.noteAnswer(now - sentAt);
    else if (exchange.kind === 'timeout') {
      this.stats.timeouts += 1;
      this.stats.strays += exchange.strays;
      server.noteSilence(zone, { waitedMs: timeoutMs, now });
    }
    return { exchange, query };
  }

  /**
   * Cut short, or not in the letter case of the question: forged blindly, or from a server that cannot keep the case.
   * Over TCP nobody can answer in its place.
   */
  #needsTcp(server: NameServer, bytes: Buffer, query: Buffer): boolean {
    if (isTruncated(bytes)) return true;
    if (!server.keepsCase) return false;
    const isKept = repeatsCase(bytes, query);
    server.noteCase(isKept);
    return !isKept;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([this.#pools[4][Symbol.asyncDispose](), this.#pools[6][Symbol.asyncDispose]()]);
    this.#wheel[Symbol.dispose]();
  }
}

/** RFC 6891 §7: what a server says that knows no EDNS0. */
function isUnreadable(rcode: number): boolean {
  return rcode === RCODE.formatError || rcode === RCODE.notImplemented;
}
