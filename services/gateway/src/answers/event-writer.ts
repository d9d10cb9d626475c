// Writes an answer as Server-Sent Events: the headers with the first event, with backpressure, and keep-alive comments
// while idle.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { answerSecurity } from '@strata/http';

/** Interval of keep-alive comments: proxies and clients close connections that are silent for too long. */
const KEEP_ALIVE_MS = 10_000;
/** A client that reads nothing for this long is disconnected: it occupies a slot that other requests wait for. */
const IDLE_MS = 30_000;

/** The part of a Fastify reply that is needed. */
export interface RawReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Readonly<Record<string, string | string[] | number | undefined>>;
}

/** Typed events have a name. A text is JSON, or `[DONE]`. */
export type StreamEvent = { readonly type?: string; readonly [field: string]: unknown } | string;

/** An event whose number is sent with it, so that a client can go on after it. */
export interface NumberedEvent {
  /** `<answer>:<number>`. */
  readonly id: string;
  readonly event: StreamEvent;
}

export interface EventWriterOptions {
  readonly keepAliveMs?: number;
  readonly idleMs?: number;
  readonly onIdle?: () => void;
}

export class EventWriter implements Disposable {
  readonly #reply: RawReply;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #hasBegun = false;

  /**
   * Keep-alive comments are also sent while the answer waits for a slot; the stream then begins before the answer.
   * `onIdle` is called when the client is disconnected because it does not read.
   */
  constructor(
    reply: RawReply,
    signal: AbortSignal,
    { keepAliveMs = KEEP_ALIVE_MS, idleMs = IDLE_MS, onIdle = () => {} }: EventWriterOptions = {},
  ) {
    this.#onIdle = onIdle;
    this.#reply = reply;
    this.#signal = signal;
    this.#idleMs = idleMs;
    if (reply.raw.headersSent) throw new Error('the request is answered already');
    this.#timer = setInterval(() => {
      this.begin();
      // A client that does not read gets no comments.
      if (!reply.raw.writableNeedDrain) reply.raw.write(': keep-alive\n\n');
    }, keepAliveMs);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Sends the headers; after this a failure can only be reported as an event. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#reply.hijack();
    this.#reply.raw.writeHead(200, {
      ...this.#reply.getHeaders(),
      ...answerSecurity,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }

  /**
   * Sends events together; one with a `type` has it as its name. Resolves when the socket accepts more data; rejects when
   * the client has disconnected or does not read.
   */
  async send(...events: readonly StreamEvent[]): Promise<void> {
    await this.#write(events.map(frameOf));
  }

  /** Sends numbered events, like `send`. */
  async sendNumbered(events: readonly NumberedEvent[]): Promise<void> {
    await this.#write(events.map(({ id, event }) => `id: ${id}\n${frameOf(event)}`));
  }

  async #write(frames: readonly string[]): Promise<void> {
    this.#signal.throwIfAborted();
    this.begin();
    this.#timer.refresh();
    const { raw } = this.#reply;
    if (raw.writableEnded || raw.destroyed) throw new Error('the stream has ended');
    if (frames.length === 0) this.#flushHeaders();
    else if (!raw.write(frames.join(''))) await this.#drained();
  }

  /** With the first events, if those are there already: each write of a socket takes as long as many events. */
  #flushHeaders(): void {
    const { raw } = this.#reply;
    const { socket } = raw;
    // Not the response: its end would be sent before what it holds.
    socket?.cork();
    raw.flushHeaders();
    process.nextTick(() => socket?.uncork());
  }

  async #drained(): Promise<void> {
    const { raw } = this.#reply;
    const idle = AbortSignal.timeout(this.#idleMs);
    try {
      await once(raw, 'drain', { signal: AbortSignal.any([this.#signal, idle]) });
    } catch (error) {
      if (idle.aborted) {
        this.#onIdle();
        raw.destroy();
      }
      throw error;
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#reply.raw.end();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function frameOf(event: StreamEvent): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  return `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`;
}
