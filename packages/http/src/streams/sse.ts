// Server-Sent Events (WHATWG HTML, 9.2): their format, and the client of one stream, with a bounded buffer.
import type { Socket } from 'node:net';

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

/** Time for a dropped client to receive the final comment. */
const FAREWELL_MS = 1_000;

interface ClientOptions extends Pick<SseClient, 'lastEventId'> {
  /** Undefined for a stream without a key. */
  readonly keyId: string | undefined;
  readonly maxBufferedBytes: number;
}

/** Takes over a connection after the response headers were sent. */
export class SocketClient implements SseClient {
  readonly #socket: Socket;
  readonly #options: ClientOptions;
  #isClosed = false;
  #listeners: (() => void)[] = [];
  /** One promise for all waiters, so that a stream that waits often retains only one. */
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(socket: Socket, options: ClientOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.once('close', () => this.#end());
  }

  get lastEventId(): string | undefined {
    return this.#options.lastEventId;
  }

  get keyId(): string | undefined {
    return this.#options.keyId;
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(chunk: Uint8Array | string): boolean {
    // Node ends its side when the client ends its own; the close event follows later.
    if (this.#isClosed || this.#socket.writableEnded) return false;
    const hasCapacity = this.#socket.write(chunk);
    if (this.bufferedBytes <= this.#options.maxBufferedBytes) return hasCapacity;
    this.close('dropped: this client reads too slowly; reconnect with Last-Event-ID');
    return false;
  }

  async drained(): Promise<void> {
    if (this.#isClosed || !this.#socket.writableNeedDrain) return;
    if (!this.#drained) {
      this.#drained = Promise.withResolvers();
      this.#socket.once('drain', () => this.#resolveDrained());
    }
    await this.#drained.promise;
  }

  close(comment?: string): void {
    if (this.#isClosed) return;
    this.#socket.end(comment === undefined ? '' : `: ${oneLine(comment)}\n\n`);
    setTimeout(() => this.#socket.destroy(), FAREWELL_MS).unref();
    this.#end();
  }

  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#listeners.push(listener);
  }

  #end(): void {
    this.#isClosed = true;
    this.#resolveDrained();
    for (const listener of this.#listeners.splice(0)) listener();
  }

  #resolveDrained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
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
