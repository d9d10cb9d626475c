// An answer as Server-Sent Events: headers with the first event, room waited for, comments while nothing comes.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { answerSecurity } from '@strata/http';

/** A comment after such a silence: proxies and clients cut what is quiet for too long. */
const KEEP_ALIVE_MS = 10_000;
/** A reader that takes nothing for so long is let go: it holds a place that others wait for. */
const STILL_MS = 30_000;

/** What is needed of a reply; Fastify's has it. */
export interface RawReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Readonly<Record<string, string | string[] | number | undefined>>;
}

export interface EventWriterOptions {
  readonly keepAliveMs?: number;
  readonly stillMs?: number;
  readonly onStill?: () => void;
}

export class EventWriter implements Disposable {
  readonly #reply: RawReply;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #stillMs: number;
  readonly #onStill: () => void;
  #hasBegun = false;

  /**
   * Whoever waits for a place hears a comment too: then the stream begins before its answer. `onStill` hears that the
   * reader is let go.
   */
  constructor(
    reply: RawReply,
    signal: AbortSignal,
    { keepAliveMs = KEEP_ALIVE_MS, stillMs = STILL_MS, onStill = () => {} }: EventWriterOptions = {},
  ) {
    this.#onStill = onStill;
    this.#reply = reply;
    this.#signal = signal;
    this.#stillMs = stillMs;
    this.#timer = setInterval(() => {
      this.begin();
      // A reader that stands still gets no more to read.
      if (!reply.raw.writableNeedDrain) reply.raw.write(': keep-alive\n\n');
    }, keepAliveMs);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Sends the headers; from here on a failure can only be told as an event. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#reply.hijack();
    const { raw } = this.#reply;
    for (const [name, value] of Object.entries(this.#reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value);
    raw.writeHead(200, {
      ...answerSecurity,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    raw.flushHeaders();
  }

  /** Resolves when there is room for more; rejects when the client is gone, or stands still. `event` names it, where the contract has names. */
  async send(data: object | '[DONE]', event?: string): Promise<void> {
    this.#signal.throwIfAborted();
    this.begin();
    this.#timer.refresh();
    const { raw } = this.#reply;
    if (raw.writableEnded || raw.destroyed) throw new Error('the stream is over');
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    if (!raw.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`)) await this.#room();
  }

  async #room(): Promise<void> {
    const { raw } = this.#reply;
    const still = AbortSignal.timeout(this.#stillMs);
    try {
      await once(raw, 'drain', { signal: AbortSignal.any([this.#signal, still]) });
    } catch (error) {
      if (still.aborted) {
        this.#onStill();
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
