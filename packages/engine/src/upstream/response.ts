// Reads the responses of an upstream: server-sent events and texts, within limits of time and size.
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { EngineError } from '../engine.ts';
import type { UpstreamResponse } from './connections.ts';
import { failed } from './errors.ts';

export interface Opened {
  readonly response: UpstreamResponse;
  /** When the request was sent, on the monotonic clock. */
  readonly sentAt: number;
}

export interface StreamEvent {
  /** Empty if the server sends none. */
  readonly type: string;
  readonly data: string;
}

const LIMITS = {
  // An event with twenty log-probabilities has 3,000 characters; one event may contain all arguments of a call.
  eventChars: 2 * 1024 * 1024,
  // A hundred thousand tokens with twenty log-probabilities each.
  bytes: 512 * 1024 * 1024,
  events: 1_000_000,
};
/** How long a server that sent everything may take to end its response, so that the connection can be reused. */
const CLOSE_MS = 1_000;

/** Accepts chunks split anywhere, also within a character. Throws EngineError `upstream-failed` above the limits. */
export class EventReader {
  readonly #limits: typeof LIMITS;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** An incomplete line: the parser discards one of an unknown field, which `error` is to it. */
  #line = '';
  #complete: StreamEvent[] = [];
  #bytes = 0;
  #events = 0;

  constructor(limits = LIMITS) {
    this.#limits = limits;
    this.#parser = createParser({
      maxBufferSize: limits.eventChars,
      onEvent: ({ event: type = '', data }) => this.#add({ type, data }),
      onError: ({ type, field, value = '' }) => {
        if (type === 'max-buffer-size-exceeded') throw this.#eventTooLong();
        // Older llama-server versions send errors in a field of this name.
        if (field === 'error') this.#add({ type: field, data: value });
      },
    });
  }

  /** Events that are now complete; comments are skipped. */
  push(bytes: Uint8Array): StreamEvent[] {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.bytes) throw failed(`sent more than ${this.#limits.bytes} bytes`);
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The stream ended: a missing final empty line is tolerated. */
  end(): StreamEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): StreamEvent[] {
    const lines = text.lastIndexOf('\n') + 1;
    const end = Math.max(lines, text.indexOf('\r', lines) < 0 ? 0 : text.lastIndexOf('\r') + 1);
    if (end > 0) {
      this.#parser.feed(this.#line + text.slice(0, end));
      this.#line = '';
    }
    this.#line += text.slice(end);
    if (this.#line.length > this.#limits.eventChars) throw this.#eventTooLong();
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }

  #add(event: StreamEvent): void {
    this.#events += 1;
    if (this.#events > this.#limits.events) throw failed(`sent more than ${this.#limits.events} events`);
    this.#complete.push(event);
  }

  #eventTooLong(): EngineError {
    return failed(`sent an event of more than ${this.#limits.eventChars} characters`);
  }
}

export interface WaitOptions {
  /** From the request to the first event; later, to the next event while only comments arrive. */
  readonly firstMs: number;
  /** Silence within the answer. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/**
 * The events of an answer, as many at a time as arrive together. The wait for the server is bounded, the consumer's time
 * is not. `return` releases the connection.
 */
export class AnswerEvents implements AsyncIterator<readonly StreamEvent[]> {
  readonly #opened: Opened;
  readonly #options: WaitOptions;
  readonly #reader = new EventReader();
  #hasBegun = false;
  /** The last event was read. */
  #isFinished = false;

  constructor(opened: Opened, options: WaitOptions) {
    this.#opened = opened;
    this.#options = options;
  }

  async next(): Promise<IteratorResult<readonly StreamEvent[], undefined>> {
    const { firstMs, idleMs, signal } = this.#options;
    let leftMs = this.#hasBegun ? firstMs : firstMs - (performance.now() - this.#opened.sentAt);
    try {
      while (!this.#isFinished) {
        const from = performance.now();
        const bytes = await nextPiece(this.#opened.response, this.#hasBegun ? Math.min(idleMs, leftMs) : leftMs);
        leftMs -= performance.now() - from;
        const events = bytes ? this.#reader.push(bytes) : this.#reader.end();
        this.#isFinished = bytes === undefined || events.some(isDone);
        if (events.length === 0) continue;
        signal.throwIfAborted();
        this.#hasBegun = true;
        return { value: events, done: false };
      }
      return { value: undefined, done: true };
    } catch (error) {
      this.#isFinished = false;
      this.#opened.response.destroy();
      throw asFailure(error, signal);
    }
  }

  async return(): Promise<IteratorResult<readonly StreamEvent[], undefined>> {
    if (this.#isFinished) drain(this.#opened.response);
    else this.#opened.response.destroy();
    return { value: undefined, done: true };
  }
}

/** All of the body that has arrived; undefined at its end. Destroys the response after `waitMs` without any. */
async function nextPiece(response: UpstreamResponse, waitMs: number): Promise<Uint8Array | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const bytes = response.read();
      if (bytes) return bytes;
      if (response.end) throw response.end;
      if (response.end === null) return undefined;
      timer ??= setTimeout(() => response.destroy(stalled(waitMs)), waitMs);
      await new Promise<void>((resolve) => {
        response.wake = resolve;
      });
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the event is the last one: what follows is not read. */
export const isDone = ({ data }: StreamEvent): boolean => data.startsWith('[DONE]');

/** The complete body as text; rejects above `maxBytes`. */
export async function readText(
  response: UpstreamResponse,
  { maxBytes, idleMs, signal }: { readonly maxBytes: number; readonly idleMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for (let bytes = await nextPiece(response, idleMs); bytes; bytes = await nextPiece(response, idleMs)) {
      parts.push(bytes);
      sizeBytes += bytes.length;
      if (sizeBytes > maxBytes) throw failed(`sent more than ${maxBytes} bytes`);
    }
    return Buffer.concat(parts).toString('utf8');
  } catch (error) {
    response.destroy();
    throw asFailure(error, signal);
  }
}

/** Reads and discards the remainder of a response, so that its connection can be reused. */
export function drain(response: UpstreamResponse): void {
  response.discard();
  if (response.end !== undefined) return;
  const cut = setTimeout(() => response.destroy(), CLOSE_MS).unref();
  response.wake = () => clearTimeout(cut);
}

export const stalled = (ms: number): EngineError =>
  failed(`sent nothing for ${Math.round(ms)} ms`, undefined, 'timeout');

function asFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof EngineError ? error : failed('closed the connection in the middle of an answer', error);
}
