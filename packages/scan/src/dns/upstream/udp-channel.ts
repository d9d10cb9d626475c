// One long-lived UDP socket to an upstream, with many concurrent queries.
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Channel, Exchange, StopSwitch, Upstream } from './exchange.ts';
import { QueriesInFlight } from './in-flight.ts';
import type { TimerWheel } from './timer-wheel.ts';

/** Buffers bursts of answers while the event loop is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/**
 * The socket is connected: the kernel drops packets from other senders, and reports a closed port immediately. Its port is random
 * (RFC 5452 §4).
 */
export class UdpChannel implements Channel {
  readonly #socket: Socket;
  readonly #inFlight: QueriesInFlight;

  private constructor(socket: Socket, wheel: TimerWheel) {
    this.#socket = socket;
    this.#inFlight = new QueriesInFlight(wheel, (query) => socket.send(query));
    socket.on('message', (bytes) => this.#inFlight.receive(bytes));
    // The error of a connected socket does not identify the question: all of them are retried at another upstream.
    socket.on('error', ({ code = 'network error' }: NodeJS.ErrnoException) =>
      this.#inFlight.settleAll({ kind: 'unreachable', code }),
    );
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

  get waiting(): number {
    return this.#inFlight.size;
  }

  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    return this.#inFlight.ask(query, timeoutMs, stop);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inFlight.settleAll({ kind: 'stopped' });
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }
}
