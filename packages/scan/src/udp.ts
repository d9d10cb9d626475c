// UDP round trips: a few long-lived sockets, random ids, one timer for all that wait.
import { randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

interface Waiting {
  readonly upstream: Upstream;
  readonly deadline: number;
  /** Takes the message when it answers the question; a stray one leaves the wait as it is. */
  readonly accept: (message: Buffer) => boolean;
  readonly fail: (reason: 'timeout' | 'unreachable') => void;
}

/** Sockets per address family: the port is half of what a forger would have to guess. */
const SOCKETS = 8;
/** How exactly time-outs are kept. */
const TICK_MS = 25;

/**
 * Sends questions and hands back answers whose sender, id and question fit; everything else is dropped unread, so that
 * a forged packet can at most cost a look.
 */
export class UdpExchange implements AsyncDisposable {
  readonly #sockets = new Map<4 | 6, Socket[]>();
  readonly #waiting = new Map<Socket, Map<number, Waiting>>();
  #ticker: NodeJS.Timeout | undefined;
  #count = 0;

  get inFlight(): number {
    return this.#count;
  }

  /** `encode` gets the id to use. Resolves with the accepted message, or why there is none. */
  exchange(options: {
    readonly upstream: Upstream;
    readonly encode: (id: number) => Buffer;
    readonly accept: (message: Buffer) => boolean;
    readonly timeoutMs: number;
  }): Promise<Buffer | 'timeout' | 'unreachable'> {
    const { upstream, timeoutMs } = options;
    const socket = this.#socketFor(upstream.address);
    const waiting = this.#waiting.get(socket) ?? new Map<number, Waiting>();
    if (waiting.size >= 60_000) return Promise.resolve('timeout');
    let id = randomInt(65_536);
    while (waiting.has(id)) id = (id + 1) & 0xffff;

    return new Promise((resolve) => {
      const settle = (outcome: Buffer | 'timeout' | 'unreachable') => {
        if (waiting.delete(id)) this.#count -= 1;
        resolve(outcome);
      };
      waiting.set(id, {
        upstream,
        deadline: performance.now() + timeoutMs,
        accept: (message) => {
          const isAccepted = options.accept(message);
          if (isAccepted) settle(message);
          return isAccepted;
        },
        fail: settle,
      });
      this.#count += 1;
      this.#startTicking();
      socket.send(options.encode(id), upstream.port, upstream.address, (error) => {
        if (error) settle('unreachable');
      });
    });
  }

  #socketFor(address: string): Socket {
    const family = isIPv6(address) ? 6 : 4;
    let sockets = this.#sockets.get(family);
    if (!sockets) {
      sockets = Array.from({ length: SOCKETS }, () => this.#open(family));
      this.#sockets.set(family, sockets);
    }
    return sockets[randomInt(sockets.length)] as Socket;
  }

  #open(family: 4 | 6): Socket {
    const socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', recvBufferSize: 4 * 1024 * 1024 });
    const waiting = new Map<number, Waiting>();
    this.#waiting.set(socket, waiting);
    socket.on('message', (message, from) => receive(waiting, message, from));
    // Errors of a send come to its callback; what else a datagram socket reports (ICMP) ends as a time-out.
    socket.on('error', () => {});
    socket.unref();
    return socket;
  }

  #startTicking(): void {
    this.#ticker ??= setInterval(() => {
      const now = performance.now();
      for (const waiting of this.#waiting.values()) {
        // In order of sending and with one time-out for all, so the first that is still in time ends the walk.
        for (const each of waiting.values()) {
          if (each.deadline > now) break;
          each.fail('timeout');
        }
      }
      if (this.#count === 0) {
        clearInterval(this.#ticker);
        this.#ticker = undefined;
      }
    }, TICK_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    for (const waiting of this.#waiting.values()) for (const each of [...waiting.values()]) each.fail('unreachable');
    for (const sockets of this.#sockets.values()) for (const socket of sockets) socket.close();
    this.#sockets.clear();
    this.#waiting.clear();
  }
}

function receive(waiting: Map<number, Waiting>, message: Buffer, from: RemoteInfo): void {
  if (message.length < 12) return;
  const each = waiting.get(message.readUInt16BE(0));
  if (each && each.upstream.port === from.port && each.upstream.address === from.address) each.accept(message);
}
