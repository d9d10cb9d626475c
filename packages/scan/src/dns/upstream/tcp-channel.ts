// One kept TCP connection to an upstream, with many concurrent queries (RFC 7766 §6.2.1.1). The queries of one turn of the event loop
// share a write, and the answers that arrive together a read: that takes a fraction of the time of a datagram for each.
import { connect, type Socket } from 'node:net';
import type { Channel, Exchange, StopSwitch, Upstream } from './exchange.ts';
import { QueriesInFlight } from './in-flight.ts';
import type { TimerWheel } from './timer-wheel.ts';

/** A connection on which nothing arrives for so long after a query is replaced: its other end may have vanished. */
const SILENT_MS = 5_000;
const NOTHING = Buffer.alloc(0);

/** Connects when a query needs it. The upstream may close an idle connection (RFC 7766 §6.2.3); the next query opens another. */
export class TcpChannel implements Channel {
  readonly #upstream: Upstream;
  readonly #inFlight: QueriesInFlight;
  #socket: Socket | undefined;
  #queue: Buffer[] = [];
  /** The beginning of a message whose end has not arrived. */
  #rest: Buffer = NOTHING;
  /** The first write since something arrived. */
  #silentSince: number | undefined;

  constructor(upstream: Upstream, wheel: TimerWheel) {
    this.#upstream = upstream;
    this.#inFlight = new QueriesInFlight(wheel, (query) => {
      // After the answers that this turn of the event loop still brings, and the questions that follow from them.
      if (this.#queue.push(query) === 1) setImmediate(() => this.#flush());
    });
  }

  get unsent(): number {
    return this.#queue.length;
  }

  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    return this.#inFlight.ask(query, timeoutMs, stop);
  }

  #flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    if (queue.length === 0) return;
    const now = performance.now();
    if (this.#silentSince !== undefined && now - this.#silentSince > SILENT_MS) {
      this.#socket?.destroy();
      this.#forget('no answer');
      return;
    }
    this.#socket ??= this.#connect();
    this.#silentSince ??= now;
    this.#socket.write(framed(queue));
  }

  #connect(): Socket {
    const socket = connect({ host: this.#upstream.address, port: this.#upstream.port, noDelay: true });
    let code = 'closed';
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? 'network error';
    });
    socket.on('close', () => {
      if (this.#socket === socket) this.#forget(code);
    });
    return socket;
  }

  #forget(code: string): void {
    this.#socket = undefined;
    this.#rest = NOTHING;
    this.#silentSince = undefined;
    this.#inFlight.settleAll({ kind: 'unreachable', code: `TCP ${code}` });
  }

  #receive(chunk: Buffer): void {
    this.#silentSince = undefined;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= 2) {
      const end = at + 2 + bytes.readUInt16BE(at);
      if (end > bytes.length) break;
      this.#inFlight.receive(bytes.subarray(at + 2, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inFlight.settleAll({ kind: 'stopped' });
    this.#queue = [];
    this.#socket?.destroy();
  }
}

/** Each message behind the two bytes of its length (RFC 1035 §4.2.2). */
function framed(messages: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafe(messages.reduce((sum, { length }) => sum + 2 + length, 0));
  let at = 0;
  for (const message of messages) {
    bytes[at] = message.length >> 8;
    bytes[at + 1] = message.length & 0xff;
    bytes.set(message, at + 2);
    at += 2 + message.length;
  }
  return bytes;
}
