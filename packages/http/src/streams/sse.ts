// Server-Sent Events (WHATWG HTML, 9.2): long-lived streams, each with a bounded buffer; one heartbeat timer for all.
import type { Socket } from 'node:net';

export interface SseOptions {
  readonly heartbeatMs?: number;
  /** A client with more unsent bytes is dropped. */
  readonly maxBufferedBytes?: number;
}

/** One open stream. */
export interface SseClient {
  /** The header `Last-Event-ID`, at most 64 characters. */
  readonly lastEventId: string | undefined;
  /** Bytes not yet accepted by the kernel. */
  readonly bufferedBytes: number;
  readonly isClosed: boolean;
  /** Queues bytes that are already framed. False: await `drained` before writing much more. */
  write(chunk: Uint8Array | string): boolean;
  /** Resolves when the buffer is empty, or the client is disconnected. */
  drained(): Promise<void>;
  /** Ends the stream after a comment with the reason. */
  close(comment?: string): void;
  /** Called once when the client is disconnected, for any reason. */
  onClose(listener: () => void): void;
}

/** Result of an `events` route's handler; called after the headers are sent. */
export type SseSubscription = (client: SseClient) => void | Promise<void>;

/** Proxies close connections that are silent for a minute; the standard advises a comment about every 15 seconds. */
const HEARTBEAT_MS = 15_000;
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Time for a dropped client to receive the final comment. */
const FAREWELL_MS = 1_000;
const RETRY_MS = 3_000;

export class SseStreams {
  readonly #clients = new Set<Client>();
  readonly #maxBufferedBytes: number;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(options: SseOptions = {}) {
    this.#maxBufferedBytes = options.maxBufferedBytes ?? MAX_BUFFERED_BYTES;
    // One buffer and one timer for all clients; a client that has not received the last heartbeat gets no other.
    const heartbeat = Buffer.from(': heartbeat\n\n');
    this.#heartbeat = setInterval(() => {
      for (const client of this.#clients) if (client.bufferedBytes === 0) client.write(heartbeat);
    }, options.heartbeatMs ?? HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Takes over a connection after the response headers were sent. */
  open(socket: Socket, opened: Opened): SseClient {
    const client = new Client(socket, { ...opened, maxBufferedBytes: this.#maxBufferedBytes });
    this.#clients.add(client);
    client.onClose(() => this.#clients.delete(client));
    client.write(`retry: ${RETRY_MS}\n\n`);
    return client;
  }

  /** Ids of the keys with open streams. */
  keyIds(): readonly string[] {
    return [...new Set([...this.#clients].flatMap(({ keyId }) => keyId ?? []))];
  }

  /** Ends the streams of these keys. */
  closeOf(keyIds: ReadonlySet<string>, comment: string): void {
    if (keyIds.size === 0) return;
    for (const client of this.#clients)
      if (client.keyId !== undefined && keyIds.has(client.keyId)) client.close(comment);
  }

  /** Ends every stream; a shutdown does not wait for clients. */
  closeAll(): void {
    clearInterval(this.#heartbeat);
    for (const client of this.#clients) client.close('the server is stopping');
  }
}

/** The owner of a stream. */
interface Opened {
  readonly lastEventId: string | undefined;
  /** Undefined for a stream without a key. */
  readonly keyId: string | undefined;
}

class Client implements SseClient {
  readonly lastEventId: string | undefined;
  readonly keyId: string | undefined;
  readonly #socket: Socket;
  readonly #maxBufferedBytes: number;
  #isEnded = false;
  #listeners: (() => void)[] = [];
  /** One promise for all waiters, so that a stream that waits often retains only one. */
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(socket: Socket, options: Opened & { readonly maxBufferedBytes: number }) {
    this.#socket = socket;
    this.#maxBufferedBytes = options.maxBufferedBytes;
    this.lastEventId = options.lastEventId;
    this.keyId = options.keyId;
    socket.once('close', () => this.#closed());
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  get isClosed(): boolean {
    return this.#isEnded;
  }

  write(chunk: Uint8Array | string): boolean {
    // Node ends its side when the client ends its own; the close event follows later.
    if (this.#isEnded || this.#socket.writableEnded) return false;
    const hasCapacity = this.#socket.write(chunk);
    if (this.bufferedBytes <= this.#maxBufferedBytes) return hasCapacity;
    this.close('dropped: this client reads too slowly; reconnect with Last-Event-ID');
    return false;
  }

  async drained(): Promise<void> {
    if (this.#isEnded || !this.#socket.writableNeedDrain) return;
    if (!this.#drained) {
      this.#drained = Promise.withResolvers();
      this.#socket.once('drain', () => this.#resolveDrained());
    }
    await this.#drained.promise;
  }

  close(comment?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket.end(comment === undefined ? '' : `: ${oneLine(comment)}\n\n`);
    const cut = setTimeout(() => this.#socket.destroy(), FAREWELL_MS);
    cut.unref();
    this.#notifyClosed();
  }

  onClose(listener: () => void): void {
    if (this.#isEnded) listener();
    else this.#listeners.push(listener);
  }

  #closed(): void {
    this.#isEnded = true;
    this.#notifyClosed();
  }

  /** Resolves `drained`. */
  #resolveDrained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #notifyClosed(): void {
    this.#resolveDrained();
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Nginx and compatible proxies would buffer the stream otherwise.
  'x-accel-buffering': 'no',
} as const;

/** Formats an event; line breaks in `data` become several data lines, as the standard requires. */
export function formatSse({
  id,
  event,
  data,
}: {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${oneLine(id)}`]),
    ...(event === undefined ? [] : [`event: ${oneLine(event)}`]),
    ...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
  ];
  return `${lines.join('\n')}\n\n`;
}

/**
 * Sets the last event id without an event, so that a client that joined before the first event can resume (WHATWG HTML,
 * 9.2.6:
 * a blank line sets the last event id, and without data no event is dispatched).
 */
export function formatSseId(id: string): string {
  return `id: ${oneLine(id)}\n\n`;
}

/** Clients ignore an id with a NUL, and a line break would begin another field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]+/g, ' ');
}
