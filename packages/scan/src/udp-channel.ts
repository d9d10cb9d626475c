// One long-lived UDP socket to one upstream, with many questions in flight on it.
import { getRandomValues } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { answersQuery, stampId } from './message.ts';
import type { TimerWheel, WheelEntry } from './timer-wheel.ts';

export interface Upstream {
  readonly address: string;
  readonly port: number;
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
  whenStopped: (() => void) | undefined;

  stop(): void {
    this.isStopped = true;
    this.whenStopped?.();
  }
}

/** Room for bursts of answers while the event loop is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Half the id space, so that a free random id is found at once. */
const MAX_WAITING = 32_768;

interface Waiting extends WheelEntry {
  readonly id: number;
  readonly query: Buffer;
  strays: number;
  settle(exchange: Exchange): void;
}

/**
 * The socket is connected: the kernel drops what other senders send, and reports a closed port at once. Port and ids
 * are random (RFC 5452 §4), and an answer counts only when it repeats the question.
 */
export class UdpChannel implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #wheel: TimerWheel;
  readonly #waiting = new Map<number, Waiting>();

  private constructor(socket: Socket, wheel: TimerWheel) {
    this.#socket = socket;
    this.#wheel = wheel;
    socket.on('message', (bytes) => this.#receive(bytes));
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

  /** Sends the query under a fresh id. Always settles. */
  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    if (this.#waiting.size >= MAX_WAITING) return Promise.resolve({ kind: 'unreachable', code: 'no free id' });
    let id = randomId();
    while (this.#waiting.has(id)) id = (id + 1) & 0xffff;
    stampId(query, id);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        id,
        query,
        strays: 0,
        slot: 0,
        rounds: 0,
        expire: () => waiting.settle({ kind: 'timeout', strays: waiting.strays }),
        settle: (exchange) => {
          this.#waiting.delete(id);
          this.#wheel.remove(waiting);
          stop.whenStopped = undefined;
          resolve(exchange);
        },
      };
      stop.whenStopped = () => waiting.settle({ kind: 'stopped' });
      this.#waiting.set(id, waiting);
      this.#wheel.add(waiting, timeoutMs);
      this.#socket.send(query);
    });
  }

  #receive(bytes: Buffer): void {
    const waiting = bytes.length < 2 ? undefined : this.#waiting.get(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0));
    if (waiting === undefined) return;
    if (answersQuery(bytes, waiting.query)) waiting.settle({ kind: 'answer', bytes });
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

const randomIds = new Uint16Array(1_024);
let nextRandom = randomIds.length;

/** Random numbers are drawn in batches: one system call a thousand questions. */
function randomId(): number {
  if (nextRandom === randomIds.length) {
    getRandomValues(randomIds);
    nextRandom = 0;
  }
  return randomIds[nextRandom++] ?? 0;
}
