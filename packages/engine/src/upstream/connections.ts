// The connections to an upstream: HTTP/1.1 with one request at a time on each, kept for the next one. A client of its own,
// because Node's makes a request, a response and a parser with their streams and listeners for each answer, which takes as long
// as the rest of the way to the upstream and back.
import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { type ResponseHead, ResponseParser } from './response-parser.ts';

/** What becomes of a request. */
export interface Exchange {
  /** The request asks the server to close the connection, which is not used again, whatever the server says. */
  readonly isLast?: boolean;
  /** The connection is established; at once on one that is kept. */
  readonly connected: () => void;
  readonly opened: (response: UpstreamResponse) => void;
  /** There will be no response. */
  readonly failed: (error: NodeJS.ErrnoException) => void;
  /** After the last of the other ones: the connection is free or closed. */
  readonly over: () => void;
}

/** Maximum number of bytes that wait for their reader: with more, receiving pauses. */
const BUFFERED_BYTES = 65_536;
/** Connections without a request. */
const MAX_IDLE = 256;
/** A server that announces when it closes idle connections is asked no more this long before. */
const CLOSE_MARGIN_MS = 1_000;

/** Probes of TCP. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 1_000 };

/** A response as it arrives. */
export class UpstreamResponse {
  readonly status: number;
  readonly headers: ResponseHead['headers'];
  readonly #connection: Pick<Connection, 'pause' | 'resume' | 'destroy'>;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isDiscarded = false;
  /** Null: complete. */
  end: Error | null | undefined;
  /** Called when more has arrived, or the end. */
  wake: () => void = () => {};

  constructor({ status, headers }: ResponseHead, connection: Pick<Connection, 'pause' | 'resume' | 'destroy'>) {
    this.status = status;
    this.headers = headers;
    this.#connection = connection;
  }

  push(bytes: Buffer): void {
    if (this.#isDiscarded || bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > BUFFERED_BYTES) this.#connection.pause();
    this.wake();
  }

  /** Null: it is complete. Only the first call has an effect. */
  finish(end: Error | null): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.wake();
  }

  /** All that has arrived since the last call. */
  read(): Buffer | undefined {
    const [first, ...more] = this.#pieces;
    if (first === undefined) return undefined;
    this.#forget();
    return more.length === 0 ? first : Buffer.concat([first, ...more]);
  }

  /** Closes the connection, unless the response is complete: what has not been read is lost. */
  destroy(error = new Error('the response was closed')): void {
    if (this.end !== undefined) return;
    this.discard();
    this.finish(error);
    this.#connection.destroy();
  }

  /** Forgets what arrives from now on. */
  discard(): void {
    this.#isDiscarded = true;
    this.#forget();
  }

  #forget(): void {
    // A complete response has no connection.
    if (this.#bytes > BUFFERED_BYTES && this.end === undefined) this.#connection.resume();
    this.#pieces = [];
    this.#bytes = 0;
  }
}

/** Closes all connections when disposed. */
export class Connections implements Disposable {
  readonly #url: URL;
  readonly #all = new Set<Connection>();
  /** The last one was used last. */
  readonly #idle: Connection[] = [];

  /** `url`: of any path of the server. */
  constructor(url: URL) {
    this.#url = url;
  }

  /** A connection without a request, if one is open. */
  takeIdle(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || !connection.isOutdated) return connection;
      connection.destroy();
    }
  }

  open(): Connection {
    const { protocol, hostname, port } = this.#url;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const isSecure = protocol === 'https:';
    const to = { host, port: Number(port || (isSecure ? 443 : 80)), noDelay: true, ...KEEP_ALIVE };
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    const socket = isSecure ? tls.connect({ ...to, ...servername, ALPNProtocols: ['http/1.1'] }) : net.connect(to);
    const connection = new Connection(socket, isSecure ? 'secureConnect' : 'connect', {
      idle: () => {
        if (this.#idle.length < MAX_IDLE) this.#idle.push(connection);
        else connection.destroy();
      },
      closed: () => {
        this.#all.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at >= 0) this.#idle.splice(at, 1);
      },
    });
    this.#all.add(connection);
    return connection;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#all) connection.destroy();
  }
}

interface ConnectionEvents {
  /** It is open and has no request. */
  readonly idle: () => void;
  readonly closed: () => void;
}

class Connection {
  readonly #socket: Socket;
  readonly #parser = new ResponseParser();
  readonly #on: ConnectionEvents;
  #isConnected = false;
  #exchange: Exchange | undefined;
  #response: UpstreamResponse | undefined;
  /** Why it was closed. */
  #error: Error | undefined;
  #outdatedAtMs = Number.POSITIVE_INFINITY;

  constructor(socket: Socket, event: 'connect' | 'secureConnect', on: ConnectionEvents) {
    this.#socket = socket;
    this.#on = on;
    socket
      .on(event, () => {
        this.#isConnected = true;
        this.#exchange?.connected();
      })
      .on('data', (bytes: Buffer) => this.#read(bytes))
      // It may leave the rest of a request unread.
      .on('end', () => socket.destroy())
      .on('error', (error) => {
        this.#error ??= error;
      })
      .on('close', () => this.#close());
  }

  /** The server has announced that it will have closed it. */
  get isOutdated(): boolean {
    return this.#outdatedAtMs !== Number.POSITIVE_INFINITY && performance.now() >= this.#outdatedAtMs;
  }

  /** Sends the text of a request. */
  send(text: string, exchange: Exchange): void {
    this.#exchange = exchange;
    this.#parser.next();
    if (this.#isConnected) {
      this.#socket.ref();
      exchange.connected();
    }
    this.#socket.write(text);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    const parser = this.#parser;
    // Nothing was asked.
    if (!this.#exchange) {
      this.destroy();
      return;
    }
    try {
      const body = parser.push(bytes);
      if (!this.#response && parser.head) {
        this.#response = new UpstreamResponse(parser.head, this);
        this.#exchange.opened(this.#response);
      }
      this.#response?.push(body);
      if (parser.isEnded) this.#end();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #end(): void {
    const [response, exchange] = [this.#response, this.#exchange];
    this.#response = undefined;
    this.#exchange = undefined;
    response?.finish(null);
    exchange?.over();
    const keptMs = keptMsOf(response?.headers.get('keep-alive'));
    // A server that has answered may leave the rest of a request unread.
    const isUnsent = this.#socket.writableLength > 0;
    if (!this.#parser.isKept || exchange?.isLast || isUnsent || keptMs <= 0 || this.#socket.destroyed) {
      this.destroy();
      return;
    }
    if (keptMs !== Number.POSITIVE_INFINITY) this.#outdatedAtMs = performance.now() + keptMs;
    this.resume();
    // A process that has nothing else to do may end.
    this.#socket.unref();
    this.#on.idle();
  }

  #close(): void {
    // Only what the server has ended is complete.
    if (this.#response && this.#socket.readableEnded && this.#parser.close()) this.#end();
    const [response, exchange] = [this.#response, this.#exchange];
    this.#response = undefined;
    this.#exchange = undefined;
    const error = this.#error ?? Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
    if (response) response.finish(error);
    else exchange?.failed(error);
    exchange?.over();
    this.#on.closed();
  }
}

/** `timeout=5` (RFC 9112, 9.3 and the Keep-Alive header of RFC 2068). */
function keptMsOf(header: string | undefined): number {
  const seconds = header && /\btimeout=(\d{1,6})/i.exec(header)?.[1];
  return seconds ? Number(seconds) * 1_000 - CLOSE_MARGIN_MS : Number.POSITIVE_INFINITY;
}
