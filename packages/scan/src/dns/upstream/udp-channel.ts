// One long-lived UDP socket to an upstream, with many concurrent queries.
import { getRandomValues } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { answersQuery, stampId } from '../message/message.ts';
import type { TimerWheel, WheelEntry } from './timer-wheel.ts';

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

/** For messages: `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function labelOf({ address, port }: Upstream): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** The outcome of one query to one upstream. `strays` counts answers with our id to other questions. */
export type Exchange =
  | { readonly kind: 'answer'; readonly bytes: Buffer }
  | { readonly kind: 'timeout'; readonly strays: number }
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'garbled'; readonly reason: string }
  | { readonly kind: 'stopped' };

/** Stops work that no caller waits for. Cheaper than an AbortSignal, which would be needed for each question. */
export class StopSwitch {
  isStopped = false;
  /** The work in progress. */
  work: { stop(): void } | undefined;

  stop(): void {
    this.isStopped = true;
    this.work?.stop();
  }
}

/** Buffers bursts of answers while the event loop is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Half the id space, so that a free random id is found quickly. */
const MAX_WAITING = 32_768;

interface Asked {
  readonly id: number;
  readonly query: Buffer;
  readonly stop: StopSwitch;
}

/** A question in flight. A class, so that a question costs one object and no closures. */
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

/**
 * The socket is connected: the kernel drops packets from other senders, and reports a closed port immediately. Port and ids are
 * random (RFC 5452 §4), and an answer must repeat the question.
 */
export class UdpChannel implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #wheel: TimerWheel;
  readonly #waiting = new Map<number, Waiting>();
  readonly #forget = (waiting: Waiting) => {
    this.#waiting.delete(waiting.asked.id);
    this.#wheel.remove(waiting);
  };

  private constructor(socket: Socket, wheel: TimerWheel) {
    this.#socket = socket;
    this.#wheel = wheel;
    socket.on('message', (bytes) => this.#receive(bytes));
    // The error of a connected socket does not identify the question: all of them are retried at another upstream.
    socket.on('error', (error: NodeJS.ErrnoException) => this.#failAll({ kind: 'unreachable', code: codeOf(error) }));
  }

  /** @throws if no socket can be opened, or the address has no route. */
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

  /** Sends the query with a new id. Always settles. */
  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    if (this.#waiting.size >= MAX_WAITING) return Promise.resolve({ kind: 'unreachable', code: 'no free query id' });
    let id = random16();
    while (this.#waiting.has(id)) id = (id + 1) & 0xffff;
    stampId(query, id);
    return new Promise((resolve) => {
      const waiting = new Waiting({ id, query, stop }, this.#forget, resolve);
      this.#waiting.set(id, waiting);
      this.#wheel.add(waiting, timeoutMs);
      this.#socket.send(query);
    });
  }

  #receive(bytes: Buffer): void {
    const waiting = bytes.length < 2 ? undefined : this.#waiting.get(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0));
    if (waiting === undefined) return;
    if (answersQuery(bytes, waiting.asked.query)) waiting.settle({ kind: 'answer', bytes });
    else waiting.strays += 1;
  }

  #failAll(exchange: Exchange): void {
    for (const waiting of [...this.#waiting.values()]) waiting.settle(exchange);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#failAll({ kind: 'stopped' });
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? 'network error';
}

const drawn = new Uint16Array(1_024);
let nextDrawn = drawn.length;

/** Sixteen cryptographically random bits, drawn in batches: one system call for 1,024 numbers. */
function random16(): number {
  if (nextDrawn === drawn.length) {
    getRandomValues(drawn);
    nextDrawn = 0;
  }
  return drawn[nextDrawn++] ?? 0;
}
