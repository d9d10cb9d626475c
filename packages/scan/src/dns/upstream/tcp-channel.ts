// One kept TCP connection to an upstream, with many concurrent queries (RFC 7766 §6.2.1.1). The queries of one turn of the event loop
// share a write, and the answers that arrive together a read: that takes a fraction of the time of a datagram for each.
import { connect, type Socket } from 'node:net';
import type { Channel, Exchange, StopSwitch, Upstream } from './exchange.ts';
import { QueriesInFlight } from './in-flight.ts';
import type { TimerWheel } from './timer-wheel.ts';

/** A connection on which nothing arrives for so long after a query is replaced: its other end may have vanished. */
const SILENT_MS = 5_000;
/** As is one with so many bytes that the other end does not read. */
const MAX_UNREAD = 64 * 1_024;
const NOTHING = Buffer.alloc(0);

/** Connects when a query needs it. The upstream may close an idle connection (RFC 7766 §6.2.3); the next query opens another. */
export class TcpChannel implements Channel {
  readonly #upstream: Upstream;
  readonly #inFlight: QueriesInFlight;
  #socket: Socket | undefined;
  #queue: Buffer[] = [];
  /** Since the last complete message, and how many bytes make the next one, or its length, complete. */
  #pieces: Buffer[] = [];
  #received = 0;
  #needed = 2;
  /** Whether the connection has brought an answer. */
  #hasAnswered = false;
  /** The first write since something arrived. */
  #silentSince: number | undefined;

  constructor(upstream: Upstream, wheel: TimerWheel) {
    this.#upstream = upstream;
    this.#inFlight = new QueriesInFlight(wheel, (query) => {
      // After the answers that this turn of the event loop still brings, and the questions that follow from them.
      if (this.#queue.push(query) === 1) setImmediate(() => this.#flush());
    });
  }

  get waiting(): number {
    return this.#inFlight.size;
  }

  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    return this.#inFlight.ask(query, timeoutMs, stop);
  }

  #flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    if (queue.length === 0) return;
    const now = performance.now();
    const isSilent = this.#silentSince !== undefined && now - this.#silentSince > SILENT_MS;
    if (isSilent || (this.#socket?.writableLength ?? 0) > MAX_UNREAD) {
      this.#socket?.destroy();
      this.#forget(isSilent ? 'no answer' : 'queries are not read');
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
    const hasAnswered = this.#hasAnswered;
    this.#socket = undefined;
    this.#hasAnswered = false;
    this.#silentSince = undefined;
    this.#keep(NOTHING, 2);
    this.#inFlight.settleAll({ kind: 'unreachable', code: `TCP ${code}`, hasAnswered });
  }

  #receive(chunk: Buffer): void {
    this.#silentSince = undefined;
    this.#pieces.push(chunk);
    this.#received += chunk.length;
    // Bytes are joined once for each message, also if each arrives alone.
    if (this.#received < this.#needed) return;
    const bytes = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces);
    let at = 0;
    let end = 2;
    while (bytes.length - at >= 2) {
      end = at + 2 + bytes.readUInt16BE(at);
      if (end > bytes.length) break;
      this.#hasAnswered = true;
      this.#inFlight.receive(bytes.subarray(at + 2, end));
      at = end;
      end = at + 2;
    }
    this.#keep(bytes.subarray(at), end - at);
  }

  #keep(rest: Buffer, needed: number): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#received = rest.length;
    this.#needed = needed;
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
