// One long-lived UDP socket with many questions in flight on it: to one upstream, or to whatever name servers there are.
import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { answersQuery, stampId } from './message.ts';
import { random16 } from './random.ts';
import type { TimerWheel, WheelEntry } from './timer-wheel.ts';

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

/** As it is written in messages: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function labelOf({ address, port }: Upstream): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** How asking one upstream once ended. `strays` counts answers with our id that were not to our question. */
export type Exchange =
  | { readonly kind: 'answer'; readonly bytes: Buffer }
  | { readonly kind: 'timeout'; readonly strays: number }
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'garbled'; readonly reason: string }
  | { readonly kind: 'stopped' };

/** Lets go of work that nobody waits for any more. Lighter than an AbortSignal, of which there would be one a question. */
export class StopSwitch {
  isStopped = false;
  /** What is under way. */
  work: { stop(): void } | undefined;

  stop(): void {
    this.isStopped = true;
    this.work?.stop();
  }
}

/** Room for bursts of answers while the event loop is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Half the id space, so that a free random id is found at once. */
const MAX_WAITING = 32_768;

interface Asked {
  readonly id: number;
  readonly query: Buffer;
  /** Who may answer, where the kernel does not see to it. */
  readonly to: Upstream | undefined;
  readonly stop: StopSwitch;
}

/** A question in flight. A class of its own, so that a question costs one object and no functions. */
class Waiting implements WheelEntry {
  readonly asked: Asked;
  strays = 0;
  slot = 0;
  rounds = 0;
  readonly #forget: (waiting: Waiting) => void;
  readonly #resolve: (exchange: Exchange) => void;

  constructor(asked: Asked, forget: (waiting: Waiting) => void, resolve: (exchange: Exchange) => void) {
    this.asked = asked;
    this.#forget = forget;
    this.#resolve = resolve;
    asked.stop.work = this;
  }

  expire(): void {
    this.settle({ kind: 'timeout', strays: this.strays });
  }

  stop(): void {
    this.settle({ kind: 'stopped' });
  }

  settle(exchange: Exchange): void {
    const { stop } = this.asked;
    if (stop.work === this) stop.work = undefined;
    this.#forget(this);
    this.#resolve(exchange);
  }
}

/** What Node would ask the system for: that an address is itself. It answers at once, where the system takes a turn. */
const lookup: SocketOptions['lookup'] = (address, _options, callback) =>
  callback(null, address, isIPv6(address) ? 6 : 4);

/**
 * To one upstream the socket is connected: the kernel drops what other senders send, and reports a closed port at once.
 * Otherwise the sender is compared here. Port and ids are random (RFC 5452 §4), and an answer counts only when it
 * repeats the question.
 */
export class UdpChannel implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #wheel: TimerWheel;
  readonly #waiting = new Map<number, Waiting>();
  readonly #forget = (waiting: Waiting) => {
    // What has ended may end again, when its packet could not be sent; its id may be another question's by then.
    const { id } = waiting.asked;
    if (this.#waiting.get(id) === waiting) this.#waiting.delete(id);
    this.#wheel.remove(waiting);
    if (this.#isRetired && this.#waiting.size === 0) this.#close();
  };
  readonly #closed = Promise.withResolvers<void>();
  #isRetired = false;
  #isClosing = false;

  private constructor(socket: Socket, wheel: TimerWheel) {
    this.#socket = socket;
    this.#wheel = wheel;
    socket.on('message', (bytes, from) => this.#receive(bytes, from));
    // A connected socket does not say which question an ICMP error was about: all of them go to another upstream.
    socket.on('error', (error: NodeJS.ErrnoException) => this.#failAll({ kind: 'unreachable', code: codeOf(error) }));
  }

  /** @throws when no socket can be opened, or the address has no route. */
  static async open({ address, port }: Upstream, wheel: TimerWheel): Promise<UdpChannel> {
    const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(port, address, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    return new UdpChannel(socket, wheel);
  }

  /**
   * Opens a socket that asks anybody of a family, from a port that the system draws.
   * @throws when no socket can be opened.
   */
  static async openFor(family: 4 | 6, wheel: TimerWheel): Promise<UdpChannel> {
    const type = family === 6 ? 'udp6' : 'udp4';
    const socket = createSocket({ type, recvBufferSize: RECEIVE_BUFFER_BYTES, lookup });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    return new UdpChannel(socket, wheel);
  }

  /** Questions in flight. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Sends the query under a fresh id, to `to` where the socket is nobody's own. Always settles. */
  ask(query: Buffer, timeoutMs: number, stop: StopSwitch, to?: Upstream): Promise<Exchange> {
    if (this.#waiting.size >= MAX_WAITING) return Promise.resolve({ kind: 'unreachable', code: 'no free id' });
    let id = random16();
    while (this.#waiting.has(id)) id = (id + 1) & 0xffff;
    stampId(query, id);
    return new Promise((resolve) => {
      const waiting = new Waiting({ id, query, to, stop }, this.#forget, resolve);
      this.#waiting.set(id, waiting);
      this.#wheel.add(waiting, timeoutMs);
      if (to === undefined) this.#socket.send(query);
      else
        this.#socket.send(query, to.port, to.address, (error) => {
          if (error) waiting.settle({ kind: 'unreachable', code: codeOf(error) });
        });
    });
  }

  /** Closes it when the last question in flight has ended; it is not asked any more. Resolves when it is closed. */
  retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#waiting.size === 0) this.#close();
    return this.#closed.promise;
  }

  #receive(bytes: Buffer, from: RemoteInfo): void {
    const waiting = bytes.length < 2 ? undefined : this.#waiting.get(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0));
    if (waiting === undefined) return;
    const { to, query } = waiting.asked;
    if (to !== undefined && (from.port !== to.port || from.address !== to.address)) {
      waiting.strays += 1;
      return;
    }
    if (answersQuery(bytes, query)) waiting.settle({ kind: 'answer', bytes });
    else waiting.strays += 1;
  }

  #failAll(exchange: Exchange): void {
    for (const waiting of [...this.#waiting.values()]) waiting.settle(exchange);
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.close(this.#closed.resolve);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failAll({ kind: 'stopped' });
    this.#close();
    await this.#closed.promise;
  }
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? 'network error';
}
