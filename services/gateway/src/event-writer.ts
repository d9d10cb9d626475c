// An answer as Server-Sent Events: headers with the first event, room waited for, comments while nothing comes.
import { once } from 'node:events';
import type { FastifyReply } from 'fastify';

/** A comment after such a silence: proxies and clients cut what is quiet for too long. */
const KEEP_ALIVE_MS = 10_000;

export class EventWriter implements Disposable {
  readonly #reply: FastifyReply;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #hasBegun = false;

  /** Whoever waits for a place hears a comment too: then the stream begins before its answer. */
  constructor(reply: FastifyReply, signal: AbortSignal, { keepAliveMs = KEEP_ALIVE_MS } = {}) {
    this.#reply = reply;
    this.#signal = signal;
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
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    raw.flushHeaders();
  }

  /** Resolves when there is room for more; rejects when the client is gone. `event` names it, where the contract has names. */
  async send(data: object | '[DONE]', event?: string): Promise<void> {
    this.#signal.throwIfAborted();
    this.begin();
    this.#timer.refresh();
    const { raw } = this.#reply;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    if (!raw.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`))
      await once(raw, 'drain', { signal: this.#signal });
  }

  end(): void {
    clearInterval(this.#timer);
    this.#reply.raw.end();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
