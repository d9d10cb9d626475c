// Server-Sent Events (WHATWG HTML, 9.2): streams that stay open, each with a bounded buffer; one heartbeat for all.
import type { Socket } from 'node:net';

export interface SseOptions {
  readonly heartbeatMs?: number;
  /** A client with more than this unsent is dropped. */
  readonly maxBufferedBytes?: number;
}

/** One open stream. */
export interface SseClient {
  /** The header `Last-Event-ID`, at most 64 characters. */
  readonly lastEventId: string | undefined;
  /** Bytes not yet taken by the kernel. */
  readonly bufferedBytes: number;
  readonly isClosed: boolean;
  /** Queues bytes that are framed already. False: wait for `drained` before writing much more. */
  write(chunk: Uint8Array | string): boolean;
  /** Resolves when the buffer is empty again, or the client is gone. */
  drained(): Promise<void>;
  /** Ends the stream after a comment that says why. */
  close(comment?: string): void;
  /** Called once, when the client is gone for whatever reason. */
  onClose(listener: () => void): void;
}

/** What the handler of an `events` route returns; called when the headers are out. */
export type SseSubscription = (client: SseClient) => void | Promise<void>;

/** Proxies drop what is silent for a minute; the standard advises a comment about every 15 seconds. */
const HEARTBEAT_MS = 15_000;
const MAX_BUFFERED_BYTES = 256 * 1024;
/** A dropped client gets this long to take what says so. */
const FAREWELL_MS = 1_000;
const RETRY_MS = 3_000;

export class SseStreams {
  readonly #clients = new Set<Client>();
  readonly #maxBufferedBytes: number;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(options: SseOptions = {}) {
    this.#maxBufferedBytes = options.maxBufferedBytes ?? MAX_BUFFERED_BYTES;
    // One encoding and one timer for all; whoever has not taken the last one yet gets none on top.
    const beat = Buffer.from(': heartbeat\n\n');
    this.#heartbeat = setInterval(() => {
      for (const client of this.#clients) if (client.bufferedBytes === 0) client.write(beat);
    }, options.heartbeatMs ?? HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Takes over a connection on which the headers of the response are out. */
  open(socket: Socket, opened: Opened): SseClient {
    const client = new Client(socket, { ...opened, maxBufferedBytes: this.#maxBufferedBytes });
    this.#clients.add(client);
    client.onClose(() => this.#clients.delete(client));
    client.write(`retry: ${RETRY_MS}\n\n`);
    return client;
  }

  /** Of the keys whose streams are open. */
  keyIds(): readonly string[] {
    return [...new Set([...this.#clients].flatMap(({ keyId }) => keyId ?? []))];
  }

  /** Ends the streams of these keys. */
  closeOf(keyIds: ReadonlySet<string>, comment: string): void {
    if (keyIds.size === 0) return;
    for (const client of this.#clients)
      if (client.keyId !== undefined && keyIds.has(client.keyId)) client.close(comment);
  }

  /** Ends every stream; nobody waits for clients that would stay for ever. */
  closeAll(): void {
    clearInterval(this.#heartbeat);
    for (const client of this.#clients) client.close('the server is stopping');
  }
}

/** Who opens a stream. */
interface Opened {
  readonly lastEventId: string | undefined;
  /** Undefined: it needs no key. */
  readonly keyId: string | undefined;
}

class Client implements SseClient {
  readonly lastEventId: string | undefined;
  readonly keyId: string | undefined;
  readonly #socket: Socket;
  readonly #maxBufferedBytes: number;
  #isEnded = false;
  #listeners: (() => void)[] = [];
  /** One for all who wait, so that a stream that waits a thousand times a day holds on to no more than one. */
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(socket: Socket, options: Opened & { readonly maxBufferedBytes: number }) {
    this.#socket = socket;
    this.#maxBufferedBytes = options.maxBufferedBytes;
    this.lastEventId = options.lastEventId;
    this.keyId = options.keyId;
    socket.once('close', () => this.#gone());
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  get isClosed(): boolean {
    return this.#isEnded;
  }

  write(chunk: Uint8Array | string): boolean {
    // Node ends its side when the client ends its own; that the stream is gone is told a moment later.
    if (this.#isEnded || this.#socket.writableEnded) return false;
    const isRoomy = this.#socket.write(chunk);
    if (this.bufferedBytes <= this.#maxBufferedBytes) return isRoomy;
    this.close('dropped: this client reads too slowly; reconnect with Last-Event-ID');
    return false;
  }

  async drained(): Promise<void> {
    if (this.#isEnded || !this.#socket.writableNeedDrain) return;
    if (!this.#drained) {
      this.#drained = Promise.withResolvers();
      this.#socket.once('drain', () => this.#letGo());
    }
    await this.#drained.promise;
  }

  close(comment?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket.end(comment === undefined ? '' : `: ${oneLine(comment)}\n\n`);
    const cut = setTimeout(() => this.#socket.destroy(), FAREWELL_MS);
    cut.unref();
    this.#tell();
  }

  onClose(listener: () => void): void {
    if (this.#isEnded) listener();
    else this.#listeners.push(listener);
  }

  #gone(): void {
    this.#isEnded = true;
    this.#tell();
  }

  /** Whoever waits for room need not wait any longer. */
  #letGo(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #tell(): void {
    this.#letGo();
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Nginx and those that learned from it would wait for more otherwise.
  'x-accel-buffering': 'no',
} as const;

/** One event as it goes over the wire; line breaks in `data` become several data lines, as the standard asks. */
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
 * A place in the stream without an event: whoever joined before the first one can come back to it (WHATWG HTML, 9.2.6: a blank
 * line sets the last event id, and without data nothing is dispatched).
 */
export function formatSsePlace(id: string): string {
  return `id: ${oneLine(id)}\n\n`;
}

/** An id with a NUL is ignored by clients, and a line break would begin another field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]+/g, ' ');
}
